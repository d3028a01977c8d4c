"""One step for many nodes: what it is made of, and what is read back from it."""

from __future__ import annotations

import base64
import os
import subprocess
import time
from pathlib import Path

import pytest

from healthcheck.launchers.step import (
    CONTROL,
    FILE,
    HELD_OPEN_S,
    STEP_SCRIPT,
    Frame,
    Frames,
    Member,
    blamed_nodes,
    complaint,
    job_is_over,
    step_argv,
)
from healthcheck.model.slurm import SlurmJob

SCRIPT = "x" * 5000
MEMBERS = (Member("n1", ("sh", "-c", SCRIPT, "a1")), Member("n2", ("sh", "-c", SCRIPT, "b2")))


def test_what_the_nodes_share_travels_once() -> None:
    argv = step_argv(MEMBERS, "abc", CONTROL, SlurmJob("4711", "22.05.8"))
    behind = argv[argv.index(STEP_SCRIPT) + 1 :]
    assert behind == (
        "healthcheck-step",
        "abc",
        "control",
        "n1 0 1 2 3 4\nn2 1 1 2 3 5",
        "sh",
        "-c",
        SCRIPT,
        "a1",
        "b2",
    )
    assert {"--jobid=4711", "--overlap", "--nodelist=n1,n2", "--nodes=2", "--ntasks=2", "--ntasks-per-node=1"} <= {
        *argv
    }


def test_slurm_before_20_11_knows_no_overlap_and_shares_nodes_by_itself() -> None:
    assert "--overlap" not in step_argv(MEMBERS, "abc", CONTROL, SlurmJob("4711", "20.02.7"))
    assert "--overlap" in step_argv(MEMBERS, "abc", CONTROL, SlurmJob("4711", ""))


def test_a_job_without_gpus_in_slurm_asks_for_none() -> None:
    assert not [word for word in step_argv(MEMBERS, "abc", CONTROL, SlurmJob("1")) if "gpu" in word.lower()[:6]]
    assert "--gpus-per-node=8" in step_argv(MEMBERS, "abc", CONTROL, SlurmJob("1", gpus_per_node=8))


def test_frames_are_read_in_pieces_of_any_length_and_nothing_else() -> None:
    piece = base64.b64encode(b"out\n").decode()
    text = (
        f"a prolog speaks\n@@abc 0 up\n@@abc 1 up\n@@abc 1 o {piece}\n@@other 0 rc 0\nno newline@@abc 1 e .\n"
        "@@abc 0 rc x\n@@abc 0 o ???\n@@abc 0 rc 7\n@@abc 1 rc"
    ).encode()
    expected = [
        Frame(0, "up"),
        Frame(1, "up"),
        Frame(1, "o", b"out\n"),
        Frame(1, "e", None),
        Frame(0, "rc", code=7),
    ]
    for size in (1, 7, 1000):
        frames = Frames("abc")
        found = [frame for at in range(0, len(text), size) for frame in frames.read(text[at : at + size])]
        assert found == expected


LAUNCH = """\
srun: cluster configuration lacks support for cpu binding
srun: error: Task launch for StepId=3.0 failed on node n003: Communication connection failure
srun: error: Application launch failed: Communication connection failure
"""


def test_srun_says_which_node_it_could_not_use() -> None:
    assert blamed_nodes(LAUNCH) == {"n003"}
    assert complaint(LAUNCH, "n003").startswith("Task launch for StepId=3.0 failed on node n003")
    assert blamed_nodes("srun: error: n001: task 0: Killed") == frozenset()


def test_a_job_that_is_over_is_not_asked_again() -> None:
    assert job_is_over("srun: error: Unable to confirm allocation for job 5: Invalid job id specified")
    assert job_is_over("srun: error: Unable to create step for job 5: Job/step already completing or completed")
    assert not job_is_over(LAUNCH)


def group_of(leader: int) -> list[str]:
    """The processes of a process group that are alive."""
    found = []
    for file in Path("/proc").glob("[0-9]*/stat"):
        try:
            _, _, rest = file.read_text().rpartition(")")
        except OSError:  # it has just ended
            continue
        state, _, group = rest.split()[:3]
        if int(group) == leader and state != "Z":
            found.append(file.parent.name)
    return found


def task(mode: str, command: str, patience_s: int = HELD_OPEN_S) -> tuple[list[Frame], float, list[str]]:
    """The script of a step, run as slurmd would, in a process group of its own.

    `patience_s` is what it gives to whoever holds the output of its command open.

    Returns what it said, after how many seconds it said no more, and who of its group stays alive.
    """
    argv = step_argv([Member("n1", ("sh", "-c", command))], "abc", mode, SlurmJob("1"))
    script = STEP_SCRIPT.replace(f"sleep {HELD_OPEN_S};", f"sleep {patience_s};")
    theirs, ours = os.pipe()
    began = time.monotonic()
    with subprocess.Popen(
        [script if word == STEP_SCRIPT else word for word in argv[argv.index("sh") :]],
        stdin=theirs,
        stdout=subprocess.PIPE,
        env={**os.environ, "SLURMD_NODENAME": "n1"},
        start_new_session=True,
    ) as process:
        os.close(theirs)
        if mode == FILE:
            os.close(ours)  # the file is empty
        assert process.stdout is not None
        said = process.stdout.read()
        took = time.monotonic() - began
    if mode == CONTROL:
        os.close(ours)
    end = time.monotonic() + 60
    while (left := group_of(process.pid)) and time.monotonic() < end:
        time.sleep(0.05)
    return Frames("abc").read(said), took, left


@pytest.mark.parametrize("mode", [CONTROL, FILE])
def test_a_task_leaves_nobody_on_its_node(mode: str) -> None:
    said, took, left = task(mode, "echo out; echo err >&2; sleep 600 >/dev/null 2>&1 & exit 5", patience_s=600)
    assert sorted((frame.kind, frame.data or b"", frame.code or 0) for frame in said) == [
        ("e", b"", 0),
        ("e", b"err\n", 0),
        ("o", b"", 0),
        ("o", b"out\n", 0),
        ("rc", b"", 5),
        ("up", b"", 0),
    ]
    assert left == []
    assert took < 300, "it waited for its helper"


def test_what_holds_the_output_of_a_task_open_is_given_a_little_time() -> None:
    said, took, left = task(CONTROL, "sleep 600 & echo out")
    assert [frame.code for frame in said if frame.kind == "rc"] == [0]
    assert b"out\n" in [frame.data for frame in said]
    assert HELD_OPEN_S - 1 < took < 300
    assert left == []
