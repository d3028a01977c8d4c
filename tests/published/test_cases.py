"""Numbers that others have published, through our own judgement: what they call sick is sick, and what works is well.

The sources stand in the platform files and beside each case.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from healthcheck.__main__ import run
from healthcheck.diagnosis.search import Ending, Searching
from healthcheck.edge.shipped import shipped_platforms
from healthcheck.evaluation.transport import judge_transport
from healthcheck.model.finding import Confidence
from healthcheck.model.platform import Sourced
from healthcheck.model.search import FullReading, PairReading, PairRound, Problem, Standing
from healthcheck.model.verdict import Verdict
from tests.published.judged import bandwidth, explained, judgements, machine, measured, on_node
from tests.published.tables import printed
from tests.unit.evaluation.nccl_nodes import HEALTHY, log

HDR8, HDR4, HDR1 = "a100-sxm4-8gpu-8x200", "a100-sxm4-8gpu-4x200", "a100-sxm4-8gpu-1x200"
H100, P4DE, BRIDGED = "h100-sxm5-8gpu-8x400", "a100-sxm4-8gpu-4x100-efa", "a100-pcie-2gpu-bridged"


def judged_alone(reading: float, name: str, nodes: int, algorithm: str = "") -> tuple[Verdict, str]:
    """(verdict, rule) of one job."""
    platform = machine(name)
    found = bandwidth(judgements([measured(reading, platform, nodes, algorithm)], platform)[0])
    return found.verdict, found.rule


# (reading, platform, nodes, verdict, rule)
READINGS = (
    # https://github.com/NVIDIA/nccl-tests/issues/106: 88 is normal on 4 x 200 Gb/s
    (88.0, HDR4, 2, Verdict.PASS, "peak.healthy"),
    (49.0, HDR4, 2, Verdict.FAIL, "peak.below_broken"),
    # One of eight rails lost is 87.5 % of what is normal, one of four 75 %.
    (192.0, HDR8, 2, Verdict.PASS, "peak.healthy"),
    (192.0 * 7 / 8, HDR8, 2, Verdict.DEGRADED, "known_good.below"),
    (86.0 * 3 / 4, HDR4, 2, Verdict.DEGRADED, "peak.below_healthy"),
    # https://github.com/NVIDIA/nccl/issues/1048: one port of four in use
    (24.0, HDR4, 2, Verdict.FAIL, "peak.below_broken"),
    (24.0, HDR1, 2, Verdict.PASS, "peak.healthy"),
    # https://github.com/NVIDIA/nccl/issues/412: the NIC behind the CPU
    (16.0, HDR1, 2, Verdict.DEGRADED, "peak.below_healthy"),
    # https://github.com/Azure/AI-benchmarking-guide
    (231.6, HDR8, 1, Verdict.PASS, "peak.healthy"),
    (231.0, HDR8, 1, Verdict.PASS, "peak.healthy"),
    (478.9, H100, 1, Verdict.PASS, "peak.healthy"),
    # https://github.com/stas00/ml-engineering: NVLS off
    (367.0, H100, 1, Verdict.DEGRADED, "known_good.below"),
    (482.0, "h200-sxm5-8gpu-8x400", 1, Verdict.PASS, "peak.healthy"),
    (367.0, "h200-sxm5-8gpu-8x400", 1, Verdict.DEGRADED, "known_good.below"),
    (682.0, "b200-sxm6-8gpu-8x400", 1, Verdict.DEGRADED, "known_good.below"),
    # https://github.com/NVIDIA/nccl/issues/1221 and others: more than two nodes without SHARP
    (320.0, H100, 4, Verdict.PASS, "peak.healthy"),
    (471.0, H100, 2, Verdict.PASS, "peak.healthy"),
    (487.9, "h100-sxm5-8gpu-32x100-efa", 2, Verdict.PASS, "peak.healthy"),
    # https://github.com/awslabs/awsome-distributed-training: 57 % above the sum of its NICs
    (78.3, P4DE, 2, Verdict.PASS, "peak.healthy"),
    (78.0, P4DE, 2, Verdict.PASS, "peak.healthy"),
    # https://github.com/NVIDIA/nccl-tests/issues/178: 69 % of the line rate, 87 % of what the bridge can deliver
    (208.0, BRIDGED, 1, Verdict.PASS, "peak.healthy"),
    # https://github.com/NVIDIA/nccl/issues/1161, reported as too low
    (116.0, "h100-pcie-2gpu-bridged", 1, Verdict.FAIL, "peak.below_broken"),
    # https://github.com/NVIDIA/nccl/issues/841: before and after the IOMMU was switched off
    (8.0, "a100-pcie-8gpu", 1, Verdict.FAIL, "peak.below_broken"),
    (21.0, "a100-pcie-8gpu", 1, Verdict.PASS, "peak.healthy"),
    # https://github.com/NVIDIA/nccl/issues/1676: GPUDirect RDMA silently lost
    (10.0, HDR8, 2, Verdict.FAIL, "peak.below_broken"),
)


@pytest.mark.parametrize(("reading", "name", "nodes", "verdict", "rule"), READINGS)
def test_a_published_reading(reading: float, name: str, nodes: int, verdict: Verdict, rule: str) -> None:
    assert judged_alone(reading, name, nodes) == (verdict, rule)


def test_the_bridged_pair_is_judged_by_what_its_bridge_delivers() -> None:
    found = bandwidth(judgements([measured(208.0, machine(BRIDGED))], machine(BRIDGED))[0])
    assert found.expected == 240
    assert "87 %" in str(found.message)
    line = machine(BRIDGED).line_rate_gbyte_s
    assert line is not None and round(100 * 208 / line.value) == 69


def test_two_p4de_above_the_sum_of_their_nics_are_neither_broken_nor_impossible() -> None:
    found = bandwidth(judgements([measured(78.0, machine(P4DE), 2)], machine(P4DE))[0])
    assert machine(P4DE).nic_sum_gbyte_s == 50 and found.expected == 50
    assert found.verdict is Verdict.PASS and "156 %" in str(found.message)
    assert explained(judgements([measured(78.0, machine(P4DE), 2)], machine(P4DE)), machine(P4DE)) == ()
    # Twice its NICs would be more than a tree can do.
    assert judged_alone(100.0, P4DE, 2)[0] is Verdict.INCONCLUSIVE


def test_h100_without_nvls_is_told_why() -> None:
    platform = machine(H100)
    judged = judgements([measured(367.0, platform)], platform)
    (found,) = explained(judged, platform)
    assert (found.verdict, found.cause.code) == (Verdict.DEGRADED, "cause.nvls_unused")
    assert "NVLS is not used" in str(found.cause)
    assert found.confidence is Confidence.SUSPECTED
    assert any("367 GB/s with a ring and 478" in str(message) for message in found.evidence_for)


def test_a_ring_that_was_asked_for_is_compared_with_rings() -> None:
    assert judged_alone(367.0, H100, 1, "Ring") == (Verdict.PASS, "peak.healthy")


def test_one_lost_rail_of_eight_is_told() -> None:
    platform = machine(HDR8)
    (found,) = explained(judgements([measured(168.0, platform, 2)], platform), platform)
    assert (found.verdict, found.cause.code) == (Verdict.DEGRADED, "cause.fewer_nics")
    assert str(found.cause) == "as fast as 7 of 8 network cards"


def test_tcp_instead_of_infiniband_fails_with_its_cause() -> None:
    """a3-mega without its plugin: about 4. NCCL's own log names it, and a number alone is a suspicion."""
    platform = machine(HDR8)
    done = [measured(4.0, platform, 2)]
    over_tcp = (*HEALTHY[:1], "NET/IB : No device found.", "Using network Socket", *HEALTHY[-1:])
    logs = [log(*over_tcp, host=host) for host in done[0].job.hosts]
    ways = judge_transport(done[0].job, logs, platform)
    judged = judgements(done, platform, ways)
    assert bandwidth(judged[0]).verdict is Verdict.FAIL
    told = explained(judged, platform, ways)
    assert {(str(found.component), found.cause.code, found.confidence) for found in told} == {
        (host, "cause.tcp_fallback", Confidence.CONFIRMED) for host in ("node01", "node02")
    }
    (alone,) = explained(judgements(done, platform), platform)
    assert (alone.verdict, alone.cause.code) == (Verdict.FAIL, "cause.tcp_speed")
    assert alone.confidence is Confidence.SUSPECTED


