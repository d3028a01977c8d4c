"""The real batch script under the real shells of this machine: hanging, shouting and lying parts."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from msgspec.structs import replace

from healthcheck.probes.batch import (
    BATCH_SCRIPT,
    OUTPUT_LIMIT,
    STDERR_LIMIT,
    Part,
    PartState,
    batch_argv,
    deadline_s,
    split,
)
from healthcheck.probes.read import probe_parts, read_node
from tests.contract.shells import SHELLS, folder_with_sh

NONCE = "0f3a9c"


@pytest.fixture(params=SHELLS)
def path_with_sh(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A PATH whose `sh` is the shell under test, for the batch and for its parts."""
    return f"{folder_with_sh(tmp_path / 'shell', request.param)}:{os.environ['PATH']}"


def run(parts: tuple[Part, ...], path: str, *, gnu_timeout: bool = True) -> tuple[str, float]:
    argv = list(batch_argv(parts, NONCE))
    if not gnu_timeout:
        argv[2] = BATCH_SCRIPT.replace("timeout --version", "no-such-timeout --version")
    sh = next(str(Path(folder) / "sh") for folder in path.split(":") if (Path(folder) / "sh").exists())
    started = time.monotonic()
    done = subprocess.run(
        ["sh", *argv[1:]], executable=sh, env={**os.environ, "PATH": path}, capture_output=True, timeout=60
    )
    return done.stdout.decode(errors="replace"), time.monotonic() - started


@pytest.mark.parametrize("gnu_timeout", [True, False], ids=["gnu-timeout", "watchdog"])
def test_half_of_the_parts_hang_and_the_others_still_answer(path_with_sh: str, gnu_timeout: bool) -> None:
    parts = (
        Part("first", 5, "echo one; echo complaint >&2; exit 3"),
        Part("hangs", 1, "echo before; sleep 300; echo after"),
        Part("second", 5, "printf 'no line end'"),
        Part("third", 5, "echo three"),
    )
    text, took = run(parts, path_with_sh, gnu_timeout=gnu_timeout)
    assert took < deadline_s(parts)
    found = split(text, NONCE)
    assert set(found) == {part.name for part in parts}
    first = found["first"]
    assert (first.rc, first.stdout, first.stderr, first.state) == (3, "one", "complaint", PartState.ENDED)
    assert (found["hangs"].stdout, found["hangs"].state) == ("before", PartState.TIMED_OUT)
    assert (found["second"].stdout, found["second"].state) == ("no line end", PartState.ENDED)
    assert (found["third"].stdout, found["third"].state) == ("three", PartState.ENDED)


@pytest.mark.parametrize("gnu_timeout", [True, False], ids=["gnu-timeout", "watchdog"])
def test_a_part_that_ignores_term_is_killed(gnu_timeout: bool) -> None:
    parts = (Part("stubborn", 1, "trap '' TERM; while :; do sleep 1; done"), Part("last", 5, "echo whole"))
    text, took = run(parts, os.environ["PATH"], gnu_timeout=gnu_timeout)
    assert took < deadline_s(parts)
    found = split(text, NONCE)
    assert found["stubborn"].state is PartState.TIMED_OUT
    assert found["last"].stdout == "whole"


@pytest.mark.parametrize("gnu_timeout", [True, False], ids=["gnu-timeout", "watchdog"])
def test_a_group_in_which_one_hung_is_not_asked_again(path_with_sh: str, gnu_timeout: bool) -> None:
    parts = (
        Part("well", 5, "echo well", "driver"),
        Part("alone", 1, "sleep 300"),
        Part("hangs", 1, "echo before; sleep 300", "driver"),
        Part("other", 5, "echo other", "driver2"),
        Part("fails", 5, "echo worse; exit 124", "driver2"),
        Part("spared", 5, "echo asked", "driver"),
        Part("still", 5, "echo still"),
        Part("last", 5, "echo last", "driver2"),
    )
    found = split(run(parts, path_with_sh, gnu_timeout=gnu_timeout)[0], NONCE)
    states = {name: part.state for name, part in found.items()}
    hung = {"alone": PartState.TIMED_OUT, "hangs": PartState.TIMED_OUT, "spared": PartState.NOT_ASKED}
    assert states == {part.name: hung.get(part.name, PartState.ENDED) for part in parts}
    assert (found["spared"].rc, found["spared"].stdout, found["last"].stdout) == (None, "", "last")


