"""Which finding is the one that was planted."""

from __future__ import annotations

import pytest

from healthcheck.model import component as components
from healthcheck.model.component import Component
from healthcheck.model.finding import Confidence, Finding
from healthcheck.model.message import say
from healthcheck.model.verdict import Verdict
from healthcheck.simulator.expected import expected
from healthcheck.simulator.faults import FabricFault, NodeFault, parse_fault, struck


def planted(text: str) -> NodeFault | FabricFault:
    fault = parse_fault(text)
    assert isinstance(fault, NodeFault | FabricFault)
    return fault


def finding(component: Component) -> Finding:
    return Finding(component, Verdict.DEGRADED, Confidence.CONFIRMED, say("cause.hca_slow"), say("remedy.hca_slow"))


@pytest.mark.parametrize(
    ("fault", "there", "elsewhere"),
    [
        ("link:node06-node01=0.5", components.link("node01", "node06"), components.node("node01")),
        ("leaf:l1-l2=0.5", components.path("l2", "l1"), components.path("l1", "l3")),
        ("node05:hca=mlx5_2,slow=0.5", components.hca("node05", "mlx5_2"), components.node("node04")),
        ("node05:intermittent=0.5", components.node("node05"), components.link("node05", "node06")),
    ],
)
def test_what_only_a_search_finds_is_found_where_it_lies_whatever_the_cause(
    fault: str, there: Component, elsewhere: Component
) -> None:
    want = expected(planted(fault))
    assert want.met_by(finding(there))
    assert not want.met_by(finding(elsewhere))


def test_a_fault_between_nodes_makes_no_node_sick() -> None:
    assert struck(planted("link:node01-node02=0.5")) == ()
    assert struck(planted("leaf:l1-l2=0.5")) == ()
    assert struck(planted("node03:hca=mlx5_0,slow=0.5")) == ("node03",)
