"""`run --resume` takes over what was measured on nodes that are still what they were, and measures the others again."""

from __future__ import annotations

import json
import os
import signal
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest

from healthcheck.model.record import RunRecord
from healthcheck.workflows import run as run_workflow
from tests.walk.cli import Shell

EVERYBODY = {f"node{n:02d}" for n in range(1, 5)}
Stop = Callable[..., None]


@pytest.fixture
def stop_after(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> Stop:
    """A command that is ended by SIGTERM once the named step of a check-up is done."""

    def stopped(step: str, *words: str) -> None:
        whole = getattr(run_workflow, step)

        def then_stop(*arguments: object) -> None:
            whole(*arguments)
            os.kill(os.getpid(), signal.SIGTERM)

        with monkeypatch.context() as patched:
            patched.setattr(run_workflow, step, then_stop)
            assert shell(*words, "-q").code == 143

    return stopped


def reboot(monkeypatch: pytest.MonkeyPatch, host: str) -> None:
    """The simulated node has the id of another boot from now on."""
    of_before = uuid.uuid5
    monkeypatch.setattr(
        uuid, "uuid5", lambda space, name: of_before(space, f"{name}.again" if name.startswith(f"{host}.") else name)
    )


def measured_twice(shell: Shell) -> set[str]:
    """The hosts whose first measurement alone was put aside for another one."""
    return {path.name.split(".")[-2] for path in _folder(shell).glob("raw/single_node/*.attempt*")}


def told(record: RunRecord) -> list[str]:
    return [str(note) for note in record.notes if note.code.startswith("resumed.")]


def _folder(shell: Shell) -> Path:
    return shell.folders()[-1]


def test_nodes_that_are_what_they_were_keep_what_was_measured(shell: Shell, stop_after: Stop) -> None:
    stop_after("run_stage", "run", "--simulate", "4")
    assert shell("run", "--resume", _folder(shell).name, "-q").code == 0
    assert measured_twice(shell) == set() and told(shell.record()) == []


@pytest.mark.parametrize("command", ["run", "gate"])
def test_a_node_that_was_booted_since_is_measured_again(
    shell: Shell, stop_after: Stop, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    stop_after("run_stage", command, "--simulate", "4")
    reboot(monkeypatch, "node02")
    assert shell("run", "--resume", _folder(shell).name, "-q").code == 0
    assert measured_twice(shell) == {"node02"}
    assert told(shell.record()) == [
        "what was measured on node02 before the run was interrupted does not count any more: booted since then"
    ]


def test_a_node_with_another_driver_is_measured_again(shell: Shell, stop_after: Stop) -> None:
    stop_after("run_stage", "run", "--simulate", "4")
    _asked_differently(shell, faults=["node03:driver=535.54.03"])
    shell("run", "--resume", _folder(shell).name, "-q")
    assert measured_twice(shell) == {"node03"}
    assert [one.partition("any more: ")[2] for one in told(shell.record())] == [
        "the driver was 550.90.07 and is 535.54.03"
    ]


def test_it_is_still_another_boot_when_the_second_try_was_interrupted_too(
    shell: Shell, stop_after: Stop, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop_after("run_stage", "run", "--simulate", "4")
    reboot(monkeypatch, "node02")
    stop_after("probe_before", "run", "--resume", _folder(shell).name)
    assert measured_twice(shell) == set()
    assert shell("run", "--resume", _folder(shell).name, "-q").code == 0
    assert measured_twice(shell) == {"node02"} and told(shell.record())


def test_what_all_nodes_did_together_holds_only_for_all_of_them(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    shell("run", "quick", "--simulate", "4", "--fault", "leaf:l1-l2=0.5", "--leaf-size", "2", "-q")
    reboot(monkeypatch, "node02")
    shell("localise", "--resume", _folder(shell).name, "-q")
    assert measured_twice(shell) == {"node02"}
    assert list(_folder(shell).glob("raw/multi_node/*.attempt1"))


def test_what_does_not_say_under_which_boot_it_was_measured_is_measured_again(shell: Shell, stop_after: Stop) -> None:
    stop_after("run_stage", "run", "--simulate", "4")
    for path in _folder(shell).rglob("outcome.json"):
        document = json.loads(path.read_text())
        del document["passports"]
        path.write_text(json.dumps(document))
    assert shell("run", "--resume", _folder(shell).name, "-q").code == 0
    assert measured_twice(shell) == EVERYBODY
    (note,) = told(shell.record())
    assert " on node[01-04] " in note and note.endswith("it is not known whether the boot is the same as then")


def test_a_later_judgement_keeps_the_note(shell: Shell, stop_after: Stop, monkeypatch: pytest.MonkeyPatch) -> None:
    stop_after("run_stage", "run", "--simulate", "4")
    reboot(monkeypatch, "node02")
    shell("run", "--resume", _folder(shell).name, "-q")
    assert shell("rejudge", _folder(shell).name).code == 0
    assert (_folder(shell) / "rejudged" / "record.json").read_bytes() == (_folder(shell) / "record.json").read_bytes()


def _asked_differently(shell: Shell, **changes: object) -> None:
    """As if the simulated nodes had changed between two tries."""
    path = _folder(shell) / "inputs" / "options.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
