"""What holds for every fleet: order and scale do not matter, a straggler is found, and five peers are needed."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from healthcheck.evaluation.peers import peers_of, standing
from healthcheck.model.verdict import Verdict
from tests.unit.evaluation.fleets import fleet, judged, rules

readings = st.lists(st.floats(150.0, 290.0), min_size=6, max_size=24)


def outliers(values: list[float]) -> list[bool]:
    peers = peers_of(values)
    assert peers is not None
    return [standing(value, peers) is not None for value in values]


@settings(max_examples=40)
@given(readings, st.randoms(use_true_random=False))
def test_the_order_of_the_hosts_does_not_matter(values: list[float], chance: random.Random) -> None:
    jobs = fleet(values)
    told = judged(jobs)
    chance.shuffle(jobs)
    assert judged(jobs) == told


@given(readings, st.sampled_from([0.125, 0.5, 2.0, 64.0]))
def test_the_scale_of_the_bandwidths_does_not_matter(values: list[float], scale: float) -> None:
    assert outliers([scale * value for value in values]) == outliers(values)


@given(st.integers(6, 400), st.floats(0.0, 0.004), st.floats(0.05, 0.6), st.integers(0, 1 << 30), st.floats(0.0, 0.999))
def test_a_lone_straggler_is_always_found(nodes: int, noise: float, loss: float, seed: int, place: float) -> None:
    chance = random.Random(seed)
    values = [231.0 * (1 + noise * chance.uniform(-1, 1)) for _ in range(nodes)]
    sick = int(place * nodes)
    values[sick] *= 1 - loss
    assert [at for at, found in enumerate(outliers(values)) if found] == [sick]


@settings(max_examples=30)
@given(st.lists(st.floats(150.0, 290.0), min_size=1, max_size=5))
def test_with_fewer_than_five_peers_nobody_is_asked(values: list[float]) -> None:
    assert {rules(check)["peers"].verdict for check in judged(fleet(values)).values()} == {Verdict.SKIPPED}


@settings(max_examples=40)
@given(readings)
def test_the_verdict_is_the_worst_rule_and_its_first_one_is_told(values: list[float]) -> None:
    for check in judged(fleet(values)).values():
        assert check.verdict is max(rule.verdict for rule in check.rules)
        first = next(rule for rule in check.rules if rule.verdict is check.verdict)
        assert (check.message, check.observed) == (first.message, first.observed)
        assert check.rule.partition(".")[0] == first.rule
