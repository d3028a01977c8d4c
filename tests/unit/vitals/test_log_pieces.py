"""Several files of one training: copies that ranks printed, pieces that follow each other, and what is neither."""

from __future__ import annotations

import math

import pytest
from msgspec.structs import replace

from healthcheck.errors import InputError
from healthcheck.model.training import EventKind, Framework, LogFacts, RunEvent, StepRecord
from healthcheck.model.vitals_log import LossKind
from healthcheck.vitals.log_intake import Intake
from healthcheck.vitals.log_vitals import Asked, see, vitals_of
from tests.unit.vitals.training_world import World, adds_up, judged, lacks, losses, said

HOUR = 3600.0


def test_files_of_ranks_count_once_and_the_slowest_is_the_step() -> None:
    fast, slow = World(2.0).start().steps(100), World(2.0).start()
    slow.steps(50).steps(1, 2.0).steps(49)
    slow.lines[60] = slow.lines[60].replace("(ms): 2000.0", "(ms): 2900.0")
    vitals = judged(fast.lines, slow.lines)
    assert "log.rank_files" in said(vitals)
    assert (vitals.starts, vitals.rank_copies) == (1, 100)
    assert vitals.step_time is not None and vitals.step_time.worst_s == 2.9


def test_the_file_of_a_rank_that_says_less_takes_nothing_away() -> None:
    full = [StepRecord(n, n, step_time_s=9.0 if n == 50 else 2.0, at_s=2.0 * n) for n in range(1, 101)]
    bare = [replace(one, step_time_s=None, at_s=None) if one.step in (50, 100) else one for one in full]
    pieces = []
    for file, records in (("rank0.log", full), ("rank1.log", bare)):
        intake = Intake(file)
        intake.add_all(records)
        pieces.append(intake.training(Framework.MAXTEXT, LogFacts(), ()))
    vitals = vitals_of(see(pieces, Asked()), Asked())
    assert vitals.rank_copies == 100
    assert vitals.step_time is not None and vitals.step_time.worst_s == 9.0
    assert vitals.goodput is not None and vitals.goodput.ends_s == 200.0


def test_successive_pieces_are_put_in_order() -> None:
    first = World().start(took=30).steps(100).save(10).steps(30)
    second = World()
    second.now = first.now + 400
    second.start(took=60, loaded=100).steps(200)
    vitals = judged(second.lines, first.lines)
    assert "log.pieces" in said(vitals)
    assert vitals.files == ("train2.log", "train1.log")
    found = losses(vitals)
    assert found[LossKind.REDONE] == pytest.approx(60)
    assert found[LossKind.RESTART] == pytest.approx(30 + 460)
    assert vitals.goodput is not None and vitals.goodput.steps == 300
    assert adds_up(vitals)


def test_a_log_that_was_cut_in_two_is_no_restart() -> None:
    lines = World().start().steps(200).lines
    vitals = judged(lines[:90], lines[90:])
    assert vitals.starts == 1
    assert losses(vitals) == {}
    assert vitals.step_time is not None and vitals.step_time.warm_up == 1


@pytest.mark.parametrize("again", [40, 250])
def test_files_that_were_fetched_twice_overlap_and_count_once(again: int) -> None:
    # kubectl logs --since, once and once more: the end of the one is the beginning of the other.
    world = World(2.0).start(took=30).steps(300).save(20).steps(100)
    lines = world.wait(300, LossKind.RESTART).start(took=20, loaded=300).steps(200).lines
    whole, cut = judged(lines), 330
    for logs in ((lines[: cut + again], lines[cut:]), (lines[cut:], lines[: cut + again])):
        vitals = judged(*logs)
        assert (vitals.starts, vitals.rollbacks, vitals.first_step) == (2, 1, 1)
        assert vitals.goodput is not None and whole.goodput is not None
        assert vitals.goodput.share == pytest.approx(whole.goodput.share) and adds_up(vitals)
        assert "log.repeated" in said(vitals)


def test_files_of_two_trainings_at_one_time_are_refused() -> None:
    one, other = World().start().steps(100), World()
    other.step = 5000
    with pytest.raises(InputError, match=r"at the same time as train1\.log"):
        judged(one.lines, other.start().steps(100).lines)


def test_pieces_from_two_time_zones_go_by_their_steps() -> None:
    first = World().start().steps(100)
    second = World()
    second.now, second.zone = first.now + 60, -HOUR
    second.start(loaded=100).steps(100)
    vitals = judged(first.lines, second.lines)
    assert vitals.files == ("train1.log", "train2.log")
    assert vitals.rollbacks == 0
    assert vitals.goodput is not None and vitals.goodput.steps == 200
    assert "log.missing.down" in lacks(vitals)


def _rolled_back() -> list[str]:
    world = World().start(took=30).steps(200).save(10).steps(60)
    return world.wait(200, LossKind.RESTART).start(took=30, loaded=200).steps(300).lines


def test_files_of_ranks_with_a_rollback_in_them_are_copies_too() -> None:
    alone = judged(_rolled_back())
    vitals = judged(_rolled_back(), _rolled_back(), _rolled_back())
    assert vitals.goodput is not None and alone.goodput is not None
    assert vitals.goodput.useful_s == alone.goodput.useful_s
    assert losses(vitals) == losses(alone)
    assert len(vitals.files) == 3


def test_the_logs_of_ranks_one_below_the_other_are_copies() -> None:
    alone = judged(_rolled_back())
    below = [line for rank in range(4) for line in (f"{rank}: {text}" for text in _rolled_back())]
    vitals = judged(below)
    assert "log.stacked" in said(vitals)
    assert (vitals.starts, vitals.rollbacks, vitals.rank_copies) == (2, 1, 3 * 560)
    assert losses(vitals) == losses(alone)


def test_the_copy_with_most_in_it_is_the_one_that_counts() -> None:
    lines = World().start().steps(300).lines
    vitals = judged(lines[:100], lines)
    assert vitals.goodput is not None and vitals.goodput.steps == 300
    assert "log.rank_files" in said(vitals)


def test_lines_that_a_collector_put_the_wrong_way_round_are_no_restart() -> None:
    lines = World().start().steps(300).lines
    for place in range(10, 290, 7):
        lines[place], lines[place + 1] = lines[place + 1], lines[place]
    vitals = judged(lines)
    assert (vitals.starts, vitals.rank_copies) == (1, 0)
    assert vitals.goodput is not None and vitals.goodput.steps == 300
    assert losses(vitals) == {}


def test_a_timer_stays_with_its_step_where_another_line_came_late() -> None:
    intake = Intake("train.log")
    for step in (1, 2, 4):
        intake.add_all([StepRecord(step, step, step_time_s=2.0, at_s=2.0 * step)])
        intake.add_all([RunEvent(EventKind.TIMED, step, step, took_s=0.1 * step, text="all-reduce")])
    intake.add_all([StepRecord(3, 5, step_time_s=2.0, at_s=6.0)])
    rows = intake.training(Framework.MEGATRON, LogFacts(), ()).rows
    assert dict(zip(rows.step, rows.timers["all-reduce"], strict=True)) == pytest.approx(
        {1: 0.1, 2: 0.2, 3: math.nan, 4: 0.4}, nan_ok=True
    )
