"""Limits of a login: what breaks a job is held against the node, and only where it does."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from healthcheck.model.finding import CheckResult
from healthcheck.model.node import NodeFacts
from healthcheck.model.reading import ReadingState
from healthcheck.model.verdict import Verdict
from healthcheck.probes import limits
from healthcheck.probes.probe import Needs
from healthcheck.probes.read import read_node
from tests.unit.probes.fixtures import DGX_A100, answer, said

NEEDS = Needs(DGX_A100, own_token="hc-own")
NO_RDMA = replace(DGX_A100, nics=replace(DGX_A100.nics, count=0))


def facts(fixture: str) -> NodeFacts:
    return read_node(
        "node01", {"limits": answer("limits", fixture), "gpus": answer("gpus", "healthy"), "gpu_processes": said("end")}
    )


def judged(fixture: str, needs: Needs = NEEDS) -> dict[str, CheckResult]:
    return {result.check: result for result in limits.judge(facts(fixture), needs)}


@pytest.mark.parametrize(
    ("fixture", "check", "verdict", "rule"),
    [
        ("healthy", "os.memlock", Verdict.PASS, "memlock.enough"),
        ("healthy", "os.shm", Verdict.PASS, "shm.enough"),
        ("healthy", "os.files", Verdict.PASS, "files.enough"),
        ("healthy_stale_files", "os.shm", Verdict.PASS, "shm.stale_files"),
        ("healthy_root", "os.memlock", Verdict.PASS, "memlock.capable"),
        ("healthy_few_files", "os.files", Verdict.PASS, "files.few"),
        ("healthy_stack_unlimited", "os.files", Verdict.PASS, "files.stack_unlimited"),
        ("sick_memlock", "os.memlock", Verdict.FAIL, "memlock.low"),
        ("sick_docker", "os.memlock", Verdict.FAIL, "memlock.low"),
        ("sick_docker", "os.shm", Verdict.FAIL, "shm.small"),
        ("sick_shm_full", "os.shm", Verdict.FAIL, "shm.low"),
        ("sick_files", "os.files", Verdict.DEGRADED, "files.low"),
        ("sick_no_shm", "os.shm", Verdict.SKIPPED, "unseen.unparsable"),
        ("tool_missing", "os.memlock", Verdict.SKIPPED, "unseen.tool_missing"),
        ("tool_missing", "os.shm", Verdict.SKIPPED, "unseen.tool_missing"),
    ],
)
def test_recorded_limits(fixture: str, check: str, verdict: Verdict, rule: str) -> None:
    result = judged(fixture)[check]
    assert (result.verdict, result.rule) == (verdict, rule)
    assert result.evidence or result.verdict is not Verdict.FAIL


def test_locked_memory_breaks_only_jobs_that_use_rdma() -> None:
    for needs in (replace(NEEDS, together=False), replace(NEEDS, platform=NO_RDMA), replace(NEEDS, platform=None)):
        assert judged("sick_memlock", needs)["os.memlock"].verdict is Verdict.DEGRADED


def test_a_full_shared_memory_is_quoted_with_what_was_left_there() -> None:
    result = judged("sick_shm_full")["os.shm"]
    assert "812 files" in str(result.message)
    assert result.evidence[0].text == "tmpfs 1056485376 1056000000 485376 100% /dev/shm"
    assert (result.observed, result.unit) == (485376.0 * 1024, "bytes")


def test_files_of_a_job_at_work_are_not_called_left_behind() -> None:
    busy = {
        "limits": answer("limits", "healthy_stale_files"),
        "gpus": answer("gpus", "healthy"),
        "gpu_processes": said("4711, GPU-a, python3\nend"),
    }
    results = {result.check: result for result in limits.judge(read_node("n", busy), NEEDS)}
    assert results["os.shm"].rule == "shm.enough"


@pytest.mark.parametrize("broken", ["memlock \nfiles 1\nstack 1", "memlock x\nfiles 1\nstack 1", "files 10\nstack 1"])
def test_a_limit_that_is_no_number_is_not_taken_for_one(broken: str) -> None:
    assert limits.read(said(broken)).state is ReadingState.UNPARSABLE
