"""What explains slowness is a remark where nothing is slow, and stands where something is."""

from __future__ import annotations

import pytest

from healthcheck.evaluation.advice import settled
from healthcheck.model.component import FABRIC, Component, node
from healthcheck.model.finding import CheckResult
from healthcheck.model.message import say
from healthcheck.model.verdict import Verdict

HOSTS = {"a", "b"}


def _found(check: str, component: Component, rule: str, verdict: Verdict = Verdict.DEGRADED) -> CheckResult:
    return CheckResult(check, component, verdict, say("job.stopped"), rule)


IOMMU = tuple(_found("pcie.iommu", node(host), "pcie.iommu_on") for host in sorted(HOSTS))


def test_a_setting_of_the_whole_fleet_leaves_nodes_to_start_on_when_everything_measures_well() -> None:
    results = settled(IOMMU, HOSTS, HOSTS)
    assert [result.verdict for result in results] == [Verdict.PASS, Verdict.PASS]
    assert all("job.stopped" not in str(result.message) and result.rule == "pcie.iommu_on" for result in results)
    assert str(say("job.stopped")) in str(results[0].message)


def test_it_stands_on_a_node_that_is_slow_or_was_not_measured() -> None:
    (a, b) = settled(IOMMU, {"a"}, HOSTS)
    assert (a.verdict, b.verdict) == (Verdict.PASS, Verdict.DEGRADED)


@pytest.mark.parametrize("verdict", [Verdict.DEGRADED, Verdict.INCONCLUSIVE, Verdict.FAIL])
def test_it_stands_beside_anything_else_that_is_wrong_with_the_node(verdict: Verdict) -> None:
    other = _found("hca.rate", Component("a/hca:mlx5_2"), "hca.rate_low", verdict)
    results = settled((*IOMMU, other), HOSTS, HOSTS)
    assert {str(result.component): result.verdict for result in results} == {
        "a": Verdict.DEGRADED,
        "b": Verdict.PASS,
        "a/hca:mlx5_2": verdict,
    }


def test_another_driver_is_no_advice_and_another_firmware_is() -> None:
    driver, firmware = (_found("fleet.drift", node("a"), rule) for rule in ("drift.driver", "drift.hca_firmware"))
    assert [result.verdict for result in settled((driver,), HOSTS, HOSTS)] == [Verdict.DEGRADED]
    assert [result.verdict for result in settled((firmware,), HOSTS, HOSTS)] == [Verdict.PASS]


def test_what_the_fleet_disagrees_about_is_a_remark_only_when_all_of_it_is_well() -> None:
    halves = (_found("fleet.drift", FABRIC, "drift.vbios"),)
    assert [result.verdict for result in settled(halves, HOSTS, HOSTS)] == [Verdict.PASS]
    assert [result.verdict for result in settled(halves, {"a"}, HOSTS)] == [Verdict.DEGRADED]
    slow = _found("bandwidth.busbw", FABRIC, "peak.below_healthy")
    assert [result.verdict for result in settled((*halves, slow), HOSTS, HOSTS)] == [Verdict.DEGRADED] * 2


def test_advice_that_fails_is_none() -> None:
    broken = (_found("hca.mtu", node("a"), "x", Verdict.FAIL),)
    assert settled(broken, HOSTS, HOSTS) == broken
