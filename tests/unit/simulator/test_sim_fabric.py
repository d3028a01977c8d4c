"""The paths inside a simulated node: well on every platform and generation, and sick as planted."""

from __future__ import annotations

import pytest

from healthcheck.edge.shipped import shipped_platforms
from healthcheck.model.finding import CheckResult
from healthcheck.model.platform import Platform
from healthcheck.probes import PROBES
from healthcheck.probes.batch import PartOutput, PartState
from healthcheck.probes.probe import Needs
from healthcheck.probes.read import read_node
from healthcheck.simulator.cluster import SimCluster
from healthcheck.simulator.faults import parse_fault
from healthcheck.simulator.generations import GENERATIONS
from healthcheck.simulator.nics import device_names
from healthcheck.simulator.nodes import PARTS
from healthcheck.simulator.nvlinks import cells

LOOKS = ("topology", "pcie", "gpudirect", "acs", "iommu")
PLATFORMS = shipped_platforms()


def judged(platform: Platform, seed: int, *faults: str) -> tuple[CheckResult, ...]:
    cluster = SimCluster(2, platform, seed=seed, faults=[parse_fault(fault) for fault in faults])
    node = cluster.nodes["node01"]
    answers = {
        name: PartOutput(name, 0, PARTS[name](cluster, node, "").rstrip("\n"), "", PartState.ENDED)
        for name in (*LOOKS, "hcas")
    }
    facts = read_node("node01", answers)
    return tuple(result for name in LOOKS for result in PROBES[name].judge(facts, Needs(platform, own_token="hc")))


def against(results: tuple[CheckResult, ...]) -> list[tuple[str, str, str]]:
    """What is not PASS, without the registers that a login without root does not see, and what a machine has not."""
    seen = [(str(result.component), result.verdict.name, result.rule) for result in results]
    assert ("node01", "SKIPPED", "unseen.denied") in seen
    return [
        entry
        for entry in seen
        if entry[1] != "PASS" and entry[2] != "unseen.denied" and not entry[2].endswith(".does_not_apply")
    ]


SWITCHED = {
    name: one for name, one in PLATFORMS.items() if one.has_nvlink and one.has_verbs and min(cells(one)[0][1:]) > 2
}
"""Every two GPUs share enough NVLinks to tell that some are gone; NICs that need GPUDirect RDMA."""


@pytest.mark.parametrize("seed", range(len(GENERATIONS)))
@pytest.mark.parametrize("platform", PLATFORMS.values(), ids=PLATFORMS)
def test_a_healthy_node_has_nothing_against_it(platform: Platform, seed: int) -> None:
    assert against(judged(platform, seed)) == []
    for device in device_names(platform.nics)[:1]:
        assert against(judged(platform, seed, f"node01:hca={device},rate=0.5")) == []


@pytest.mark.parametrize("seed", range(len(GENERATIONS)))
@pytest.mark.parametrize("platform", SWITCHED.values(), ids=SWITCHED)
def test_planted_faults_show_on_the_part_they_are_planted_in(platform: Platform, seed: int) -> None:
    assert against(judged(platform, seed, "node01:nvlink=0.6")) == [("node01/gpu:0", "FAIL", "topology.fewer_links")]
    assert against(judged(platform, seed, "node01:nvlink=0.99")) == [("node01/gpu:0", "FAIL", "topology.fewer_links")]
    assert against(judged(platform, seed, "node01:gdr=off")) == [("node01", "FAIL", "gdr.none")]
