"""One fault, one finding: what a part explains is evidence of it, and two faults stay two."""

from __future__ import annotations

import time

import pytest

from healthcheck.diagnosis.explain import findings
from healthcheck.model.component import FABRIC, Component, hca, node
from healthcheck.model.finding import CheckResult, Finding
from healthcheck.model.message import Arg, Message
from healthcheck.model.verdict import Verdict

MEMBERS = {"multi": ("node01", "node02"), "other": ("node03", "node04")}
ARGS: dict[str, Arg] = {
    "device": "mlx5_2",
    "port": 1,
    "state": "DOWN",
    "rate": 100.0,
    "expected": 200.0,
    "line": "lost",
}


def check(component: Component, verdict: Verdict, rule: str, job: str = "") -> CheckResult:
    return CheckResult(rule, component, verdict, Message(f"seen.{rule}", ARGS), rule, job=job)


def explained(*checks: CheckResult) -> list[tuple[str, str, str]]:
    return [(str(f.component), f.cause.code.removeprefix("cause."), f.verdict.name) for f in _findings(*checks)]


def _findings(*checks: CheckResult) -> tuple[Finding, ...]:
    return findings(checks, {}, "run", MEMBERS)


SLOW_PORT = check(hca("node01", "mlx5_2"), Verdict.FAIL, "hca.rate_broken")
SLOW_JOB = check(FABRIC, Verdict.FAIL, "peak.below_broken", "multi")
LOST_GPU = check(node("node01"), Verdict.FAIL, "gpu.lost")
CRASHED = check(node("node01"), Verdict.FAIL, "integrity.cuda", "single.node01")


def test_a_slow_joint_job_is_evidence_of_the_slow_port_of_a_node_in_it() -> None:
    assert explained(SLOW_JOB, SLOW_PORT) == [("node01/hca:mlx5_2", "hca_slow", "FAIL")]
    (found,) = _findings(SLOW_JOB, SLOW_PORT)
    assert [message.code for message in found.evidence_for] == ["seen.hca.rate_broken", "seen.peak.below_broken"]
    assert len(found.evidence) == 2


def test_a_slow_job_of_other_nodes_stays_a_finding_of_its_own() -> None:
    other = check(FABRIC, Verdict.FAIL, "peak.below_broken", "other")
    assert ("fabric", "far_below_peak", "FAIL") in explained(other, SLOW_PORT)


def test_a_lighter_fault_does_not_swallow_a_heavier_result_between_nodes() -> None:
    lighter = check(hca("node01", "mlx5_2"), Verdict.DEGRADED, "hca.rate_low")
    assert explained(SLOW_JOB, lighter) == [
        ("fabric", "follows_from", "FAIL"),
        ("node01/hca:mlx5_2", "hca_slow", "DEGRADED"),
    ]


def test_a_crash_on_the_node_of_a_lost_gpu_is_evidence_of_it() -> None:
    assert explained(CRASHED, LOST_GPU) == [("node01", "gpu_lost", "FAIL")]


def test_a_crash_on_another_node_is_not() -> None:
    elsewhere = check(node("node02"), Verdict.FAIL, "integrity.cuda", "single.node02")
    assert explained(elsewhere, LOST_GPU) == [("node01", "gpu_lost", "FAIL"), ("node02", "cuda_error", "FAIL")]


def test_two_faults_on_one_node_are_two_findings() -> None:
    assert explained(LOST_GPU, SLOW_PORT) == [
        ("node01", "gpu_lost", "FAIL"),
        ("node01/hca:mlx5_2", "hca_slow", "FAIL"),
    ]


def test_two_ports_of_one_node_are_two_findings() -> None:
    other = check(hca("node01", "mlx5_3"), Verdict.FAIL, "hca.rate_broken")
    assert [part for part, _, _ in explained(SLOW_PORT, other)] == ["node01/hca:mlx5_2", "node01/hca:mlx5_3"]


def test_a_node_never_looks_better_than_what_was_folded_into_its_part() -> None:
    slow_alone = check(node("node01"), Verdict.FAIL, "peak.below_broken", "single.node01")
    low_port = check(hca("node01", "mlx5_2"), Verdict.DEGRADED, "hca.rate_low")
    assert explained(slow_alone, low_port) == [("node01/hca:mlx5_2", "hca_slow", "FAIL")]


