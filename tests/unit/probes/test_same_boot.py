"""A node that booted between the first look and the last was measured as another one."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from healthcheck.model.node import Identity, NodeFacts
from healthcheck.model.reading import Reading, ReadingState
from healthcheck.model.verdict import Verdict
from healthcheck.probes.same_boot import judge_boot
from tests.unit.probes.fixtures import unreachable


def _node(boot_id: str | None) -> NodeFacts:
    identity = Identity(0, "root", "/root", "x86_64", "gpu-01", boot_id)
    return replace(unreachable("gpu-01", "not asked"), identity=Reading(ReadingState.OBSERVED, identity))


def test_another_boot_takes_what_was_measured_away() -> None:
    (found,) = judge_boot(_node("a"), _node("b"))
    assert (str(found.component), found.verdict, found.rule) == ("gpu-01", Verdict.INCONCLUSIVE, "host.booted")
    assert "boot_id a" in found.evidence[0].text and "boot_id b" in found.evidence[1].text


@pytest.mark.parametrize(("before", "after"), [("a", "a"), (None, None), (None, "a"), ("a", None)])
def test_the_same_boot_and_one_nobody_knows_are_no_result(before: str | None, after: str | None) -> None:
    assert judge_boot(_node(before), _node(after)) == ()


def test_a_node_that_told_nothing_of_itself_is_no_result() -> None:
    assert judge_boot(_node("a"), unreachable("gpu-01", "down")) == ()
