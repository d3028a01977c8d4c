"""`healthcheck slurm resume` with a scontrol on the PATH that answers as told, and writes down how it was asked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from healthcheck.model.drain import mark_of
from healthcheck.parsing.record_codec import encode_record
from tests.golden.records import healthy
from tests.walk.cli import Shell

RUN = healthy(4)
NODE = "NodeName={name} Arch=x86_64 OS=Linux 6.1 #1 SMP State={state} ThreadsPerCore=1 Reason={reason} [root@{at}]"


def run_of(shell: Shell, simulated: bool = False) -> str:
    """A stored run below the default results; its id."""
    folder = shell.results / RUN.run_id
    folder.mkdir(parents=True)
    (folder / "record.json").write_bytes(encode_record(replace(RUN, simulated=simulated)))
    return RUN.run_id


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that stands first in PATH."""
    folder = tmp_path / "programs"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    return folder


def scontrol(programs: Path, answer: str, code: int = 0, stderr: str = "") -> None:
    (programs / "answer").write_text(answer)
    (programs / "stderr").write_text(stderr)
    program = programs / "scontrol"
    lines = ('echo "$@" >>"$here/asked"', 'cat "$here/answer"', 'cat "$here/stderr" >&2', f"exit {code}")
    program.write_text("\n".join(("#!/bin/sh", f"here='{programs}'", *lines)) + "\n")
    program.chmod(0o755)


def listed(name: str, state: str, reason: str) -> str:
    return NODE.format(name=name, state=state, reason=reason, at="2026-11-30T03:40:05") + "\n"


def test_lines_stand_on_stdout_the_story_on_stderr_and_nothing_is_run(shell: Shell, programs: Path) -> None:
    run = run_of(shell)
    mark = mark_of(run)
    nodes = (listed("g1", "IDLE+DRAIN", f"{mark}ecc"), listed("g2", "IDLE+DRAIN", f"{mark}ecc"))
    scontrol(programs, "".join((*nodes, listed("g3", "IDLE+DRAIN", "theirs"))))
    said = shell("slurm", "resume", "--run", run)
    assert (said.code, said.out) == (0, "scontrol update nodename='g[1-2]' state=undrain\n")
    assert "2 nodes are drained" in said.err and "nothing was run" in said.err
    assert (programs / "asked").read_text() == "--oneliner show node\n"

    document = json.loads(shell("slurm", "resume", "--run", run, "--json").out)
    assert document["schema"] == "healthcheck.slurm_resume/1"
    assert document["commands"] == ["scontrol update nodename='g[1-2]' state=undrain"]
    assert [one["name"] for one in document["ours"]] == ["g1", "g2"]


def test_nothing_to_undo_is_said_and_no_mistake(shell: Shell, programs: Path) -> None:
    run = run_of(shell)
    scontrol(programs, listed("g3", "IDLE+DRAIN", "theirs"))
    said = shell("slurm", "resume", "--run", run)
    assert (said.code, said.out) == (0, "")
    assert "nothing to undo" in said.err


@pytest.mark.parametrize(
    ("stderr", "says"),
    [
        ("slurm_load_node error: Unable to contact slurm controller (connect failure)", "Unable to contact slurm"),
        ("scontrol: fatal: Unable to process configuration file", "no Slurm answers here"),
    ],
)
def test_a_slurm_that_does_not_answer_is_one_sentence(shell: Shell, programs: Path, stderr: str, says: str) -> None:
    run = run_of(shell)
    scontrol(programs, "", code=1, stderr=stderr + "\n")
    said = shell("slurm", "resume", "--run", run, "--json")
    assert (said.code, said.out, said.err.count("\n")) == (3, "", 1)
    assert says in said.err


def test_a_machine_without_slurm_is_one_sentence(shell: Shell, programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = run_of(shell)
    for name in ("sh", "setsid", "sleep", "env", "grep", "cat"):
        (programs / name).symlink_to(
            next(path for path in (Path("/bin") / name, Path("/usr/bin") / name) if path.exists())
        )
    monkeypatch.setenv("PATH", str(programs))
    said = shell("slurm", "resume", "--run", run)
    assert (said.code, said.out, said.err.count("\n")) == (3, "", 1)
    assert "no Slurm answers here" in said.err


def test_a_simulated_run_and_one_that_is_not_there_are_bad_input(shell: Shell) -> None:
    run = run_of(shell, simulated=True)
    said = shell("slurm", "resume", "--run", run)
    assert said.code == 2 and "simulated" in said.err
    assert shell("slurm", "resume", "--run", "20200101T000000Z-none").code == 2
    assert shell("slurm", "resume").code == 2