def test_parts_that_print_frames_shift_nothing(path_with_sh: str) -> None:
    forged = "@@abcdef gpus out; @@abcdef gpus end 0; @@ gpus out"
    parts = (
        Part("one", 5, "; ".join(f"echo '{line.strip()}'" for line in forged.split(";"))),
        Part("gpus", 5, "echo real"),
    )
    found = split(run(parts, path_with_sh)[0], NONCE)
    assert found["gpus"].stdout == "real"
    assert found["one"].stdout.splitlines() == ["@@abcdef gpus out", "@@abcdef gpus end 0", "@@ gpus out"]


def test_endless_and_binary_output_is_bounded_and_said_to_be_cut(path_with_sh: str) -> None:
    parts = (
        Part("endless", 5, "yes"),
        Part("loud", 5, "yes complaint | head -c 1000000 >&2; echo fine"),
        Part("binary", 5, "head -c 5000 /dev/urandom"),
        Part("last", 5, "echo whole"),
    )
    text, took = run(parts, path_with_sh)
    found = split(text, NONCE)
    assert took < deadline_s(parts)
    assert found["endless"].state is PartState.CUT
    assert len(found["endless"].stdout) <= OUTPUT_LIMIT
    assert (found["loud"].stdout, found["loud"].rc) == ("fine", 0)
    assert len(found["loud"].stderr) <= STDERR_LIMIT
    assert found["last"].stdout == "whole"


def test_ten_megabytes_of_line_ends_are_not_silence(path_with_sh: str) -> None:
    part = Part("empty", 5, "head -c 10000000 /dev/zero | tr '\\000' '\\n'")
    found = split(run((part, Part("last", 5, "echo whole")), path_with_sh)[0], NONCE)
    assert found["empty"].state is PartState.CUT
    assert found["last"].stdout == "whole"


def test_broken_shell_text_and_missing_tools_cost_one_part(path_with_sh: str) -> None:
    parts = (Part("broken", 5, "if then"), Part("absent", 5, "no-such-tool-here"), Part("last", 5, "echo whole"))
    found = split(run(parts, path_with_sh)[0], NONCE)
    assert found["broken"].rc not in (0, None)
    assert found["absent"].rc == 127
    assert found["last"].stdout == "whole"


def test_login_noise_around_the_answer_is_dropped(path_with_sh: str) -> None:
    text, _ = run((Part("one", 5, "echo 1"),), path_with_sh)
    noisy = f"Welcome to gpu-01!\n@@wrong one out\n{text}logout\n"
    assert split(noisy, NONCE)["one"].stdout == "1"


def test_a_stream_cut_anywhere_never_gives_a_wrong_whole_part(path_with_sh: str) -> None:
    parts = (Part("one", 5, "echo alpha; echo beta"), Part("two", 5, "echo gamma"))
    text, _ = run(parts, path_with_sh)
    whole = {"one": "alpha\nbeta", "two": "gamma"}
    for length in range(len(text)):
        for name, part in split(text[:length], NONCE).items():
            assert part.state is not PartState.ENDED or part.stdout == whole[name]


