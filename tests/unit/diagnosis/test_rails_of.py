"""Which rails of a node are slow."""

from __future__ import annotations

from healthcheck.diagnosis.rails_of import slow_rails
from healthcheck.model.search import PairReading, Purpose

WELL = (48.0, 48.2, 47.9, 48.4, 48.1, 48.0, 48.3, 48.2)
GOOD = ("a", "b", "c", "d", "e")


def pair(a: str, b: str, rails: tuple[float, ...] = WELL) -> PairReading:
    return PairReading(2, a, b, Purpose.WALK, min(rails, default=47.0), rails)


def changed(*slow: int, to: float = 24.0) -> tuple[float, ...]:
    return tuple(to if rail in slow else value for rail, value in enumerate(WELL))


OTHERS = (pair("a", "b"), pair("c", "d"), pair("b", "c"), pair("d", "e"))


def test_one_rail_at_half_rate_is_named() -> None:
    found = slow_rails("x", (*OTHERS, pair("a", "x", changed(2)), pair("x", "b", changed(2))), GOOD)
    assert found is not None
    assert (found.rails, found.node_wide, found.jobs) == ((2,), False, 2)
    assert 0.49 < found.losses[2] < 0.51


def test_a_dip_of_one_job_is_no_rail() -> None:
    found = slow_rails("x", (*OTHERS, pair("a", "x", changed(2, 5)), pair("x", "b", changed(2))), GOOD)
    assert found is not None and found.rails == (2,)


def test_three_quarters_of_the_rails_are_the_node() -> None:
    found = slow_rails("x", (*OTHERS, pair("a", "x", changed(0, 1, 2, 3, 4, 5))), GOOD)
    assert found is not None and found.node_wide
    some = slow_rails("x", (*OTHERS, pair("a", "x", changed(0, 1, 2, 3, 4))), GOOD)
    assert some is not None and not some.node_wide


def test_a_partner_that_is_not_good_says_nothing() -> None:
    assert slow_rails("x", (*OTHERS, pair("x", "y", changed(2))), GOOD) is None


def test_whole_node_pairs_say_nothing_of_rails() -> None:
    assert slow_rails("x", (pair("a", "x", ()), pair("x", "b", ())), GOOD) is None
