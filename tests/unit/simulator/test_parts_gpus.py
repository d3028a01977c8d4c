"""Simulated nodes tell of their GPUs as real ones do: every model, every generation, and the planted faults."""

from __future__ import annotations

import pytest

from healthcheck.edge.shipped import shipped_platforms
from healthcheck.model.finding import CheckResult
from healthcheck.model.node import NodeFacts
from healthcheck.model.platform import Platform
from healthcheck.model.verdict import Verdict
from healthcheck.probes import PROBES
from healthcheck.probes.batch import batch_argv, split
from healthcheck.probes.probe import Needs
from healthcheck.probes.read import probe_parts, read_node
from healthcheck.probes.settings import settings
from healthcheck.simulator.cluster import SimCluster
from healthcheck.simulator.faults import parse_fault
from healthcheck.simulator.generations import GENERATIONS
from healthcheck.simulator.nodes import probe_batch

LOOKS = ("gpu_state", "gpu_memory", "nvlink", "fabric")
SHIPPED = shipped_platforms()
A100 = SHIPPED["a100-sxm4-8gpu-8x200"]


def facts(platform: Platform, seed: int = 0, fault: str | None = None) -> NodeFacts:
    cluster = SimCluster(1, platform, seed, [parse_fault(fault)] if fault is not None else [])
    arguments = batch_argv(probe_parts(None), "0")[4:]
    node = cluster.node("node01")
    assert node is not None
    return read_node("node01", split(probe_batch(cluster, node, arguments).stdout, "0"))


def judged(found: NodeFacts, platform: Platform) -> list[CheckResult]:
    needs = Needs(platform, "hc-own")
    return [result for name in LOOKS for result in PROBES[name].judge(found, needs)]


@pytest.mark.parametrize("seed", range(len(GENERATIONS)))
@pytest.mark.parametrize(
    "platform",
    [
        *SHIPPED.values(),
    ],
    ids=lambda platform: platform.name,
)
def test_a_healthy_node_of_any_kind_raises_nothing(platform: Platform, seed: int) -> None:
    results = judged(facts(platform, seed), platform)
    assert [
        result
        for result in results
        if result.verdict is not Verdict.PASS and not result.rule.endswith(".does_not_apply")
    ] == []
    assert {"gpu.mode", "gpu.ecc", "gpu.pcie", "gpu.clocks", "gpu.rows"} <= {
        result.check for result in results if result.verdict is Verdict.PASS
    }


def test_each_generation_speaks_its_own_dialect() -> None:
    headers = []
    for seed in range(len(GENERATIONS)):
        states = facts(A100, seed).gpu_state.value
        assert states is not None
        headers.append(states.header)
    by_driver = dict(zip((one.driver_major for one in GENERATIONS), headers, strict=True))
    assert "clocks_throttle_reasons" in by_driver[525]
    assert "fabric.state" not in by_driver[525]
    assert "clocks_event_reasons" in by_driver[550]
    assert "gpu_recovery_action" in by_driver[570]


@pytest.mark.parametrize(("share", "active"), [("0.6", 7), ("0.99", 11), ("0.01", 1)])
def test_weak_nvlinks_are_inactive_links_of_the_first_gpu(share: str, active: int) -> None:
    sick = [
        result for result in judged(facts(A100, fault=f"node01:nvlink={share}"), A100) if result.verdict > Verdict.PASS
    ]
    assert [(str(result.component), result.rule, result.observed) for result in sick] == [
        ("node01/gpu:0", "nvlink.inactive", float(active))
    ]


def test_the_fabric_manager_has_the_version_of_an_odd_driver() -> None:
    found = facts(A100, fault="node01:driver=535.54.03")
    assert found.fabric.value is not None
    assert found.fabric.value.version == "535.54.03"
    assert [result for result in judged(found, A100) if result.verdict > Verdict.PASS] == []


def test_every_look_names_the_same_gpus() -> None:
    found = facts(A100)
    listed = [gpu.uuid for gpu in found.gpus.value or ()]
    assert found.gpu_state.value is not None
    assert [gpu.uuid for gpu in found.gpu_state.value.gpus] == listed
    assert [row.uuid for row in found.gpu_memory.value or ()] == listed
    assert len(found.nvlink.value or ()) == len(listed) == 8


def test_versions_of_a_node_can_be_compared_with_others() -> None:
    """VBIOS and fabric manager are what GPUs of one model may differ in."""
    told = dict(settings(facts(A100)))
    generation = GENERATIONS[0]
    assert (told["vbios"], told["fabric_manager"]) == (generation.vbios, generation.driver)
    assert (told["ecc"], told["persistence"]) == ("Enabled", "Enabled")
