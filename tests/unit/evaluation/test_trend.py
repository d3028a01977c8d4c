"""A row of runs: flapping, first bad run, and a loss beyond noise."""

from __future__ import annotations

import random

import pytest

from healthcheck.evaluation.trend import fall, first_bad, flaps, is_flapping

P, D, F, I = "PASS", "DEGRADED", "FAIL", "INCONCLUSIVE"  # noqa: E741


@pytest.mark.parametrize(
    ("verdicts", "times", "flapping"),
    [
        ([], 0, False),
        ([P, P, P], 0, False),
        ([D, D, P], 0, False),  # it was never PASS before
        ([P, D, D, D], 0, False),  # it has not come back
        ([P, D, P], 1, False),  # once is a repair
        ([P, D, F, P], 1, False),  # one loss, however many bad runs
        ([P, D, P, I, P], 2, True),
        ([D, P, D, P, D, P, D], 2, True),
    ],
)
def test_flapping_is_to_lose_pass_and_get_it_back_more_than_once(
    verdicts: list[str], times: int, flapping: bool
) -> None:
    assert flaps(verdicts) == times
    assert is_flapping(verdicts) is flapping


@pytest.mark.parametrize(
    ("verdicts", "place"), [([], None), ([P], None), ([D, P], None), ([P, D, P, F, D], 3), ([D, D], 0), ([P, I], 1)]
)
def test_the_first_bad_run_is_that_since_which_it_was_never_pass(verdicts: list[str], place: int | None) -> None:
    assert first_bad(verdicts) == place


def months(count: int) -> list[float]:
    return [30.4 * month for month in range(count)]


def noisy(values: list[float], seed: int, sigma: float) -> list[float]:
    rng = random.Random(seed)
    return [value * (1 + rng.gauss(0, sigma)) for value in values]


@pytest.mark.parametrize("seed", range(20))
def test_a_node_that_fades_is_told_with_what_it_lost(seed: int) -> None:
    found = fall(months(24), noisy([230 * (1 - 0.003 * month) for month in range(24)], seed, 0.004))
    assert found is not None and found.step_at is None
    assert found.loss == pytest.approx(0.069, abs=0.015)
    assert found.noise < 0.01


def test_noise_alone_is_no_loss() -> None:
    told = [fall(months(24), noisy([230.0] * 24, seed, 0.02)) for seed in range(400)]
    assert told.count(None) >= 399


def test_a_loss_below_two_percent_is_not_told_however_clear() -> None:
    assert fall(months(24), [230 * (1 - 0.0005 * month) for month in range(24)]) is None


def test_a_loss_within_its_own_noise_is_not_told() -> None:
    assert fall(months(10), noisy([230 * (1 - 0.004 * month) for month in range(10)], 3, 0.05)) is None


def test_what_was_lost_at_once_is_a_step_at_the_first_low_run() -> None:
    values = noisy([230.0] * 12 + [215.0] * 12, 4, 0.002)
    found = fall(months(24), values)
    assert found is not None and found.step_at == 12
    assert found.loss == pytest.approx(0.065, abs=0.01)


def test_one_run_out_of_line_makes_no_trend_and_hides_none() -> None:
    quiet = [230.0 + 0.1 * (month % 3) for month in range(24)]
    quiet[20] = 120.0
    assert fall(months(24), quiet) is None
    fading = [230 * (1 - 0.004 * month) for month in range(24)]
    fading[3] = 120.0
    found = fall(months(24), fading)
    assert found is not None and found.loss == pytest.approx(0.092, abs=0.01)


def test_too_few_runs_say_nothing_and_rising_is_no_loss() -> None:
    assert fall(months(7), [230 - 5.0 * month for month in range(7)]) is None
    assert fall(months(24), [200 + 2.0 * month for month in range(24)]) is None
