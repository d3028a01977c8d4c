"""What simulated nodes say about their network: well when healthy, and as a bad cable where one is planted."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from healthcheck.model.finding import CheckResult
from healthcheck.model.node import NodeFacts
from healthcheck.model.verdict import Verdict
from healthcheck.probes import PROBES, hca_counters, hcas, verbs
from healthcheck.probes.batch import batch_argv, split
from healthcheck.probes.probe import Needs
from healthcheck.probes.read import read_node
from healthcheck.simulator.answers import answer
from healthcheck.simulator.cluster import SimCluster
from tests.unit.simulator.sim import A100, cluster

BEGAN_AT = 1_790_000_000.0
LOOKS = (hcas.NAME, hca_counters.NAME, verbs.NAME)


def look(sim: SimCluster, name: str, seconds: float) -> NodeFacts:
    sim.now = lambda: BEGAN_AT + seconds
    host = next(host for host in sim.hosts() if host.name == name)
    reply = answer(sim, host, batch_argv((hcas.part(), hca_counters.part(), verbs.part()), "n0nce"), {})
    return read_node(name, split(reply.stdout, "n0nce"))


def results(sim: SimCluster, name: str = "node05") -> list[CheckResult]:
    needs = Needs(sim.platform, own_token="hc-own", began_at=BEGAN_AT)
    before, after = look(sim, name, 0.0), look(sim, name, 90.0)
    found = [result for probe in LOOKS for result in PROBES[probe].judge(before, needs)]
    return [*found, *hca_counters.judge_after(before, after, needs)]


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_healthy_node_passes_every_look_at_its_network(seed: int) -> None:
    found = results(cluster(seed=seed))
    assert {result.verdict for result in found} == {Verdict.PASS}
    assert {result.check for result in found} == {check for probe in LOOKS for check in PROBES[probe].checks}


def test_a_port_at_half_rate_is_a_cable_that_makes_errors() -> None:
    bad = [result for result in results(cluster("node05:hca=mlx5_2,rate=0.5")) if result.verdict is not Verdict.PASS]
    assert [(str(result.component), result.rule) for result in bad] == [
        ("node05/hca:mlx5_2", "hca.rate_broken"),
        ("node05/hca:mlx5_2", "hca.link_errors"),
    ]


def test_a_port_that_is_down_is_silent_and_said_once() -> None:
    bad = [result.rule for result in results(cluster("node05:hca=mlx5_2,down")) if result.verdict is not Verdict.PASS]
    assert bad == ["hca.inactive", "hca.down"]


def test_all_nodes_have_the_same_settings() -> None:
    sim = cluster()
    assert len({hcas.settings(look(sim, name, 0.0)) for name in sim.nodes}) == 1


def test_a_machine_with_efa_has_nothing_against_it() -> None:
    found = results(cluster(platform=replace(A100, nics=replace(A100.nics, link_layer="EFA"))))
    assert {result.verdict for result in found} == {Verdict.PASS, Verdict.SKIPPED}