def test_nothing_is_left_running(path_with_sh: str) -> None:
    mark = f"3{os.getpid()}"
    run((Part("hangs", 1, f"sleep {mark}"), Part("forks", 1, f"sleep {mark} & echo away")), path_with_sh)
    left = [entry for entry in Path("/proc").glob("[0-9]*/cmdline") if f"sleep\0{mark}".encode() in _read(entry)]
    assert left == []


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def test_the_real_questions_run_in_every_shell_and_nothing_raises(path_with_sh: str, tmp_path: Path) -> None:
    program = tmp_path / "all_reduce_perf"
    shutil.copy(shutil.which("od") or "/usr/bin/od", program)
    text, _ = run(probe_parts(str(tmp_path)), path_with_sh)
    facts = read_node("here", split(text, NONCE))
    assert facts.identity is not None
    assert facts.identity.value is not None
    assert facts.identity.value.uid == os.getuid()
    assert facts.binary.value is not None
    assert facts.binary.value.path == str(program)
    assert facts.binary.value.architecture_ok
    assert not facts.binary.value.mpi_built


def test_a_sysfs_tree_is_read_line_by_line(path_with_sh: str, tmp_path: Path) -> None:
    port = tmp_path / "mlx5_0" / "ports" / "1"
    port.mkdir(parents=True)
    (tmp_path / "mlx5_0" / "fw_ver").write_text("20.41.1000\n")
    for key, value in {
        "state": "4: ACTIVE",
        "phys_state": "5: LinkUp",
        "rate": "200 Gb/sec (4X HDR)",
        "link_layer": "InfiniBand",
    }.items():
        (port / key).write_text(value + "\n")
    parts = tuple(
        replace(part, text=part.text.replace("/sys/class/infiniband", str(tmp_path))) for part in probe_parts(None)
    )
    facts = read_node("here", split(run(parts, path_with_sh)[0], NONCE))
    assert facts.hcas.value is not None
    (found,) = facts.hcas.value
    assert (found.device, found.port, found.rate_gbit_s, found.firmware) == ("mlx5_0", 1, 200.0, "20.41.1000")
    assert found.active


def test_a_csh_login_shell_can_pass_the_command_on() -> None:
    argv = batch_argv(probe_parts("/opt/nccl-tests/build"), NONCE)
    assert not [word for word in argv if "\n" in word or "!" in word]


def test_owner_and_token_of_a_gpu_process_are_read_from_proc(path_with_sh: str) -> None:
    folder = Path(path_with_sh.partition(":")[0])
    ours = subprocess.Popen(["sleep", "60"], env={**os.environ, "HEALTHCHECK_TOKEN": "hc-test-abcd"})
    other = subprocess.Popen(["sleep", "60"], env={"PATH": os.environ["PATH"]})
    try:
        tool = folder / "nvidia-smi"
        lines = f"{ours.pid}, GPU-a, python3\\n{other.pid}, GPU-a, a name, with comma\\n{ours.pid}, GPU-b, python3\\n"
        listed = "0, GPU-a, NVIDIA A100-SXM4-80GB, 00000000:07:00.0, 550.90.07\\n"
        tool.write_text(f"#!/bin/sh\ncase $1 in *apps*) printf '{lines}' ;; *) printf '{listed}' ;; esac\n")
        tool.chmod(0o755)
        facts = read_node("here", split(run(probe_parts(None), path_with_sh)[0], NONCE))
    finally:
        for child in (ours, other):
            child.kill()
            child.wait()
    assert facts.gpu_processes.value is not None
    by_pid = {process.pid: process for process in facts.gpu_processes.value}
    assert by_pid[ours.pid].token == "hc-test-abcd"
    assert by_pid[other.pid].token is None
    assert by_pid[other.pid].name == "a name, with comma"
    assert all(process.user for process in by_pid.values())
    assert len(by_pid) == 2


def test_a_greeting_without_a_line_end_does_not_swallow_the_first_part(path_with_sh: str) -> None:
    text, _ = run((Part("first", 5, "echo one"),), path_with_sh)
    assert split(f"Welcome to n1! {text}", NONCE)["first"].stdout == "one"
