"""Each way in which nccl-tests cannot run has its own rule, and none of them is PASS or FAIL: nothing was measured."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from healthcheck.model.finding import CheckResult
from healthcheck.model.verdict import Verdict
from healthcheck.probes import binary
from healthcheck.probes.batch import PartOutput, PartState
from tests.unit.probes.fixtures import answer


@pytest.mark.parametrize(
    ("fixture", "rule", "words"),
    [
        ("healthy", "binary.usable", "all_reduce_perf"),
        ("healthy_static", "binary.usable", "all_reduce_perf"),
        ("healthy_wrapper_script", "binary.usable", "all_reduce_perf"),
        ("sick_missing", "binary.missing", "there is no /opt/nccl-tests/build/all_reduce_perf"),
        ("sick_second_missing", "binary.missing", "all_gather_perf"),
        ("sick_not_executable", "binary.not_executable", "not an executable file"),
        ("sick_architecture", "binary.architecture", "aarch64"),
        ("sick_not_a_program", "binary.architecture", "unknown"),
        ("sick_library", "binary.library", "libnccl.so.2"),
        ("sick_glibc", "binary.library", "GLIBC_2.38"),
        ("sick_not_mpi", "binary.not_mpi", "without MPI"),
        ("sick_ldd_unreadable", "binary.unreadable", "ldd: not found"),
        ("tool_missing", "binary.unreadable", "cannot be seen"),
    ],
)
def test_recorded_nodes(fixture: str, rule: str, words: str) -> None:
    result = binary.judge("node01", binary.read(answer("binary", fixture)))
    assert result.rule == rule
    assert words in str(result.message)
    assert result.verdict is (Verdict.PASS if rule == "binary.usable" else Verdict.INCONCLUSIVE)
    assert result.evidence


def test_a_path_is_data_to_the_shell() -> None:
    assert "'/opt/a b;rm -rf x/all_reduce_perf'" in binary.part(["/opt/a b;rm -rf x/all_reduce_perf"]).text


def _asked(paths: list[str], wrapper: str, folder: Path) -> CheckResult:
    """The answer of a real shell."""
    part = binary.wrapped_part(paths, wrapper)
    done = subprocess.run(["sh", "-c", part.text], cwd=folder, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    return binary.judge(
        "node01", binary.read(PartOutput(binary.NAME, done.returncode, done.stdout.strip(), "", PartState.ENDED))
    )


def test_behind_a_wrapper_only_its_own_program_can_be_looked_for(tmp_path: Path) -> None:
    inside = ["/only in/the container/all_reduce_perf", "/PATHS/all_gather_perf"]
    there = _asked(inside, "env", tmp_path)
    assert (there.verdict, there.rule) == (Verdict.PASS, "binary.usable")
    assert "started by the wrapper" in str(there.message), "nobody claims to have seen it"
    odd = "no such; touch pwned $(touch pwned) WRAPPER"
    gone = _asked(inside, odd, tmp_path)
    assert (gone.verdict, gone.rule) == (Verdict.INCONCLUSIVE, "binary.missing")
    assert odd in str(gone.message)
    assert list(tmp_path.iterdir()) == []
