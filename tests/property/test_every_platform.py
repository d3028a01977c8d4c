"""Every shipped platform in the simulator: healthy nodes pass, are told from all others, and sick ones are named."""

from __future__ import annotations

import math

import pytest

from benchmarks.faults import MAY_BE_UNSEEN, NOT_HERE, Case, checked_up, wrong
from healthcheck.edge.shipped import shipped_platforms
from healthcheck.evaluation.known_good import reference
from healthcheck.evaluation.peaks import ABOVE_CEILING, ceiling_gbyte_s, peak
from healthcheck.model.algorithm import Algorithm
from healthcheck.model.collective import Collective
from healthcheck.model.finding import CheckResult
from healthcheck.model.platform import Platform
from healthcheck.model.record import RunRecord
from healthcheck.model.verdict import Verdict
from healthcheck.simulator.bandwidth import Job, NodeCapability, plateau_gbyte_s
from healthcheck.simulator.expected import expected, primary
from healthcheck.simulator.faults import DipFault, NoiseFault, parse_fault
from healthcheck.simulator.generations import GENERATIONS

SHIPPED = shipped_platforms()
LEAST_OF_KNOWN = 0.98
"""The sizes of a quick run are a little below the plateau, and nodes differ."""


def not_well(record: RunRecord) -> list[CheckResult]:
    """Checks that are neither PASS nor said to be hidden from this user or not applicable to the machine."""
    return [
        check
        for check in record.checks
        if check.verdict is not Verdict.PASS
        and not (check.verdict is Verdict.SKIPPED and (check.rule in MAY_BE_UNSEEN or check.rule.endswith(NOT_HERE)))
    ]


def read(record: RunRecord, stage: str) -> list[float]:
    """Bus bandwidths in GB/s."""
    return [
        check.observed
        for check in record.checks
        if check.check == "bandwidth.busbw" and check.stage == stage and check.observed is not None
    ]


@pytest.mark.parametrize("name", SHIPPED)
def test_every_platform_is_healthy_in_the_simulator(name: str) -> None:
    """Found by itself, too: no two of the shipped platforms look alike."""
    platform, nodes = SHIPPED[name], 4
    record = checked_up(name, nodes=nodes, detect=True)
    assert record.platform is not None and record.platform.name == name
    alone = read(record, "single_node")
    known = reference(platform, 1)
    assert len(alone) == nodes
    if known is not None:
        assert min(alone) >= LEAST_OF_KNOWN * known.value
    doubts = not_well(record)
    if peak(platform, nodes) is not None:
        assert (record.verdict, doubts, record.findings) == (Verdict.PASS, [], ())
        return
    assert record.verdict is Verdict.INCONCLUSIVE
    assert [(check.check, check.stage, check.rule) for check in doubts] == [
        ("bandwidth.busbw", "multi_node", "limits.no_peak")
    ]
    assert [finding.cause.code for finding in record.findings] == ["cause.no_bound"]
    assert len(record.healthy_hosts) == 0 or record.exit_code != 0


@pytest.mark.parametrize("seed", range(1, len(GENERATIONS)))
@pytest.mark.parametrize("name", SHIPPED)
def test_with_any_software_the_nodes_by_themselves_have_nothing_against_them(name: str, seed: int) -> None:
    record = checked_up(name, seed=seed, nodes=2)
    assert [check for check in not_well(record) if check.stage != "multi_node"] == []


def job(platform: Platform, nodes: int, algorithm: Algorithm | None, gpus: int, nvls: bool = True) -> Job:
    """An all_reduce of healthy nodes, but for NVLS."""
    one = NodeCapability(1.0, (1.0,) * platform.nics.count, nvls=nvls)
    return Job(
        platform,
        Collective.ALL_REDUCE,
        (one,) * nodes,
        (gpus,) * nodes,
        gpus * nodes,
        algorithm=algorithm,
    )


@pytest.mark.parametrize("nodes", [1, 2, 3, 4, 8, 18, 64])
@pytest.mark.parametrize("name", SHIPPED)
def test_healthy_machines_read_what_is_known_of_them_and_never_what_cannot_be(name: str, nodes: int) -> None:
    platform = SHIPPED[name]
    for algorithm in (None, Algorithm.RING):
        for gpus in (2, platform.gpu.count // 2, platform.gpu.count):
            reads = plateau_gbyte_s(job(platform, nodes, algorithm, max(1, gpus)))
            known = reference(platform, nodes, gpus=gpus, algorithm=algorithm)
            assert known is None or known.value <= reads <= 1.15 * known.value
            ceiling = ceiling_gbyte_s(platform, nodes, Collective.ALL_REDUCE, gpus=gpus)
            assert 0 < reads < (math.inf if ceiling is None else ceiling / ABOVE_CEILING)


@pytest.mark.parametrize("name", [name for name, one in SHIPPED.items() if one.has_nvls and one.gpu.count == 8])
def test_without_nvls_a_node_reads_what_a_ring_reads_and_four_gpus_as_ever(name: str) -> None:
    platform = SHIPPED[name]
    reads, ring, lost = (
        plateau_gbyte_s(job(platform, 1, *how)) for how in ((None, 8), (Algorithm.RING, 8), (None, 8, False))
    )
    assert lost == ring < 0.85 * reads
    assert plateau_gbyte_s(job(platform, 1, None, 4)) == plateau_gbyte_s(job(platform, 1, None, 4, False))


SICK = (
    ("h100-sxm5-8gpu-8x400", "nvls=off"),
    ("h100-sxm5-8gpu-8x400", "hca=mlx5_2,down"),
    ("h200-sxm5-8gpu-16x200-efa", "hca=rdmap80s0,down"),
    ("a100-sxm4-8gpu-4x100-efa", "hca=rdmap32s27,rate=0.5"),
    ("a100-sxm4-8gpu-4x100-efa", "socket"),
    ("b200-sxm6-8gpu-8x400", "nvls=off"),
    ("gb200-4gpu-4x400", "nvlink=0.6"),
    ("v100-sxm2-8gpu-4x100", "nvlink=0.6"),
)


@pytest.mark.parametrize(("name", "fault"), SICK)
def test_a_sick_node_is_named_with_its_cause(name: str, fault: str) -> None:
    planted = f"node02:{fault}"
    assert wrong(Case((planted,), 0), checked_up(name, (planted,), nodes=4)) == []


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("a100-pcie-8gpu", "corrupt"),
        ("a100-pcie-2gpu-bridged", "nvlink=0.5"),
        ("h100-pcie-8gpu", "gpus=7"),
        ("h800-sxm5-8gpu", "nvls=off"),
    ],
)
def test_it_is_named_also_where_nothing_between_nodes_is_judged(name: str, fault: str) -> None:
    planted = f"node02:{fault}"
    findings = primary(checked_up(name, (planted,), nodes=4).findings)
    fault_of_node = parse_fault(planted)
    assert not isinstance(fault_of_node, NoiseFault | DipFault)
    assert [found for found in findings if not expected(fault_of_node).met_by(found)] == [
        found for found in findings if found.cause.code == "cause.no_bound"
    ]
    assert len(findings) == 2
