"""Laws of the comparison of two runs, for fleets of any size and any noise."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from healthcheck.evaluation.change_groups import Grid, judge
from healthcheck.evaluation.comparison import compare
from healthcheck.model.comparison import Answer, Comparison, Direction
from healthcheck.model.digest import RunDigest
from tests.unit.evaluation.two_runs import names, run, said, with_host

TRIES, MOST = 100, 5
SHARES = st.dictionaries(st.integers(0, 11), st.floats(0.5, 1.5), max_size=5)


def changed(nodes: int, seed: int, shares: dict[int, float]) -> RunDigest:
    hosts = names(nodes)
    return run(hosts, seed=seed, speed={hosts[n % nodes]: share for n, share in shares.items()})


@given(st.integers(1, 12), st.integers(0, 99), SHARES)
@settings(max_examples=15, deadline=None)
def test_a_run_beside_itself_has_nothing_to_tell(nodes: int, seed: int, shares: dict[int, float]) -> None:
    one = changed(nodes, seed, shares)
    found = compare(one, one)
    assert (found.answer, found.exit_code) == (Answer.SAME, 0)
    assert not (found.moved or found.verdicts or found.missing or found.new or found.changes or found.not_compared)


TURNED = {
    Direction.WORSE: Direction.BETTER,
    Direction.BETTER: Direction.WORSE,
    Direction.SAME: Direction.SAME,
    Direction.UNKNOWN: Direction.UNKNOWN,
}


def directions(found: Comparison, turned: bool = False) -> set[tuple[str, str, Direction]]:
    said_of = {(one.stage, one.hosts, one.direction) for one in found.moved}
    said_of |= {(group.stage, "all", group.direction) for group in found.groups}
    said_of |= {("verdict", change.hosts, change.direction) for change in found.verdicts}
    return {(what, who, TURNED[way] if turned else way) for what, who, way in said_of}


@given(st.integers(1, 12), SHARES, SHARES, st.booleans())
@settings(max_examples=20, deadline=None)
def test_turning_two_runs_round_turns_worse_into_better(
    nodes: int, one: dict[int, float], other: dict[int, float], failed: bool
) -> None:
    before, after = changed(nodes, 1, one), changed(nodes, 2, other)
    if failed:
        after = with_host(after, said(names(nodes)[0], "FAIL", "broken"))
    there, back = compare(before, after), compare(after, before)
    assert directions(there) == directions(back, turned=True)
    assert (there.worse, there.better) == (back.better, back.worse)
    assert there.missing == back.new and there.new == back.missing


@given(st.integers(1, 12), SHARES, st.randoms(use_true_random=False))
@settings(max_examples=15, deadline=None)
def test_the_order_of_hosts_and_jobs_changes_nothing(
    nodes: int, shares: dict[int, float], shuffle: random.Random
) -> None:
    before, after = changed(nodes, 1, {}), changed(nodes, 2, shares)
    jobs, hosts = list(after.jobs), list(after.hosts)
    shuffle.shuffle(jobs)
    shuffle.shuffle(hosts)
    found, again = compare(before, after), compare(before, replace(after, jobs=tuple(jobs), hosts=tuple(hosts)))
    assert replace(found, groups=(), moved=()) == replace(again, groups=(), moved=())
    assert directions(found) == directions(again)


def healthy(nodes: int, seed: int, noise: float, launches: float) -> Grid:
    """Twice the same nodes: six sizes and placements, with noise of each reading and of each launch."""
    rng, cells = np.random.default_rng(seed), 6

    def launch() -> np.ndarray:
        own = rng.normal(0, launches, (nodes, 1))
        return np.round(230 * (1 + own + rng.normal(0, noise, (nodes, cells))), 2)

    def middle(read: np.ndarray) -> dict[str, float]:
        return {"out_of_place": float(np.median(read[::2])), "in_place": float(np.median(read[1::2]))}

    before, after = launch(), launch()
    return Grid(
        stage="single_node",
        collective="all_reduce",
        nodes=1,
        ranks=8,
        saturated=True,
        subjects=names(nodes),
        cells=tuple((1 << 30 + n // 2, ("out_of_place", "in_place")[n % 2]) for n in range(cells)),
        change=np.log(after / before),
        before=before,
        after=after,
        told=tuple((middle(b), middle(a)) for b, a in zip(before, after, strict=True)),
        repeats=(1, 1),
        launches=float("nan"),
    )


@pytest.mark.parametrize(
    ("nodes", "noise", "launches"),
    [(1, 0.003, 0.0), (3, 0.003, 0.002), (8, 0.01, 0.0), (64, 0.01, 0.01), (1024, 0.003, 0.0), (1024, 0.01, 0.005)],
)
def test_healthy_noise_is_news_in_at_most_five_of_a_hundred_tries(nodes: int, noise: float, launches: float) -> None:
    alarms = 0
    for seed in range(TRIES):
        grid = healthy(nodes, seed, noise, launches)
        group, moved = judge(grid, 2 * grid.questions)
        ways = {group.direction, *(cell.direction for cell in group.cells), *(one.direction for one in moved)}
        alarms += bool(moved) or ways != {Direction.SAME}
    assert alarms <= MOST


def test_a_hundred_pairs_of_healthy_check_ups_have_at_most_five_alarms() -> None:
    alarms = sum(
        compare(run(names(16), seed=2 * n), run(names(16), seed=2 * n + 1)).exit_code != 0 for n in range(TRIES)
    )
    assert alarms <= MOST
