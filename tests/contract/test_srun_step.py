"""What steps of Slurm promise beyond any transport, with a stand-in for srun: one for many, a bad node a result."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from healthcheck.edge import srun_step
from healthcheck.edge.ending import Ending
from healthcheck.edge.srun_group import Payload
from healthcheck.model.command import Command, CommandResult, ExitKind
from healthcheck.model.host import Host
from healthcheck.ports import Clock, Running
from tests.contract.srun_place import SrunPlace
from tests.contract.test_transport import FILES
from tests.sinks import Kept

HERE, THERE, GONE = (Host(name, name) for name in ("here", "there", "gone"))


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SrunPlace:
    """With time enough for both to join a step, however slow the threads of this machine are."""
    monkeypatch.setattr(srun_step, "GATHER_S", 1.0)
    monkeypatch.setattr(srun_step, "LONGEST_GATHER_S", 20.0)
    return SrunPlace(tmp_path / "srun", tmp_path)


def at_once(place: SrunPlace, hosts: tuple[Host, ...], *argv: str) -> dict[str, tuple[CommandResult, Kept]]:
    transport = place.transport()

    def one(host: Host) -> tuple[CommandResult, Kept]:
        kept = Kept()
        result = transport.start(host, Command((*argv, host.name), 30, "contract"), kept).wait(60)
        assert result is not None
        return result, kept

    with ThreadPoolExecutor(len(hosts)) as pool:
        found = dict(zip((host.name for host in hosts), pool.map(one, hosts), strict=True))
    transport.close()
    return found


def test_what_is_asked_of_many_at_once_is_one_step(place: SrunPlace) -> None:
    found = at_once(place, (HERE, THERE), "sh", "-c", 'echo "$1"; exit 3', "x")
    assert {name: (result.exit_code, kept.out) for name, (result, kept) in found.items()} == {
        "here": (3, b"here\n"),
        "there": (3, b"there\n"),
    }
    assert [sorted(step) for step in place.steps()] == [["here", "there"]]


def test_a_node_without_a_step_is_a_result_and_the_others_have_theirs(place: SrunPlace) -> None:
    found = at_once(place, (HERE, THERE, GONE), "echo")
    assert [found[name][1].out for name in ("here", "there")] == [b"here\n", b"there\n"]
    result, _ = found["gone"]
    assert (result.kind, result.exit_code) == (ExitKind.UNREACHABLE, None)
    assert "failed on node gone" in str(result.reason)


def test_a_host_of_another_job_is_a_result(place: SrunPlace) -> None:
    transport = place.transport()
    stranger = Host("elsewhere", "elsewhere")
    assert "not a node of Slurm job 4711" in str(
        (transport.connect(stranger).result or CommandResult(ExitKind.EXITED, 0, 0)).reason
    )
    pushed = transport.push(stranger, "run", FILES)
    assert pushed.folder is None
    assert str(pushed.reason).startswith("elsewhere is not a node of"), "nothing is wrong with its disk"
    assert transport.start(stranger, Command(("true",), 5, "contract"), Kept()).wait(1) is not None
    assert transport.connect(Host("here.cluster.example", "here")).result is None


def test_one_of_a_step_is_stopped_and_the_others_go_on(place: SrunPlace, tmp_path: Path) -> None:
    transport = place.transport()
    kept = {host.name: Kept() for host in (HERE, THERE)}
    go_on = tmp_path / "go on"
    script = "trap 'echo bye; exit 0' INT; echo up; until [ -e \"$0\" ]; do sleep 0.05; done; echo end"
    command = Command(("sh", "-c", script, str(go_on)), 300, "contract")
    running = {host.name: transport.start(host, command, kept[host.name]) for host in (HERE, THERE)}
    while not (kept["here"].out and kept["there"].out):
        assert running["here"].wait(0.05) is running["there"].wait(0.05) is None
    running["here"].stop()
    stopped = running["here"].wait(60)
    assert stopped is not None and running["there"].poll() is None
    go_on.touch()
    whole = running["there"].wait(60)
    assert whole is not None
    assert (stopped.kind, kept["here"].out) == (ExitKind.STOPPED, b"up\nbye\n")
    assert (whole.kind, kept["there"].out) == (ExitKind.EXITED, b"up\nend\n")
    assert len(place.steps()) == 1
    transport.close()


def test_the_last_words_of_a_command_are_waited_for_on_a_node_that_codes_them_slowly(place: SrunPlace) -> None:
    (place.bin / "base64").write_text(f'#!/bin/sh\nsleep 2.5\nexec {shutil.which("base64")} "$@"\n')
    (place.bin / "base64").chmod(0o755)
    found = at_once(place, (HERE,), "echo")
    result, kept = found["here"]
    assert (result.exit_code, kept.out) == (0, b"here\n")


def test_no_srun_is_a_result(tmp_path: Path) -> None:
    place = SrunPlace(tmp_path / "srun", tmp_path)
    (tmp_path / "srun" / "bin" / "srun").unlink()
    transport = place.transport()
    transport._program = ("env", "PATH=/nonexistent")
    result = transport.start(HERE, Command(("true",), 5, "contract"), Kept()).wait(60)
    assert result is not None
    assert result.kind is ExitKind.UNREACHABLE


def test_a_step_that_cannot_be_started_holds_no_file_open(place: SrunPlace, tmp_path: Path) -> None:
    transport = place.transport()
    transport._program = ("/nonexistent/env",)
    file = tmp_path / "all_reduce_perf"
    file.write_bytes(b"binary")
    result = transport.bring(HERE, ("cat",), Payload(source=str(file)), Kept()).wait(20)
    assert result is not None and result.kind is ExitKind.UNREACHABLE
    assert file not in [descriptor.resolve() for descriptor in Path("/proc/self/fd").iterdir()]


def test_a_stop_in_the_moment_a_step_begins_is_not_lost(place: SrunPlace, monkeypatch: pytest.MonkeyPatch) -> None:
    transport = place.transport()
    running: list[Running] = []

    class StoppedMeanwhile(Ending):
        def __init__(self, command: Command, clock: Clock) -> None:
            super().__init__(command, clock)
            for one in running:  # none when the command is joined, itself when its step begins
                one.stop()

    monkeypatch.setattr(srun_step, "Ending", StoppedMeanwhile)
    running.append(transport.start(HERE, Command(("sleep", "600"), 600, "contract"), Kept()))
    result = running[0].wait(60)
    transport.close()
    assert result is not None
    assert result.kind is ExitKind.STOPPED
