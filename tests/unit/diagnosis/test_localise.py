"""Nodes, links, paths and leaves, and the worked example of docs/localisation.md."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from healthcheck.diagnosis.localise import after_verification, sought_loss, view
from healthcheck.diagnosis.rails_of import slow_rails
from healthcheck.diagnosis.search import Ending, Searching
from healthcheck.model.search import FullReading, PairReading, PairRound, Problem, Purpose, Standing
from healthcheck.planning.walk import ring_rounds

PAGE = Path(__file__).parents[3] / "docs" / "localisation.md"
HOSTS = tuple(f"{number:02d}" for number in range(1, 17))
LEAVES = ("one",) * 8 + ("two",) * 8
PROBLEM = Problem(HOSTS, LEAVES, 0.48)
LEVEL = 100.0


def walked(speed: Callable[[str, str], float], hosts: tuple[str, ...] = HOSTS) -> list[PairReading]:
    """The two rounds of the walk."""
    even, odd, _ = ring_rounds(hosts)
    return [
        PairReading(round_, pair.a, pair.b, pair.purpose, LEVEL * speed(pair.a, pair.b))
        for round_, pairs in ((2, even), (3, odd))
        for pair in pairs
    ]


def again(round_: int, a: str, b: str, value: float) -> PairReading:
    return PairReading(round_, a, b, Purpose.RETEST, value)


def standing(problem: Problem, readings: list[PairReading]) -> dict[str, Standing]:
    return {node.host: node.standing for node in view(problem, readings, problem.shortfall).nodes}


def test_a_sick_node_is_confirmed_by_its_two_neighbours() -> None:
    found = standing(PROBLEM, walked(lambda a, b: 0.5 if "06" in (a, b) else 1.0))
    assert found["06"] is Standing.CONFIRMED
    assert {host for host, one in found.items() if one is not Standing.GOOD} == {"06"}


def test_a_job_that_did_not_finish_is_the_slowest_reading() -> None:
    readings = walked(lambda a, b: 1.0)
    hung = [
        PairReading(r.round, r.a, r.b, r.purpose, None if "06" in (r.a, r.b) else r.busbw_gbyte_s) for r in readings
    ]
    assert standing(PROBLEM, hung)["06"] is Standing.CONFIRMED


def test_a_node_between_two_confirmed_ones_is_untested_not_healthy() -> None:
    found = view(PROBLEM, walked(lambda a, b: 0.5 if {a, b} & {"05", "07"} else 1.0), 0.5)
    node = found.nodes[5]
    assert set(found.standing(Standing.CONFIRMED)) <= {"05", "07"}
    assert node.standing is not Standing.GOOD and node.standing is not Standing.CLEAR


def link_state(readings: list[PairReading]) -> dict[tuple[str, str], str]:
    return {(link.a, link.b): link.state for link in view(PROBLEM, readings, 0.3).links}


def test_a_link_is_open_then_likely_and_the_verification_confirms_it() -> None:
    readings = walked(lambda a, b: 0.7 if {a, b} == {"03", "04"} else 1.0)
    assert link_state(readings) == {("03", "04"): "open"}
    readings.append(again(4, "03", "04", 70.0))
    found = view(PROBLEM, readings, 0.3)
    assert [link.state for link in found.links] == ["likely"]
    assert not found.standing(Standing.CONFIRMED, Standing.LIKELY, Standing.SUSPECTED)
    assert [link.state for link in after_verification(found, HOSTS, 0.05).links] == ["confirmed"]
    readings += [again(5, "03", "01", 100.0), again(5, "04", "08", 100.0)]
    assert link_state(readings) == {("03", "04"): "confirmed"}


def test_a_slow_reading_that_does_not_repeat_is_listed_and_not_blamed() -> None:
    readings = [*walked(lambda a, b: 0.85 if {a, b} == {"03", "04"} else 1.0), again(4, "03", "04", 100.0)]
    assert link_state(readings) == {("03", "04"): "one_off"}


def test_a_link_at_a_confirmed_node_is_masked() -> None:
    assert link_state(walked(lambda a, b: 0.5 if "06" in (a, b) else 1.0)) == {
        ("05", "06"): "masked",
        ("06", "07"): "masked",
    }


def test_a_node_of_two_slow_links_is_suspected_of_being_slow_now_and_then() -> None:
    readings = walked(lambda a, b: 0.7 if {a, b} in ({"03", "04"}, {"04", "05"}) else 1.0)
    readings += [again(4, "03", "04", 70.0), again(5, "04", "05", 70.0)]
    readings += [again(4 + number % 4, "04", other, 100.0) for number, other in enumerate(HOSTS[7:16])]
    found = view(PROBLEM, readings, 0.3)
    assert found.nodes[3].intermittent and found.nodes[3].standing is Standing.SUSPECTED
    assert not found.standing(Standing.CONFIRMED)


def test_most_of_a_leaf_is_one_finding_of_the_leaf() -> None:
    sick = {"09", "10", "11", "12", "13", "14"}
    readings = walked(lambda a, b: 0.5 if {a, b} & sick else 1.0)
    readings += [again(4, host, good, 50.0) for host in sorted(sick) for good in HOSTS[14:]]
    readings += [again(5, a, b, 100.0) for a in HOSTS[:4] for b in HOSTS[4:8]]
    found = view(PROBLEM, readings, 0.5)
    assert found.leaf_wide == ("two",)
    assert set(found.standing(Standing.CONFIRMED)) == sick


def test_a_slow_path_blames_no_node() -> None:
    leaf = dict(zip(HOSTS, LEAVES, strict=True))
    readings = walked(lambda a, b: 0.6 if leaf[a] != leaf[b] else 1.0)
    readings += [again(4, a, b, 60.0) for a, b in zip(HOSTS[1:5], HOSTS[9:13], strict=True)]
    found = view(PROBLEM, readings, 0.4)
    assert found.paths == (("one", "two"),)
    assert not found.standing(Standing.CONFIRMED, Standing.LIKELY, Standing.SUSPECTED)
    assert not found.link_pairs("open", "likely", "confirmed")


def test_suspects_that_cross_leaves_make_no_path() -> None:
    leaf = dict(zip(HOSTS, LEAVES, strict=True))
    sick = set(HOSTS[1:7])
    readings = walked(lambda a, b: 0.7 if {a, b} & sick else 1.0)
    readings += [again(4, a, b, 70.0) for a, b in zip(sorted(sick), HOSTS[9:15], strict=True) if leaf[a] != leaf[b]]
    assert view(PROBLEM, readings, 0.3).paths == ()


def test_what_is_looked_for_follows_the_shortfall_and_the_noise() -> None:
    assert sought_loss(0.48, 0.01, None) == pytest.approx(0.10)
    assert sought_loss(0.10, 0.01, None) == pytest.approx(0.06)
    assert sought_loss(0.02, 0.01, None) == pytest.approx(0.05)
    assert sought_loss(0.48, 0.06, None) == pytest.approx(0.132)
    assert sought_loss(0.48, 0.06, 0.05) == pytest.approx(0.05)


def worked_example() -> tuple[Searching, Ending, int]:
    """The example as the page tells it: what is read comes from the table, what is measured from the search."""
    table = {
        2: (48.6, 47.6, 24.3, 47.2, 48.0, 47.4, 48.0, 46.8),
        3: (40.5, 48.7, 24.6, 47.4, 47.7, 47.9, 47.7, 46.9),
        4: (47.8, 46.4, 48.2, 47.1, 47.9, 46.9, 47.5),
    }
    searching = Searching(PROBLEM, lambda nodes: 355.0)
    steps, jobs = searching.steps(), 1
    step = next(steps)
    try:
        while True:
            if isinstance(step, PairRound):
                values = table[step.round]
                read = [
                    PairReading(step.round, p.a, p.b, p.purpose, value, rails(p.a, p.b, value))
                    for p, value in zip(step.pairs, values, strict=True)
                ]
                jobs += len(read)
                step = steps.send(read)
            else:
                jobs += len(step.orders)
                step = steps.send([FullReading(step.round, step.orders[0], 349.0, 355.0)])
    except StopIteration as stop:
        return searching, stop.value, jobs


def rails(a: str, b: str, slowest: float) -> tuple[float, ...]:
    """Rail 2 of host 06 is slow; elsewhere one rail is the slowest by a little."""
    place = 2 if "06" in (a, b) else int(a) % 8
    return tuple(slowest if rail == place else max(slowest + 0.4, 48.5) for rail in range(8))


def test_the_worked_example_of_the_page_is_what_the_search_does() -> None:
    searching, ending, jobs = worked_example()
    view = searching.view
    assert ending is Ending.VERIFIED and (searching.round, jobs) == (5, 25)
    assert view.standing(Standing.CONFIRMED) == ("06",)
    assert {(link.a, link.b): link.state for link in view.links if link.state != "masked"} == {("02", "03"): "one_off"}
    found = slow_rails("06", searching.known.pairs, view.standing(Standing.GOOD, Standing.CLEAR))
    assert found is not None and found.rails == (2,)
    told = re.search(r"level is ([\d.]+) GB/s, the noise ([\d.]+) %", PAGE.read_text())
    assert told is not None
    levels = [level.value for level in view.levels]
    assert float(told[1]) == pytest.approx(sum(levels) / len(levels), abs=0.3)
    assert float(told[2]) == pytest.approx(100 * view.noise, abs=0.1)