def test_eight_of_sixty_nodes_are_outliers_and_the_others_are_not() -> None:
    """Straggler report of 60 nodes with 400 GB/s of NIC: 332.7 is normal, eight read 309 to 313.

    Held against each other only, as if each had been measured alone.
    """
    of_nics = Sourced(400.0, "8 x 400 Gb/s")
    platform = replace(machine(H100), intra_busbw_gbyte_s=of_nics, known_good_gbyte_s=())
    low = (309.0, 309.7, 310.2, 310.9, 311.4, 312.0, 312.6, 313.0)
    usual = [332.7 + 0.15 * (index % 7 - 3) for index in range(52)]  # z of -9 to -13: others scatter by half a percent
    readings = {f"node{index + 1:02d}": value for index, value in enumerate((*usual[:30], *low, *usual[30:]))}
    outcomes = [on_node(measured(value, platform), host) for host, value in readings.items()]
    found = {host: bandwidth(one) for host, one in zip(readings, judgements(outcomes, platform), strict=True)}
    outliers = {host: check for host, check in found.items() if check.verdict is not Verdict.PASS}
    assert set(outliers) == {host for host, value in readings.items() if value in low}
    assert {(check.verdict, check.rule) for check in outliers.values()} == {(Verdict.DEGRADED, "peers.outlier")}
    assert {check.confidence for check in outliers.values()} == {Confidence.CONFIRMED}
    # Percent of peak alone sees nothing.
    assert {rule.verdict for check in outliers.values() for rule in check.rules if rule.rule == "peak"} == {
        Verdict.PASS
    }


