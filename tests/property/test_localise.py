"""Laws of the search for a slow node, for clusters and readings of any kind."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.localise import measured
from benchmarks.localise_world import Plan, World
from healthcheck.diagnosis.localise import View, in_order, view
from healthcheck.diagnosis.search import Ending, Read, Round, Searching
from healthcheck.model.search import FullReading, PairReading, PairRound, Problem, Purpose, Standing
from healthcheck.planning.walk import between, ring_rounds, tournament, verification_order

LEVEL, FULL = 190.0, 355.0
NAMES = tuple(f"n{number:02d}" for number in range(1, 41))


def drive(searching: Searching, read: Callable[[Round], Read]) -> tuple[Ending, list[Round]]:
    """Play a search to its end."""
    steps, rounds = searching.steps(), []
    try:
        step = next(steps)
        while True:
            rounds.append(step)
            step = steps.send(read(step))
    except StopIteration as stop:
        return stop.value, rounds


def without_noise(loss: Mapping[str, float]) -> Callable[[Round], Read]:
    """A cluster that reads exactly what its worst node allows."""

    def speed(hosts: Sequence[str]) -> float:
        return min(1 - loss.get(host, 0.0) for host in hosts)

    def read(step: Round) -> Read:
        if isinstance(step, PairRound):
            return [
                PairReading(step.round, pair.a, pair.b, pair.purpose, LEVEL * speed((pair.a, pair.b)))
                for pair in step.pairs
            ]
        return [FullReading(step.round, order, FULL * speed(order), FULL) for order in step.orders]

    return read


def named(hosts: Sequence[str], loss: Mapping[str, float]) -> set[str]:
    problem = Problem(tuple(hosts), ("",) * len(hosts), max(loss.values(), default=0.2))
    searching = Searching(problem, lambda nodes: FULL)
    drive(searching, without_noise(loss))
    return set(searching.view.standing(Standing.CONFIRMED))


@st.composite
def clusters(draw: st.DrawFn) -> World:
    nodes = draw(st.integers(3, 40))
    plan = Plan(
        nodes,
        sick=(0, draw(st.integers(0, max(1, nodes // 4)))),
        sigma=draw(st.sampled_from((0.005, 0.02, 0.03))),
        per_rail=draw(st.booleans()),
        path=draw(st.booleans()),
        every_other=draw(st.booleans()),
        dips=draw(st.sampled_from((0.01, 0.1))),
        leaf_size=draw(st.sampled_from((4, 8, 64))),
        look_dip=True,
    )
    return World(plan, draw(st.integers(0, 999)))


def judged(world: World) -> tuple[Searching, list[Round]]:
    searching = Searching(world.problem, world.expected)
    _, rounds = drive(searching, lambda step: measured(world, step))
    return searching, rounds


@settings(max_examples=40, deadline=None)
@given(clusters())
def test_jobs_of_a_round_share_no_node_and_no_pair_is_one_node(world: World) -> None:
    _, rounds = judged(world)
    for step in rounds:
        jobs = [(p.a, p.b) for p in step.pairs] if isinstance(step, PairRound) else list(step.orders)
        seated = [host for job in jobs for host in job]
        assert len(seated) == len(set(seated))
        assert set(seated) <= set(world.hosts)
    assert [step.round for step in rounds] == list(range(2, len(rounds) + 2))


@given(st.integers(2, 60))
def test_the_walk_measures_every_edge_of_the_ring_once(count: int) -> None:
    order = [f"n{number}" for number in range(count)]
    walk = [pair for part in ring_rounds(order) for pair in part]
    edges = {between(order[place], order[(place + 1) % count]) for place in range(count)}
    assert {between(pair.a, pair.b) for pair in walk} == edges
    assert len(walk) == len(edges)


@settings(max_examples=15, deadline=None)
@given(st.integers(9, 30))
def test_a_search_measures_every_edge_of_the_ring(count: int) -> None:
    hosts = NAMES[:count]
    searching = Searching(Problem(hosts, ("",) * count, 0.5), lambda nodes: FULL)
    drive(searching, without_noise({hosts[1]: 0.5}))
    met = {between(reading.a, reading.b) for reading in searching.known.pairs}
    assert {between(hosts[place], hosts[(place + 1) % count]) for place in range(count)} <= met


@given(st.integers(2, 17))
def test_a_tournament_measures_everybody_with_everybody_once(count: int) -> None:
    order = [f"n{number:02d}" for number in range(count)]
    met = [between(pair.a, pair.b) for pairs in tournament(order) for pair in pairs]
    assert sorted(met) == sorted({between(a, b) for a in order for b in order if a != b})


@settings(max_examples=30, deadline=None)
@given(clusters(), st.randoms(use_true_random=False))
def test_other_names_and_another_rank_order_change_nothing_but_the_names(world: World, chance: random.Random) -> None:
    searching, _ = judged(world)
    problem, readings = searching.problem, searching.known.pairs
    places = list(range(len(problem.hosts)))
    chance.shuffle(places)
    renamed = {host: f"x{place:03d}" for host, place in zip(problem.hosts, places, strict=True)}
    other = Problem(
        tuple(renamed[problem.hosts[place]] for place in places),
        tuple(problem.leaves[place] for place in places),
        problem.shortfall,
    )
    moved = [
        PairReading(r.round, renamed[r.a], renamed[r.b], r.purpose, r.busbw_gbyte_s, r.rails, r.job) for r in readings
    ]
    before, after = view(problem, readings, problem.shortfall), view(other, moved, problem.shortfall)
    found = {node.host: node for node in after.nodes}
    for node in before.nodes:
        same = found[renamed[node.host]]
        assert same.standing is node.standing
        assert same.loss == pytest.approx(node.loss, abs=1e-6)
    assert after.paths == before.paths
    links = {between(renamed[link.a], renamed[link.b]): link.state for link in before.links}
    assert {between(link.a, link.b): link.state for link in after.links} == links


@settings(max_examples=30, deadline=None)
@given(clusters(), st.randoms(use_true_random=False))
def test_the_order_in_which_results_arrive_changes_nothing(world: World, chance: random.Random) -> None:
    searching, rounds = judged(world)
    known = searching.known

    def shuffled(step: Round) -> Read:
        read = [reading for reading in known.pairs if reading.round == step.round]
        chance.shuffle(read)
        return read or [reading for reading in known.fulls if reading.round == step.round]

    again = Searching(world.problem, world.expected)
    _, replayed = drive(again, shuffled)
    assert replayed == rounds
    assert again.view == searching.view


def slow_with_cleared(found: View, readings: Sequence[PairReading], host: str) -> set[str]:
    loss = {node.host: node.loss for node in found.nodes}
    partners = set()
    for place, reading in enumerate(in_order(readings)):
        if host not in (reading.a, reading.b) or place in found.explained:
            continue
        partner = reading.b if reading.a == host else reading.a
        if found.residuals[place] < -found.levels[place].noise and loss[partner] < 0.05:
            partners.add(partner)
    return partners


@st.composite
def any_readings(draw: st.DrawFn) -> tuple[Problem, list[PairReading]]:
    """Readings that no cluster would give."""
    hosts = NAMES[: draw(st.integers(3, 12))]
    values = st.one_of(st.none(), st.sampled_from((0.0, 1.0, 95.0, 176.0, 178.0, 190.0, 191.0)), st.floats(0.01, 400))
    readings = []
    for number in range(draw(st.integers(0, 30))):
        a, b = draw(st.sampled_from([(a, b) for a in hosts for b in hosts if a < b]))
        readings.append(PairReading(2 + number // 5, a, b, Purpose.WALK, draw(values), (), str(number)))
    leaves = tuple(draw(st.sampled_from(("", "l1", "l2"))) for _ in hosts)
    known = draw(st.sampled_from((None, 190.0)))
    return Problem(hosts, leaves, draw(st.floats(0.0, 1.0)), known), readings


@settings(max_examples=200, deadline=None)
@given(any_readings())
def test_nobody_is_confirmed_without_two_slow_readings_with_two_cleared_partners(
    asked: tuple[Problem, list[PairReading]],
) -> None:
    problem, readings = asked
    found = view(problem, readings, problem.shortfall)
    assert [node.host for node in found.nodes] == list(problem.hosts)
    for host in found.standing(Standing.CONFIRMED):
        assert len(slow_with_cleared(found, readings, host)) >= 2


@settings(max_examples=25, deadline=None)
@given(
    st.integers(12, 20),
    st.integers(1, 16),
    st.dictionaries(st.sampled_from(NAMES[:12]), st.sampled_from((0.125, 0.3, 0.5)), min_size=1, max_size=2),
)
def test_without_noise_more_healthy_nodes_name_nobody_new(count: int, more: int, loss: dict[str, float]) -> None:
    few, many = named(NAMES[:count], loss), named(NAMES[: count + more], loss)
    assert many <= few | set(loss)
    assert few == set(loss)


@settings(max_examples=60, deadline=None)
@given(st.integers(3, 7), st.data())
def test_a_verification_uses_no_bad_link_where_it_need_not(count: int, data: st.DataObject) -> None:
    hosts = NAMES[:count]
    every = [between(a, b) for a in hosts for b in hosts if a < b]
    bad = frozenset(data.draw(st.lists(st.sampled_from(every), max_size=len(every) // 2)))

    def used(order: Sequence[str]) -> set[tuple[str, str]]:
        return {between(order[place - 1], order[place]) for place in range(count)} & bad

    order, forced = verification_order(hosts, dict.fromkeys(hosts, ""), bad, frozenset())
    assert sorted(order) == sorted(hosts)
    assert {between(a, b) for a, b in forced} == used(order)
    if any(not used((hosts[0], *rest)) for rest in permutations(hosts[1:])):
        assert not forced


@settings(max_examples=30, deadline=None)
@given(st.integers(3, 6), st.integers(1, 4), st.data())
def test_a_verification_keeps_leaves_together_off_slow_paths(leaves: int, size: int, data: st.DataObject) -> None:
    hosts = NAMES[: leaves * size]
    leaf = {host: f"l{place // size}" for place, host in enumerate(hosts)}
    first = data.draw(st.integers(0, leaves - 1))
    bad = between(f"l{first}", f"l{(first + 1) % leaves}")
    order, forced = verification_order(hosts, leaf, frozenset(), frozenset((bad,)))
    changes = sum(leaf[order[place - 1]] != leaf[order[place]] for place in range(len(order)))
    assert changes == leaves
    if leaves > 3:
        assert not forced
    else:
        assert forced
