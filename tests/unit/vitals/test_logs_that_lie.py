"""Logs that say what cannot be: each is read right, or refused with the reason."""

from __future__ import annotations

import math
import random

import pytest

from healthcheck.errors import InputError
from healthcheck.model.vitals_log import LossKind
from tests.unit.vitals.training_world import World, adds_up, judged, lacks, losses, said, titan

HOUR = 3600.0


def test_the_first_step_after_a_start_is_counted_once() -> None:
    # Log interval 1: the second report is the mean of the first two steps, and the clock shows 3.1 s for it.
    world = World(3.1).start(took=10).steps(1, 21.6)
    world.now, world.step = world.now + 3.1, 2
    world.line((21.6 + 3.1) / 2).steps(100)
    for lines in (world.lines, [line.split("]", 1)[1] for line in world.lines]):
        vitals = judged(lines)
        assert "log.first_twice" in said(vitals)
        assert losses(vitals)[LossKind.WARM_UP] == pytest.approx(18.5, abs=0.1)
        assert LossKind.SLOW_STEPS not in losses(vitals)
        assert vitals.goodput is not None and vitals.goodput.steps == 102
        assert adds_up(vitals)


def test_the_first_step_of_an_interval_is_counted_once() -> None:
    # Log interval 10: a line for step 1 alone, then the mean of steps 1 to 10.
    world = World(3.0, interval=10).start(took=10).steps(1, 21.0)
    world.line(21.0)
    world.now, world.step = world.now + 27.0, 10
    world.line((21.0 + 27.0) / 10).steps(100)
    vitals = judged(world.lines)
    assert vitals.goodput is not None and vitals.goodput.steps == 110
    assert losses(vitals) == {LossKind.RESTART: pytest.approx(10), LossKind.WARM_UP: pytest.approx(18)}


def test_steps_whose_loss_is_no_number_are_not_effective() -> None:
    world = World().start().steps(100).steps(7, loss="NAN").steps(50)
    vitals = judged(world.lines)
    assert vitals.nan_losses == 7
    assert vitals.goodput is not None and vitals.goodput.steps == 150
    assert losses(vitals)[LossKind.SKIPPED] == pytest.approx(14.0, abs=0.1)
    assert adds_up(vitals)


def test_a_clock_that_goes_back_makes_no_time() -> None:
    world = World().start().steps(100)
    world.zone = -1500.0
    vitals = judged(world.steps(100).lines)
    assert "log.clock_back" in said(vitals)
    assert vitals.goodput is not None and vitals.goodput.window_s == pytest.approx(400, abs=0.5)
    assert vitals.goodput.share == pytest.approx(1.0, abs=0.001)


@pytest.mark.parametrize("shift", [HOUR, -HOUR])
def test_summer_time_is_no_loss_and_no_gain(shift: float) -> None:
    world = World(2.0)
    # Sunday, 29 March 2026, 01:58 as a clock in Berlin shows it.
    world.now = 1774749480.0
    world.start().steps(60)
    world.zone = shift
    vitals = judged(world.steps(200).lines)
    assert said(vitals) & {"log.clock_forward", "log.clock_back"}
    assert vitals.goodput is not None and vitals.goodput.window_s == pytest.approx(520, abs=0.5)
    assert losses(vitals) == {}


def test_an_hour_that_nobody_explains_is_a_loss_at_any_other_time() -> None:
    vitals = judged(World().start().steps(100).wait(HOUR, LossKind.UNKNOWN).steps(100).lines)
    assert losses(vitals) == {LossKind.UNKNOWN: pytest.approx(HOUR)}


def test_a_clock_that_goes_back_over_a_restart_leaves_its_length_unknown() -> None:
    world = World().start().steps(100).save(10).steps(20)
    world.now += 120
    world.zone = -7 * HOUR
    vitals = judged(world.start(loaded=100).steps(100).lines)
    assert "log.clock_back_down" in said(vitals)
    assert "log.missing.down" in lacks(vitals)
    found = losses(vitals)
    assert found[LossKind.REDONE] == pytest.approx(40, abs=0.1)
    assert found.get(LossKind.RESTART, 0.0) < 1
    assert adds_up(vitals)