def test_the_slow_node_of_a_pair_is_confirmed_by_the_search() -> None:
    """nccl-tests 106: some pairs read 49 where 88 is normal, and its reader asks which node it is."""
    hosts = tuple(f"node{number:02d}" for number in range(1, 17))
    searching = Searching(Problem(hosts, ("one",) * 8 + ("two",) * 8, 1 - 49 / 88), lambda nodes: 88.0)

    def reads(*of: str) -> float:
        return 49.0 if "node06" in of else 88.0

    steps = searching.steps()
    step = next(steps)
    try:
        while True:
            if isinstance(step, PairRound):
                pairs = step.pairs
                step = steps.send([PairReading(step.round, p.a, p.b, p.purpose, reads(p.a, p.b)) for p in pairs])
            else:
                step = steps.send([FullReading(step.round, order, reads(*order), 88.0) for order in step.orders])
    except StopIteration as stop:
        assert stop.value is Ending.VERIFIED
    assert searching.view.standing(Standing.CONFIRMED) == ("node06",)
    assert searching.view.standing(Standing.LIKELY, Standing.SUSPECTED) == ()


# (reading, platform, nodes, GPUs, exit code, verdict, cause of the first hint)
SAVED = (
    (49.0, HDR4, 2, 8, 1, "FAIL", "cause.half_of_nics"),
    (88.0, HDR4, 2, 8, 0, "PASS", None),
    (367.0, H100, 1, 8, 4, "DEGRADED", "cause.nvls_unused"),
    (168.0, HDR8, 2, 8, 4, "DEGRADED", "cause.fewer_nics"),
    (231.0, HDR8, 1, 8, 0, "PASS", None),
    (78.0, P4DE, 2, 8, 0, "PASS", None),
    (208.0, BRIDGED, 1, 2, 0, "PASS", None),
    (4.0, HDR8, 2, 8, 1, "FAIL", "cause.tcp_speed"),
    (72.0, "a100-sxm4-4gpu-4x200", 1, 2, 0, "PASS", None),  # nccl-tests 331: a pair has four links, not twelve
    (363.0, H100, 1, 4, 0, "PASS", None),  # four GPUs of an H100 use no NVLS
)


@pytest.mark.parametrize(("reading", "name", "nodes", "gpus", "code", "verdict", "cause"), SAVED)
def test_a_saved_table_is_judged_alike(
    reading: float,
    name: str,
    nodes: int,
    gpus: int,
    code: int,
    verdict: str,
    cause: str | None,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    saved = tmp_path / "saved.log"
    model = f"NVIDIA {shipped_platforms()[name].gpu.names[0]}"
    saved.write_text(printed(reading, nodes, gpus, model))
    assert run(["parse", "--json", "--platform", name, str(saved)]) == code
    (table,) = json.loads(capsys.readouterr().out)["files"][0]["tables"]
    assert (table["verdict"], table["hints"][0]["cause"] if table["hints"] else None) == (verdict, cause)
    assert run(["parse", "--platform", name, str(saved)]) == code
    assert ("consistent with: " in capsys.readouterr().out) == (cause is not None)


def test_without_a_platform_nothing_is_said_of_what_it_looks_like(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    saved = tmp_path / "saved.log"
    saved.write_text(printed(4.0, 2))
    assert run(["parse", "--json", str(saved)]) == 0
    assert "hints" not in json.loads(capsys.readouterr().out)["files"][0]["tables"][0]
