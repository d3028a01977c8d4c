"""What pair readings say about nodes."""

from __future__ import annotations

import pytest

from healthcheck.diagnosis.evidence import LOSSES, Weights, beliefs, likelihood, link_odds, together

HALF = LOSSES.index(0.5)


def graph(readings: dict[tuple[int, int], list[float]], noise: float = 0.02) -> dict[tuple[int, int], Weights]:
    return {pair: together([likelihood(value, noise) for value in values]) for pair, values in readings.items()}


def sick(readings: dict[tuple[int, int], list[float]], nodes: int) -> list[float]:
    return [1 - belief[0] for belief in beliefs(nodes, graph(readings))]


def test_a_reading_fits_its_own_loss_best() -> None:
    for loss in LOSSES:
        fit = likelihood(-loss, 0.01)
        assert fit.index(max(fit)) == LOSSES.index(loss)


def test_a_slow_pair_says_one_of_two_and_a_second_slow_partner_says_which() -> None:
    one = sick({(0, 1): [-0.5]}, 2)
    assert one[0] == pytest.approx(one[1]) and 0.3 < one[0] < 0.7
    ring = {(0, 1): [0.0], (1, 2): [-0.5], (2, 3): [-0.5], (3, 4): [0.0]}
    found = sick(ring, 5)
    assert found[2] > 0.999 and max(found[1], found[3]) < 0.01
    belief = beliefs(5, graph(ring))[2]
    assert belief.index(max(belief)) == HALF


def test_a_slow_pair_of_two_that_are_fast_elsewhere_is_no_node() -> None:
    ring = {(0, 1): [0.0], (1, 2): [-0.3, -0.3], (2, 3): [0.01]}
    assert max(sick(ring, 4)) < 0.05
    assert link_odds(graph(ring)[1, 2]) > 1000
    assert link_odds(graph({(1, 2): [-0.15]})[1, 2]) < link_odds(graph({(1, 2): [-0.15, -0.15]})[1, 2])


def test_a_reading_that_did_not_repeat_weighs_little() -> None:
    assert link_odds(graph({(0, 1): [-0.15, 0.0]})[0, 1]) < 1


def test_a_node_without_readings_is_as_likely_sick_as_any() -> None:
    assert sick({(0, 1): [0.0]}, 3)[2] == pytest.approx(0.02)


def test_a_hundred_readings_of_one_node_do_not_underflow() -> None:
    readings = {(0, other): [-0.9, -0.9] for other in range(1, 101)}
    found = sick(readings, 101)
    assert found[0] > 0.999 and max(found[1:]) < 0.03
