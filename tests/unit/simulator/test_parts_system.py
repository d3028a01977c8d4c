"""The system of a simulated node: well on every node, of its generation, and silent about faults that it cannot see."""

from __future__ import annotations

import pytest

from healthcheck.model.node import NodeFacts
from healthcheck.model.verdict import Verdict
from healthcheck.probes import PROBES
from healthcheck.probes.batch import batch_argv, split
from healthcheck.probes.probe import Needs
from healthcheck.probes.read import probe_parts, read_node
from healthcheck.probes.settings import settings
from healthcheck.simulator.answers import answer
from healthcheck.simulator.cluster import SimCluster
from tests.unit.simulator.sim import cluster

NOW = 1_700_000_000.0
LOOKS = ("clock", "kernel_log", "limits", "cpu", "nccl_settings")


def facts(sim: SimCluster, name: str) -> NodeFacts:
    sim.now = lambda: NOW
    host = next(one for one in sim.hosts() if one.name == name)
    reply = answer(sim, host, batch_argv(probe_parts(None), "n0nce"), {})
    return read_node(name, split(reply.stdout, "n0nce"), asked_at=(NOW - 0.1, NOW + 0.1))


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("fault", [None, "node02:hca=mlx5_1,down", "node02:nvlink=0.6", "node02:gdr=off"])
def test_nothing_is_wrong_with_the_system_of_any_node(seed: int, fault: str | None) -> None:
    sim = cluster(*([fault] if fault else []), seed=seed)
    found = facts(sim, "node02")
    needs = Needs(sim.platform, own_token="hc-own", began_at=NOW - 60)
    results = [result for look in LOOKS for result in PROBES[look].judge(found, needs)]
    after = PROBES["kernel_log"].judge_after
    assert after is not None
    assert {result.verdict for result in (*results, *after(found, found, needs))} == {Verdict.PASS}


def test_versions_are_those_of_the_generation_and_of_the_planted_driver() -> None:
    sim = cluster("node03:driver=535.54.03", seed=2)
    plain, other = (dict(settings(facts(sim, name))) for name in ("node01", "node03"))
    generation = sim.generation
    assert (plain["driver"], plain["cuda"], plain["libnccl"], plain["nvidia_modules"]) == (
        generation.driver,
        generation.cuda,
        generation.nccl,
        "open",
    )
    assert {name for name in plain if plain[name] != other.get(name)} >= {"driver"}
    assert other["driver"] == "535.54.03"