def test_a_restart_from_an_older_checkpoint_that_nothing_tells_of() -> None:
    world = World().start().steps(100)
    world.step = 60
    vitals = judged(world.wait(200, LossKind.RESTART).steps(100).lines)
    assert "log.went_back" in said(vitals)
    assert vitals.goodput is not None and vitals.goodput.steps == 160
    assert losses(vitals) == {LossKind.REDONE: pytest.approx(80), LossKind.RESTART: pytest.approx(200)}
    assert vitals.rollbacks == 1


def test_a_step_that_is_done_again_and_again_counts_once() -> None:
    world = World().start().steps(100)
    for _ in range(4):
        world.step = 80
        world.wait(100, LossKind.RESTART).steps(20)
    vitals = judged(world.steps(30).lines)
    assert vitals.goodput is not None and vitals.goodput.steps == 130
    assert losses(vitals)[LossKind.REDONE] == pytest.approx(4 * 20 * 2.0, abs=0.1)
    assert (vitals.rollbacks, vitals.starts) == (4, 5)


def test_ranks_that_print_in_turn_are_one_training_and_the_slowest_is_the_step() -> None:
    dice = random.Random(3)
    lines = []
    for step in range(1, 80):
        ranks = [f"[rank{n}]:" for n in range(4)]
        dice.shuffle(ranks)
        lines += [
            titan(
                step,
                f"2026-01-14 02:{step // 60:02}:{step % 60:02},{dice.randint(0, 99):03}",
                "7,000" if rank == "[rank2]:" else "8,000",
                rank=rank,
            )
            for rank in ranks
        ]
    vitals = judged(lines)
    assert vitals.rank_copies == 3 * 79
    assert vitals.starts == 1
    assert vitals.goodput is not None and vitals.goodput.steps == 79
    assert vitals.rate is not None and vitals.rate.per_gpu == pytest.approx(7000)


def test_a_rank_that_lags_makes_no_restart() -> None:
    lines = []
    for step in range(1, 80):
        lines.append(titan(step, f"2026-01-14 02:{step // 60:02}:{step % 60:02},000", rank="[rank0]:"))
        if step > 3:
            late = step - 3
            lines.append(titan(late, f"2026-01-14 02:{late // 60:02}:{late % 60:02},100", rank="[rank1]:"))
    vitals = judged(lines)
    assert (vitals.starts, vitals.rank_copies) == (1, 76)


def test_a_rank_that_lags_by_more_steps_than_are_remembered_makes_no_restart() -> None:
    lines = []
    for step in range(1, 700):
        for rank, printed in (("[rank0]:", step), ("[rank1]:", step - 300 if step > 301 else 0)):
            if printed or step == 1:
                at = f"2026-01-14 02:{step // 60:02}:{step % 60:02},000"
                lines.append(titan(max(1, printed), at, rank=rank))
    vitals = judged(lines)
    assert (vitals.starts, vitals.rank_copies) == (1, 1 + 398)


def test_the_last_step_of_a_rank_below_the_end_of_another_is_no_restart() -> None:
    world = World().start().steps(50)
    last = len(world.lines) - 1
    world.say("exiting program at iteration 50 datetime: 2026-01-14 02:01:40")
    lines = [f"{rank}: {text}" for text in world.lines[:last] for rank in (0, 1)]
    lines += [f"0: {world.lines[last]}", f"0: {world.lines[-1]}", f"1: {world.lines[last]}", f"1: {world.lines[-1]}"]
    vitals = judged(lines)
    assert (vitals.starts, vitals.rank_copies) == (1, 50)
    assert losses(vitals) == {}


@pytest.mark.parametrize("stamps", [True, False])
def test_copies_without_a_rank_in_front_are_known_by_their_moment(stamps: bool) -> None:
    world = World(stamps=stamps).start().steps(50)
    twice = [line for line in world.lines for _ in range(3)]
    vitals = judged(twice)
    assert (vitals.starts, vitals.rank_copies) == (1, 100)
    assert vitals.goodput is not None and vitals.goodput.steps == 50


def test_a_line_that_is_cut_is_no_step() -> None:
    lines = World().start().steps(50).lines
    whole = "".join(lines)
    for cut in range(1, len(lines[-1]) + 1, 7):
        vitals = judged(whole[:-cut].splitlines(keepends=True))
        assert vitals.goodput is not None
        assert vitals.goodput.steps in (49, 50)
        assert vitals.step_time is not None and vitals.step_time.worst_s == 2.0


