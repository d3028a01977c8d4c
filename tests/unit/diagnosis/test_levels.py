"""What a healthy pair reads is found in the readings themselves."""

from __future__ import annotations

import random

import pytest

from healthcheck.diagnosis.levels import MOST_NOISE, Peers, levels, upper_mode


def peers(values: list[float], across: bool = False, round_: int = 2, first: int = 0) -> list[Peers]:
    places = range(first, first + len(values))
    return [
        Peers(place, value, round_, across, (2 * place, 2 * place + 1))
        for place, value in zip(places, values, strict=True)
    ]


def scattered(count: int, level: float, sigma: float, seed: int = 1) -> list[float]:
    chance = random.Random(seed)
    return [level * (1 + chance.gauss(0, sigma)) for _ in range(count)]


def test_the_level_is_that_of_the_fast_ones_though_half_of_the_pairs_are_slow() -> None:
    values = scattered(20, 190, 0.01) + scattered(20, 95, 0.01, 2)
    assert upper_mode(values) == pytest.approx(190, rel=0.01)
    assert levels(peers(values), None, None)[0].value == pytest.approx(190, rel=0.01)


def test_one_lucky_reading_is_not_the_level() -> None:
    assert upper_mode([*scattered(20, 100, 0.01), 140.0]) == pytest.approx(100, rel=0.015)


def test_level_and_noise_are_those_of_pairs_believed_healthy() -> None:
    values = scattered(60, 190, 0.02) + [178.0] * 15
    found = levels(peers(values), lambda node: node < 120, None)
    assert found[0].value == pytest.approx(190, rel=0.006)
    assert found[0].noise == pytest.approx(0.02, rel=0.25)


def test_noise_is_never_taken_for_more_than_six_percent() -> None:
    assert levels(peers(scattered(40, 100, 0.3)), lambda node: True, None)[0].noise == MOST_NOISE


def test_few_pairs_across_leaves_are_held_against_those_of_a_leaf() -> None:
    found = levels(peers(scattered(20, 190, 0.01)) + peers([100.0, 99.0, 101.0], True, first=20), None, None)
    assert found[20].value == pytest.approx(190 * 0.99, rel=0.01)
    assert found[20].noise > found[0].noise


def test_many_pairs_across_leaves_of_sick_nodes_are_no_peers_either() -> None:
    inside, across = peers(scattered(20, 190, 0.01)), peers([100.0] * 12, True, first=20)
    found = levels([*inside, *across], lambda node: node < 40, None)
    assert found[25].value == pytest.approx(190 * 0.99, rel=0.01)


def test_a_round_of_enough_readings_has_its_own_level() -> None:
    readings = [*peers(scattered(30, 190, 0.005)), *peers(scattered(30, 180, 0.005, 2), round_=3, first=30)]
    found = levels(readings, lambda node: True, None)
    assert found[0].value == pytest.approx(190, rel=0.005)
    assert found[30].value == pytest.approx(180, rel=0.005)


def test_a_fleet_that_is_slow_together_is_held_against_what_a_pair_is_known_to_read() -> None:
    found = levels(peers(scattered(20, 150, 0.01)), None, 190.0)[0]
    assert (found.value, found.expected) == (190.0, True)
    assert not levels(peers(scattered(20, 185, 0.01)), None, 190.0)[0].expected