def test_a_chain_ends_at_its_beginning() -> None:
    """The port explains the count of ports; both explain the job; one finding keeps all three."""
    down = check(hca("node01", "mlx5_2"), Verdict.FAIL, "hca.down")
    count = check(node("node01"), Verdict.FAIL, "hca.inactive")
    (found,) = _findings(SLOW_JOB, count, down)
    assert {message.code for message in found.evidence_for} == {
        f"seen.{rule}" for rule in ("hca.down", "hca.inactive", "peak.below_broken")
    }


def test_the_line_of_nccl_gives_a_crash_its_reason() -> None:
    broke = check(FABRIC, Verdict.FAIL, "integrity.ib_completion", "multi")
    warned = check(hca("node02", "mlx5_0"), Verdict.FAIL, "warn.retry_exceeded", "multi")
    assert explained(broke, warned) == [("node02/hca:mlx5_0", "retry_exceeded", "FAIL")]


@pytest.mark.parametrize("rule", ["integrity.not_run", "stage.not_run"])
def test_what_was_not_run_because_of_a_fault_says_nothing_beside_it(rule: str) -> None:
    left_out = check(node("node01"), Verdict.INCONCLUSIVE, rule)
    assert explained(left_out, LOST_GPU) == [("node01", "gpu_lost", "FAIL")]
    assert len(explained(left_out)) == 1


def test_what_nccl_saw_speaks_against_what_a_look_at_the_node_says() -> None:
    missing = check(node("node01"), Verdict.FAIL, "gdr.none")
    seen = check(node("node01"), Verdict.PASS, "gdr.on")
    elsewhere = check(node("node02"), Verdict.PASS, "gdr.on")
    (found,) = _findings(missing, seen)
    assert [message.code for message in found.evidence_against] == ["seen.gdr.on"]
    (found,) = _findings(missing, elsewhere)
    assert found.evidence_against == ()


def test_the_same_fault_on_every_node_of_a_large_joint_job_takes_no_time() -> None:
    hosts = tuple(f"gpu{number:04}" for number in range(3000))
    checks = [check(node(host), Verdict.DEGRADED, "gdr.off", "multi") for host in hosts]
    began = time.process_time()
    assert len(findings(checks, dict.fromkeys(hosts, Verdict.DEGRADED), "r", {"multi": hosts})) == len(hosts)
    assert time.process_time() - began < 5  # each against each was half a minute


@pytest.mark.parametrize(
    ("rule", "cause"),
    [("known_good.below", "below_known_good"), ("peers.outlier", "slow_vs_peers"), ("history.worse", "slow_vs_past")],
)
def test_a_node_that_is_slow_by_another_rule_has_a_cause_of_its_own_until_a_part_is_named(
    rule: str, cause: str
) -> None:
    slow = check(node("node01"), Verdict.DEGRADED, rule, "single.node01")
    assert explained(slow) == [("node01", cause, "DEGRADED")]
    inactive = check(Component("node01/gpu:3"), Verdict.FAIL, "nvlink.inactive")
    assert explained(slow, inactive) == [("node01/gpu:3", "nvlink_inactive", "FAIL")]
    no_nvls = check(node("node01"), Verdict.DEGRADED, "nvls.off", "single.node01")
    assert explained(slow, no_nvls) == [("node01", "nvls_unavailable", "DEGRADED")]
    elsewhere = check(node("node02"), Verdict.DEGRADED, "nvls.off", "single.node02")
    assert ("node01", cause, "DEGRADED") in explained(slow, elsewhere)


def test_a_joint_job_that_took_tcp_on_one_node_is_the_finding_of_that_node() -> None:
    joint = check(FABRIC, Verdict.FAIL, "transport.socket", "multi")
    own = check(node("node02"), Verdict.FAIL, "transport.socket", "multi")
    assert explained(joint, own) == [("node02", "tcp_fallback", "FAIL")]
    assert ("fabric", "tcp_fallback", "FAIL") in explained(joint)
