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
from healthcheck.simulator.nodes import PARTS

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
    """What is not PASS, without the registers that a login without root does not see."""
    seen = [(str(result.component), result.verdict.name, result.rule) for result in results]
    assert ("node01", "SKIPPED", "unseen.denied") in seen
    return [entry for entry in seen if entry[1] != "PASS" and entry[2] != "unseen.denied"]


@pytest.mark.parametrize("seed", range(len(GENERATIONS)))
@pytest.mark.parametrize("platform", PLATFORMS.values(), ids=PLATFORMS)
def test_a_healthy_node_has_nothing_against_it(platform: Platform, seed: int) -> None:
    assert against(judged(platform, seed)) == []
    assert against(judged(platform, seed, "node01:hca=mlx5_0,rate=0.5")) == []


@pytest.mark.parametrize("seed", range(len(GENERATIONS)))
@pytest.mark.parametrize("platform", PLATFORMS.values(), ids=PLATFORMS)
def test_planted_faults_show_on_the_part_they_are_planted_in(platform: Platform, seed: int) -> None:
    assert against(judged(platform, seed, "node01:nvlink=0.6")) == [("node01/gpu:0", "FAIL", "topology.fewer_links")]
    assert against(judged(platform, seed, "node01:nvlink=0.99")) == [("node01/gpu:0", "FAIL", "topology.fewer_links")]
    assert against(judged(platform, seed, "node01:gdr=off")) == [("node01", "FAIL", "gdr.none")]
