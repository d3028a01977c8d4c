"""What fits into the time of a gate."""

from __future__ import annotations

import pytest

from healthcheck.model.collective import Collective
from healthcheck.model.host import Host
from healthcheck.model.playbook import Playbook, Sizes, Stage
from healthcheck.model.units import Bytes, Seconds
from healthcheck.planning.gate_plan import LEAST_BYTES, Piece, fit, times

HOSTS = tuple(Host(f"n{n}", f"n{n}", slots=8) for n in range(64))
SIZES = Sizes(Bytes(512 << 20), Bytes(8 << 30), 2)
ALONE = Stage("single_node", sizes=SIZES, iterations=50, repeats=3, timeout=Seconds(300))
TOGETHER = Stage(
    "multi_node", (Collective.ALL_REDUCE, Collective.ALL_GATHER), sizes=SIZES, iterations=50, timeout=Seconds(600)
)
BOOK = Playbook("x", (ALONE, TOGETHER))
PIECES = (Piece(ALONE, BOOK, HOSTS, 230.0), Piece(TOGETHER, BOOK, HOSTS, 190.0))


def test_with_time_enough_nothing_is_shorter() -> None:
    found = fit(PIECES, 3600)
    assert found.stage == ALONE and found.told == ()


@pytest.mark.parametrize("left_s", [45, 60, 90, 150, 300, 600])
def test_what_is_planned_leaves_room_for_what_comes_after_it(left_s: int) -> None:
    first = fit(PIECES, left_s)
    assert first.stage is not None
    longest_s = first.job_s * len(first.stage.collectives) * first.stage.repeats
    behind = fit(PIECES[1:], left_s - longest_s + 0.01)
    assert first.needs_s <= longest_s <= left_s and behind.stage is not None


@pytest.mark.parametrize("left_s", [30, 45, 60, 90, 150])
def test_a_shorter_stage_still_reaches_the_plateau_and_says_what_it_left_out(left_s: int) -> None:
    found = fit(PIECES, left_s)
    assert found.stage is not None and found.stage != ALONE and found.told
    assert max(found.stage.sizes.min, found.stage.sizes.max) >= LEAST_BYTES and found.stage.iterations >= 5


def test_where_not_even_the_shortest_fits_it_is_left_out_with_the_time_it_needs() -> None:
    found = fit(PIECES[1:], 10)
    assert found.stage is None
    assert str(found.told[0]).startswith("multi_node, would need about ")


@pytest.mark.parametrize("budget_s", [30, 60, 300, 1800, 86400])
@pytest.mark.parametrize("hosts", [1, 64, 1024, 20_000])
def test_time_is_left_for_the_end(budget_s: int, hosts: int) -> None:
    found = times(budget_s, hosts)
    assert 0 < found.jobs_s < found.commands_s < budget_s
