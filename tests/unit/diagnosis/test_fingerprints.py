"""What a number that is too low is consistent with: each kind by its published case, and what looks like nothing."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from healthcheck.diagnosis.catalogue.fingerprints import FINGERPRINT_CAUSES
from healthcheck.diagnosis.causes import BY_CODE, BY_RULE
from healthcheck.diagnosis.explain import findings
from healthcheck.diagnosis.fingerprints import Shape, hints, shape_of
from healthcheck.diagnosis.hinting import SPEAKS_FOR, UNEXPLAINED_SLOWNESS
from healthcheck.edge.shipped import shipped_platforms
from healthcheck.evaluation.transport import CHECKS
from healthcheck.model.algorithm import Algorithm
from healthcheck.model.collective import Collective
from healthcheck.model.component import FABRIC, node
from healthcheck.model.finding import CheckResult, Confidence, Finding
from healthcheck.model.message import say
from healthcheck.model.verdict import Verdict
from tests.unit.evaluation.builders import job

HDR8, HDR4, HDR1 = "a100-sxm4-8gpu-8x200", "a100-sxm4-8gpu-4x200", "a100-sxm4-8gpu-1x200"
H100, H200, B200 = "h100-sxm5-8gpu-8x400", "h200-sxm5-8gpu-8x400", "b200-sxm6-8gpu-8x400"
P4DE, ROCE16 = "a100-sxm4-8gpu-4x100-efa", "a100-sxm4-8gpu-16x100-roce"

# (platform, nodes, reading in GB/s, what it looks like)
LOOKS = (
    # Between nodes: nccl 1048 (one port of four), nccl-tests 128, and every count of eight rails.
    (HDR4, 2, 24.0, ("fewer_nics",)),
    (HDR8, 4, 24.0, ("fewer_nics",)),
    (HDR8, 4, 168.0, ("fewer_nics",)),
    (HDR8, 4, 144.0, ("fewer_nics",)),
    (HDR8, 4, 96.0, ("fewer_nics", "half_of_nics")),
    (HDR4, 2, 49.0, ("half_of_nics",)),  # nccl-tests 106
    (HDR4, 2, 45.0, ("fewer_nics", "half_of_nics")),  # nccl-tests 277: two ports
    (HDR1, 2, 16.0, ("through_cpu",)),  # nccl 412
    (HDR8, 2, 9.5, ("gdr_lost",)),  # nccl 1676: 180 became 10
    (HDR8, 2, 14.0, ("gdr_lost",)),
    (HDR8, 2, 11.0, ("gdr_lost", "ethernet_speed")),
    (HDR8, 2, 4.0, ("tcp_speed",)),  # a3-mega without its plugin
    (HDR4, 3, 2.2, ("tcp_speed",)),
    (HDR8, 2, 1.1, ("ethernet_speed",)),
    (HDR8, 2, 0.11, ("ethernet_speed",)),
    (ROCE16, 2, 11.0, ("fewer_nics", "gdr_lost")),  # one port of its own kind, not one of Ethernet
    # Inside.
    (H100, 1, 367.0, ("nvls_unused",)),
    (H200, 1, 362.0, ("nvls_unused",)),
    (B200, 1, 690.0, ("nvls_unused",)),
    (H100, 2, 330.0, ("nvls_unused",)),  # nccl 1221
    (HDR8, 1, 160.0, ("capped_links",)),  # A800 under the name of an A100
    (H100, 1, 215.0, ("capped_links",)),  # H800 with NVLS
    (H100, 1, 160.0, ("capped_links",)),  # H800 without
    (HDR8, 1, 20.0, ("pcie_speed",)),  # nccl-tests 178
    (H100, 1, 45.0, ("pcie_speed",)),
    (H100, 1, 22.0, ("pcie_speed",)),
    (HDR8, 1, 8.0, ("host_memory_speed",)),  # nccl 841
    (HDR8, 1, 13.0, ("host_memory_speed",)),
    (HDR8, 1, 3.0, ("network_inside",)),
    ("a100-pcie-8gpu", 1, 8.0, ("host_memory_speed",)),
)
# Healthy, or in no range.
NOTHING = (
    *((HDR8, nodes, reading) for nodes, reading in ((1, 231.0), (1, 209.0), (2, 192.0), (4, 173.0))),
    *((HDR4, 2, 88.0), (HDR1, 2, 24.0), (P4DE, 2, 78.0), (ROCE16, 2, 185.0)),
    *((H100, nodes, reading) for nodes, reading in ((1, 478.0), (1, 440.0), (2, 430.0), (4, 320.0))),
    *((HDR8, 4, reading) for reading in (155.0, 137.0, 85.0, 60.0, 33.0, 17.5, 1.6, 0.5, 0.05)),
    *((HDR8, 1, reading) for reading in (190.0, 120.0, 60.0, 30.0, 16.0, 6.5)),
    *((H100, 1, reading) for reading in (410.0, 390.0, 345.0, 300.0, 120.0, 30.0)),
    (H100, 2, 216.0),  # a tree over two nodes hides how many NICs there are
    (HDR8, 1, 0.0),
)


def looks(name: str, shape: Shape, reading: float) -> tuple[str, ...]:
    return tuple(hint.cause for hint in hints(shipped_platforms()[name], shape, reading))


@pytest.mark.parametrize(("name", "nodes", "reading", "expected"), LOOKS)
def test_a_number_looks_like_its_published_case(
    name: str, nodes: int, reading: float, expected: tuple[str, ...]
) -> None:
    assert looks(name, Shape(nodes), reading) == expected


@pytest.mark.parametrize(("name", "nodes", "reading"), NOTHING)
def test_a_healthy_number_and_one_between_two_shapes_look_like_nothing(name: str, nodes: int, reading: float) -> None:
    assert looks(name, Shape(nodes), reading) == ()


def test_the_sentence_counts_the_cards() -> None:
    (seven,) = hints(shipped_platforms()[HDR8], Shape(4), 168.0)
    assert str(seven.message) == "7 of 8 network cards at 24 GB/s each"


def test_what_a_job_forces_or_leaves_out_is_no_fault() -> None:
    assert looks(H100, Shape(1, algorithm=Algorithm.RING), 367.0) == ()
    assert looks(H100, Shape(1, gpus=4), 363.0) == ()  # so few GPUs use no NVLS
    assert looks(HDR8, Shape(2, gpus=1), 24.0) == ()  # one GPU of eight drives one NIC of eight


def test_only_collectives_around_a_ring_tell_anything() -> None:
    assert looks(HDR8, Shape(4, Collective.ALL_GATHER), 24.0) == ("fewer_nics",)
    for collective in (Collective.ALLTOALL, Collective.SENDRECV, Collective.HYPERCUBE):
        assert looks(HDR8, Shape(4, collective), 24.0) == ()


def test_the_shape_of_a_job_is_what_it_asked_for() -> None:
    platform = shipped_platforms()[HDR8]
    forced = replace(job(2, 4), env=(("NCCL_ALGO", "Ring"),))
    assert shape_of(forced, platform) == Shape(2, Collective.ALL_REDUCE, 4, Algorithm.RING)
    assert shape_of(job(1), platform) == Shape(1)


# --- In a finding.

HOSTS = ("node01", "node02")


def slow(reading: float, verdict: Verdict, rule: str, hosts: tuple[str, ...] = HOSTS) -> CheckResult:
    component = FABRIC if len(hosts) > 1 else node(hosts[0])
    message = say("rules.not_judged")
    return CheckResult("bandwidth.busbw", component, verdict, message, rule, "s", reading, 200.0, "GB/s", job="j")


def looked(check: str, rule: str, verdict: Verdict, *hosts: str) -> tuple[CheckResult, ...]:
    message = say("nccl.nics_fewer", used=1, expected=8)
    return tuple(CheckResult(check, node(host), verdict, message, rule, "s", job="j") for host in hosts)


def explained(
    *checks: CheckResult, name: str = HDR8, hosts: tuple[str, ...] = HOSTS, known: bool = True
) -> tuple[Finding, ...]:
    shapes = {"j": Shape(len(hosts))} if known else {}
    return findings(checks, {}, "run", {"j": hosts}, shapes=shapes, platform=shipped_platforms()[name])


def test_a_number_alone_is_a_suspicion() -> None:
    (found,) = explained(slow(24.0, Verdict.FAIL, "peak.below_broken"))
    assert (found.cause.code, found.confidence) == ("cause.fewer_nics", Confidence.SUSPECTED)
    assert str(found.cause) == "as fast as 1 of 8 network cards"
    assert "24 GB/s is consistent with 1 of 8 network cards at 23.8 GB/s each" in map(str, found.evidence_for)


def test_a_line_that_speaks_for_it_makes_it_likely() -> None:
    """Somebody who switches NVLS off for a run reads what a ring reads; that NCCL obeyed is no fault of the node."""
    check = slow(367.0, Verdict.DEGRADED, "known_good.below", ("node01",))
    beside = looked("nccl.nvls", "nvls.as_asked", Verdict.SKIPPED, "node01")
    (found,) = explained(check, *beside, name=H100, hosts=("node01",))
    assert (found.cause.code, found.confidence) == ("cause.nvls_unused", Confidence.LIKELY)
    found_by_card = explained(
        slow(154.0, Verdict.DEGRADED, "peak.below_healthy", ("node01",)),
        *looked("gpu.model", "gpu.other_model", Verdict.INCONCLUSIVE, "node01"),
        hosts=("node01",),
    )
    assert ("cause.capped_links", Confidence.LIKELY) in {(one.cause.code, one.confidence) for one in found_by_card}


def test_what_is_wrong_on_a_node_goes_before_what_the_number_looks_like() -> None:
    beside = looked("nccl.nics", "nics.fewer", Verdict.DEGRADED, "node02")
    found = {one.component.text: one for one in explained(slow(24.0, Verdict.FAIL, "peak.below_broken"), *beside)}
    assert {name: one.cause.code for name, one in found.items()} == {
        "node02": "cause.nics_unused",
        "fabric": "cause.follows_from",
    }


def test_what_every_node_disproves_is_not_said() -> None:
    check = slow(24.0, Verdict.FAIL, "peak.below_broken")
    (found,) = explained(check, *looked("nccl.nics", "nics.all", Verdict.PASS, *HOSTS))
    assert found.cause.code == "cause.far_below_peak"
    (found,) = explained(check, *looked("nccl.nics", "nics.all", Verdict.PASS, "node01"))
    assert found.cause.code == "cause.fewer_nics"


def test_what_the_log_speaks_for_goes_first() -> None:
    check = slow(96.0, Verdict.FAIL, "peak.below_broken")
    (found,) = explained(check)
    assert (found.cause.code, found.confidence) == ("cause.fewer_nics", Confidence.SUSPECTED)
    assert "; or half of the 200 GB/s" in "".join(map(str, found.evidence_for))
    (found,) = explained(check, *looked("nccl.gdr", "gdr.as_asked", Verdict.SKIPPED, "node01"))
    assert (found.cause.code, found.confidence) == ("cause.half_of_nics", Confidence.LIKELY)
    (found,) = explained(check, *looked("nccl.nics", "nics.all", Verdict.PASS, *HOSTS))
    assert (found.cause.code, found.confidence) == ("cause.half_of_nics", Confidence.SUSPECTED)


def test_a_node_alone_is_told_against_its_own_log() -> None:
    check = slow(367.0, Verdict.DEGRADED, "known_good.below", ("node01",))
    (found,) = explained(check, name=H100, hosts=("node01",))
    assert (found.cause.code, found.confidence) == ("cause.nvls_unused", Confidence.SUSPECTED)
    disproved = looked("nccl.nvls", "nvls.on", Verdict.PASS, "node01")
    (found,) = explained(check, *disproved, name=H100, hosts=("node01",))
    assert found.cause.code == "cause.below_known_good"


def test_what_was_measured_explains_it_and_no_likeness_is_sought() -> None:
    over_tcp = looked("nccl.transport", "transport.socket", Verdict.FAIL, *HOSTS)
    found = explained(slow(4.0, Verdict.FAIL, "peak.below_broken"), *over_tcp)
    assert {one.cause.code for one in found} == {"cause.tcp_fallback"}


def test_a_job_of_which_nothing_is_known_looks_like_nothing() -> None:
    (found,) = explained(slow(24.0, Verdict.FAIL, "peak.below_broken"), known=False)
    assert found.cause.code == "cause.far_below_peak"


def test_the_rules_that_speak_for_a_likeness_are_rules_of_the_code() -> None:
    """`as_asked` is made of the name of the check (evaluation/transport.py)."""
    asked = {f"{check.partition('.')[2]}.as_asked" for check in CHECKS}
    assert {rule for rules in SPEAKS_FOR.values() for rule in rules} <= set(BY_RULE) | asked
    assert set(SPEAKS_FOR) == {cause.code for cause in FINGERPRINT_CAUSES}
    assert set(BY_CODE) >= UNEXPLAINED_SLOWNESS