def test_two_trainings_one_after_the_other_are_refused() -> None:
    small = World(batch=256).start().steps(100)
    large = World(batch=512)
    large.now = small.now + 1000
    with pytest.raises(InputError, match=r"train\.log:\d+: another training begins here"):
        judged([*small.lines, *large.start().steps(100).lines])


def test_a_training_that_begins_anew_is_told_to_be_perhaps_another() -> None:
    world = World().start().steps(100)
    world.step = 0
    vitals = judged(world.wait(100, LossKind.RESTART).start().steps(150).lines)
    assert "log.from_zero" in said(vitals)
    assert losses(vitals)[LossKind.REDONE] == pytest.approx(200)


def test_two_trainings_in_turn_are_refused() -> None:
    one, other = World().start().steps(40), World()
    other.step = 1000
    other.now += 1
    other.start().steps(40)
    turns = [line for pair in zip(one.lines[2:], other.lines[2:], strict=True) for line in pair]
    with pytest.raises(InputError, match="two trainings in turn"):
        judged(turns)


def test_step_times_that_exceed_the_clock_are_told_and_the_clock_is_taken() -> None:
    lines = World(2.0).start().steps(300).lines
    lies = [line.replace("(ms): 2000.0", "(ms): 3000.0") for line in lines]
    vitals = judged(lies)
    assert "log.time_clash" in said(vitals)
    assert vitals.goodput is not None and vitals.goodput.window_s == pytest.approx(601, abs=0.5)
    assert vitals.goodput.share is not None and vitals.goodput.share <= 1
    assert adds_up(vitals)


def test_too_few_steps_say_nothing() -> None:
    vitals = judged(World().start().steps(3).lines)
    assert vitals.exit_code == 3
    assert "log.missing.few" in lacks(vitals)


def test_no_number_is_ever_not_a_number() -> None:
    world = World().start().steps(3, loss="NAN").steps(2)
    vitals = judged(world.lines)
    assert vitals.goodput is not None
    assert all(math.isfinite(loss.seconds) for loss in vitals.goodput.losses)


def test_steps_that_jump_ahead_without_the_time_for_them_are_not_counted() -> None:
    world = World().start().steps(100)
    world.step += 50_000
    vitals = judged(world.steps(100).lines)
    assert "log.jumped" in said(vitals)
    assert vitals.goodput is not None and vitals.goodput.steps == 200
    assert vitals.goodput.share == pytest.approx(1.0, abs=0.001)


def test_the_first_report_of_a_start_far_behind_its_checkpoint_loses_one_step() -> None:
    world = World().start(loaded=10)
    world.step = 5000
    assert judged(world.steps(1, loss="NAN").steps(100).lines).nan_losses == 1


def test_lines_that_were_lost_count_where_the_clock_has_the_time_for_them() -> None:
    lines = World().start().steps(300).lines
    vitals = judged(lines[:100] + lines[180:])
    assert vitals.goodput is not None and vitals.goodput.steps == 300
    assert losses(vitals) == {}


def test_ranks_without_a_name_or_a_time_are_refused_soon() -> None:
    dice = random.Random(5)
    lines = []
    for step in range(1, 2000):
        one = World(stamps=False)
        one.step = step
        lines += [one.steps(1, dice.uniform(1.9, 2.1), loss=f"{dice.uniform(2, 3):.6E}").lines[-1] for _ in range(4)]
    with pytest.raises(InputError, match="go back 51 times"):
        judged(lines)


def test_a_clock_of_whole_seconds_does_not_make_short_steps_shorter() -> None:
    # As users of nanotron publish it: nine steps of 45 ms, all in one second of the clock.
    lines = [
        f"01/17/2024 13:47:27 [INFO|DP=0|PP=0|TP=0]: iteration: {n} / 1000 | consumed_tokens: {n}K | "
        "elapsed_time_per_iteration_ms: 45 | tokens_per_sec: 22.2K | tokens_per_sec_per_gpu: 2.78K | "
        "global_batch_size: 20 | lm_loss: 10.6 | lr: 1e-05 | model_tflops_per_gpu: 0.01 | "
        "hardware_tflops_per_gpu: 0.01 | grad_norm: 0.5 | x: 1\n"
        for n in range(991, 1000)
    ]
    goodput = judged(lines).goodput
    assert goodput is not None and goodput.window_s == pytest.approx(9 * 0.045)
    assert goodput.tokens_per_s == pytest.approx(1000 / 0.045) and goodput.share == pytest.approx(1)
    assert "log.time_clash" not in said(judged(lines))
