"""A node against the others in the same job: who is named, how surely, and who may not speak."""

from __future__ import annotations

import random

import pytest
from msgspec.structs import replace

from healthcheck.evaluation.peers import bar, peers_of, standing
from healthcheck.model.finding import Confidence
from healthcheck.model.measurement import OutputState
from healthcheck.model.verdict import Verdict
from tests.unit.evaluation.builders import sweep
from tests.unit.evaluation.fleets import fleet, judged, judged_jobs, on, rules


def named(values: list[float]) -> dict[int, Confidence | None]:
    """Place in the fleet -> how sure, of the outliers."""
    found = judged(fleet(values))
    checks = enumerate(found.values())
    return {place: check.confidence for place, check in checks if rules(check)["peers"].verdict is Verdict.DEGRADED}


def test_a_straggler_seven_percent_under_its_peers_is_named_with_its_number() -> None:
    check = judged(fleet([231.0] * 9 + [214.8]))["node010"]
    assert (check.verdict, check.rule, check.confidence) == (Verdict.DEGRADED, "peers.outlier", Confidence.CONFIRMED)
    assert (check.observed, check.expected) == (214.8, 231.0)
    assert str(check.message) == (
        "busbw 214.8 GB/s (out-of-place), 7.0 % under the median of it and the 9 other nodes in the same job, "
        "231.0 GB/s, 14.0 times their scatter"
    )


def test_eight_of_sixty_that_are_six_to_seven_percent_low_are_named_and_nobody_else() -> None:
    chance = random.Random(60)
    low = [231.0 * share for share in (0.930, 0.932, 0.934, 0.936, 0.938, 0.94, 0.931, 0.939)]
    values = [*(231.0 * chance.gauss(1, 0.003) for _ in range(52)), *low]
    assert set(named(values)) == set(range(52, 60))


def test_five_others_are_needed() -> None:
    assert named([231.0] * 4 + [215.0]) == {}
    assert str(rules(judged(fleet([231.0] * 5))["node001"])["peers"].message) == (
        "fewer than 5 peers: 4 other nodes with the same job"
    )
    assert named([231.0] * 5 + [215.0]) == {5: Confidence.CONFIRMED}


def test_what_lies_between_the_bars_is_likely() -> None:
    """The scatter is at least half a percent, so with 20 nodes the bar of 3.9 lies at 1.9 % and 6 times at 3 %."""
    assert named([231.0] * 19 + [231.0 * 0.982]) == {}
    assert named([231.0] * 19 + [231.0 * 0.975]) == {19: Confidence.LIKELY}
    assert named([231.0] * 19 + [231.0 * 0.969]) == {19: Confidence.CONFIRMED}


def test_a_tenth_below_the_others_is_enough_however_much_they_scatter() -> None:
    """Half of a fleet being slow makes everybody scatter so much that nobody would be an outlier."""
    assert set(named([230.0] * 4 + [200.0] * 3 + [175.0])) == {7}
    peers = peers_of([230.0, 228.0, 226.0, 170.0, 172.0, 168.0, 166.0, 224.0])
    assert peers is not None and standing(169.0, peers) is Confidence.CONFIRMED


def test_faster_than_the_others_is_no_fault() -> None:
    assert named([215.0] * 9 + [240.0]) == {}


def test_a_fleet_that_is_slow_together_is_for_the_other_rules() -> None:
    found = judged(fleet([200.0] * 8))
    assert {rules(check)["peers"].verdict for check in found.values()} == {Verdict.PASS}
    assert {check.rule for check in found.values()} == {"peak.below_healthy"}


def test_only_measurements_of_the_same_job_are_peers() -> None:
    """Neither a job that was cut off nor one over half of the GPUs makes the fifth peer of a slow node."""
    slow = [*fleet([231.0] * 4), on("slow", sweep(214.0))]
    cut = on("cut", sweep(231.0))
    cut = replace(cut, output=replace(cut.output, state=OutputState.TRUNCATED))
    half = on("half", sweep(231.0, n_ranks=4), ranks=4)
    by_host = {one.outcomes[0].job.hosts[0]: one for one in judged_jobs([*slow, cut, half])}
    assert by_host["slow"].verdict is Verdict.PASS
    assert by_host["cut"].verdict is Verdict.INCONCLUSIVE
    assert judged([*slow, on("fifth", sweep(231.0))])["slow"].rule == "peers.outlier"


@pytest.mark.parametrize("nodes", [6, 16, 60, 256, 1024, 4096])
def test_the_bar_is_never_below_three_and_never_out_of_reach(nodes: int) -> None:
    assert 3.5 < bar(nodes) < 5.5


@pytest.mark.parametrize("nodes", [6, 16, 60, 256, 1024])
def test_fewer_than_one_healthy_check_up_in_twenty_names_anybody(nodes: int) -> None:
    """Of normal readings that scatter by 1 %; the figures over many more fleets stand in ADR 0007."""
    chance = random.Random(nodes + 1)
    tries = 400 if nodes < 1000 else 60
    wrong = 0
    for _ in range(tries):
        values = [231.0 * chance.gauss(1, 0.01) for _ in range(nodes)]
        peers = peers_of(values)
        assert peers is not None
        wrong += any(standing(value, peers) is not None for value in values)
    assert wrong / tries < 0.05 + 2 * (0.05 * 0.95 / tries) ** 0.5
