"""Goodput of trainings whose every second is known: each loss under its name, and the sum is the window."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta

import pytest

from healthcheck.model.training import EventKind, Framework, LogFacts, RunEvent, StepRecord
from healthcheck.model.vitals_log import LogVitals, LossKind
from healthcheck.vitals.log_intake import Intake
from healthcheck.vitals.log_vitals import Asked, see, vitals_of
from tests.unit.vitals.training_world import BATCH, SEQ_LEN, World, adds_up, judged, lacks, losses, said

TOKENS = BATCH * SEQ_LEN


def of_items(*items: StepRecord | RunEvent) -> LogVitals:
    """The vitals of a hand-made stream."""
    intake = Intake("log")
    intake.add_all(items)
    seen = see([intake.training(Framework.MEGATRON, LogFacts(), ())], Asked())
    return vitals_of(seen, Asked())


def test_the_example_of_the_article() -> None:
    # 2e9 tokens that survive in 1800 s are 1.11 M tokens/s; 500 steps of 4e6 tokens, and 600 s down in between.
    steps = [
        StepRecord(n, n, step_time_s=2.4, at_s=n * 2.4 + (600.0 if n > 250 else 0.0), tokens=4e6) for n in range(1, 501)
    ]
    vitals = of_items(*steps[:250], RunEvent(EventKind.START, 251), *steps[250:])
    goodput = vitals.goodput
    assert goodput is not None
    assert goodput.tokens == 2e9
    assert goodput.window_s == pytest.approx(1800)
    assert goodput.tokens_per_s == pytest.approx(1.111e6, rel=1e-3)
    assert goodput.share == pytest.approx(1200 / 1800)
    assert losses(vitals) == {LossKind.RESTART: pytest.approx(600)}
    assert adds_up(vitals)


def test_every_loss_has_its_name_and_its_time() -> None:
    world = World(2.0).start(took=120)
    world.lost(LossKind.RESTART, 120)
    world.steps(1, 22.0).lost(LossKind.WARM_UP, 20)
    world.steps(250).save(30).steps(199)
    world.lost(LossKind.REDONE, 199 * 2.0)
    world.wait(600, LossKind.RESTART).start(took=90, loaded=251).lost(LossKind.RESTART, 90)
    world.steps(1, 12.0).lost(LossKind.WARM_UP, 10)
    world.steps(300).save(40).steps(100)
    world.say(f"validation loss at iteration {world.step} | lm loss value: 2.1E+00 | lm loss PPL: 8.1E+00 |")
    world.wait(50, LossKind.EVALUATION).steps(2).steps(5, 5.0).lost(LossKind.SLOW_STEPS, 5 * 3.0)
    world.steps(50).wait(77, LossKind.UNKNOWN).steps(20).steps(1, skipped="1", nan="0").lost(LossKind.SKIPPED, 2.0)
    vitals = judged(world.steps(10).lines)
    found = losses(vitals)
    assert found.keys() == world.truth.keys()
    assert found == pytest.approx(world.truth, abs=0.01)
    assert adds_up(vitals)
    assert (vitals.starts, vitals.rollbacks, vitals.skipped) == (2, 1, 1)
    goodput, step = vitals.goodput, vitals.step_time
    assert goodput is not None and step is not None
    # Each step once, but for the skipped one.
    assert goodput.steps == world.step - 1
    assert goodput.tokens == goodput.steps * TOKENS
    assert step.steady_s == pytest.approx(2.0)
    assert (step.median_s, step.warm_up, step.outliers) == (2.0, 2, 5)
    longest = {loss.kind: loss.longest_s for loss in goodput.losses}
    assert longest[LossKind.RESTART] == pytest.approx(690)


def test_a_crash_before_a_save_as_bloom_had_it() -> None:
    # Saved every 250 iterations of 105.22 s; a crash two iterations before the next save cost 7.3 h.
    world = World(105.22, batch=2048).start().steps(500).save(40)

    world.steps(248).wait(900, LossKind.RESTART).start(loaded=500).steps(600)
    world.save(40).steps(100)
    vitals = judged(world.lines)
    redone = next(loss for loss in vitals.goodput.losses if loss.kind is LossKind.REDONE) if vitals.goodput else None
    assert redone is not None and redone.steps == 248
    assert redone.seconds / 3600 == pytest.approx(7.25, abs=0.01)
    assert adds_up(vitals)


def test_how_much_a_crash_puts_at_risk() -> None:
    world = World(105.2).start()
    for _ in range(4):
        world.steps(250).save(40)
    checkpoints = judged(world.lines).checkpoints
    assert checkpoints is not None
    assert (checkpoints.saves, checkpoints.interval_steps) == (4, 250)
    assert checkpoints.at_risk_s is not None and checkpoints.at_risk_s / 3600 == pytest.approx(7.3, abs=0.01)
    assert checkpoints.stall_s == pytest.approx(40, abs=0.1)


def test_a_failure_takes_what_was_not_saved() -> None:
    world = World().start().steps(100).save(10).steps(60)
    items = [RunEvent(EventKind.FAILURE, 10_000, text="NCCL watchdog")]
    whole = judged(world.lines)
    assert whole.goodput is not None and whole.goodput.steps == 160
    assert "log.missing.unkept" in lacks(whole)

    steps = [StepRecord(n, n, step_time_s=2.0, at_s=2.0 * n, tokens=100.0) for n in range(1, 161)]
    save = RunEvent(EventKind.CHECKPOINT_SAVED, 101, 100, 200.0)
    failed = of_items(*steps[:100], save, *steps[100:], *items)
    assert failed.goodput is not None and failed.goodput.steps == 100
    assert losses(failed) == {LossKind.NOT_KEPT: pytest.approx(120.0)}
    assert adds_up(failed)


def test_a_log_without_times_is_an_upper_bound_and_says_so() -> None:
    world = World(2.0, stamps=False).start().steps(1, 30.0).steps(200).save(60)
    world.steps(50).start(loaded=201).steps(100)
    vitals = judged(world.lines)
    goodput = vitals.goodput
    assert goodput is not None and not goodput.wall_clock
    assert goodput.begins_s is None
    assert goodput.window_s == pytest.approx(30 + 350 * 2.0)
    assert losses(vitals) == {LossKind.REDONE: pytest.approx(100), LossKind.WARM_UP: pytest.approx(28)}
    assert "log.missing.clock" in lacks(vitals)
    assert adds_up(vitals)


def test_means_of_an_interval_count_for_all_its_steps() -> None:
    world = World(2.0, interval=10).start(took=60).steps(400).save(30).steps(95)
    world.wait(300, LossKind.RESTART).start(loaded=400).steps(200)
    vitals = judged(world.lines)
    step, goodput = vitals.step_time, vitals.goodput
    assert step is not None and goodput is not None
    assert step.interval_means
    assert goodput.steps == 600
    # The five steps after the last line, and what they took, are only known to lie before the restart.
    assert losses(vitals)[LossKind.REDONE] == pytest.approx(180, abs=0.1)
    assert losses(vitals)[LossKind.RESTART] == pytest.approx(300 + 10 + 60, abs=0.1)
    assert "log.missing.means" in lacks(vitals)
    assert adds_up(vitals)


def test_steps_that_no_line_shows_but_a_later_start_took_up_survive() -> None:
    world = World(2.0).start().steps(100)
    kept = len(world.lines)
    world.steps(20).save(10)
    del world.lines[kept:]  # the end of the first log was lost with its node
    world.wait(500, LossKind.RESTART).start(loaded=120).steps(100)
    vitals = judged(world.lines)
    assert vitals.goodput is not None and vitals.goodput.steps == 220
    assert losses(vitals) == {LossKind.RESTART: pytest.approx(510, abs=0.1)}
    assert "log.missing.hidden" in lacks(vitals)


def test_a_batch_that_grows_is_no_slow_step() -> None:
    items = [
        StepRecord(
            n,
            n,
            step_time_s=2.0 if n > 200 else 1.0,
            at_s=float(n + max(0, n - 200)),
            tokens=200.0 if n > 200 else 100.0,
        )
        for n in range(1, 501)
    ]
    vitals = of_items(*items)
    assert vitals.goodput is not None and vitals.goodput.share == pytest.approx(1.0)
    assert losses(vitals) == {}
    assert vitals.step_time is not None and vitals.step_time.median_s == 2.0


@pytest.mark.parametrize("seed", range(12))
def test_whatever_happens_the_losses_are_those_that_were_planted(seed: int) -> None:
    dice = random.Random(seed)
    world = World(round(dice.uniform(0.4, 9.0), 2)).start()
    world.steps(30)
    saved = 0
    for _ in range(dice.randint(2, 9)):
        world.steps(dice.randint(5, 60))
        what = dice.choice(("save", "save", "crash", "slow", "pause"))
        if what == "save":
            world.save(round(dice.uniform(5, 90), 1))
            saved = world.step
        elif what == "crash" and saved:
            world.lost(LossKind.REDONE, (world.step - saved) * world.step_s)
            world.wait(round(dice.uniform(60, 900), 1), LossKind.RESTART)
            world.start(loaded=saved)
        elif what == "slow":
            n = dice.randint(1, 4)
            world.steps(n, 3 * world.step_s).lost(LossKind.SLOW_STEPS, n * 2 * world.step_s)
            world.steps(2)
        else:
            world.wait(round(dice.uniform(20, 90), 1), LossKind.UNKNOWN)
        world.steps(2)
    vitals = judged(world.steps(30).lines)
    assert adds_up(vitals)
    found, goodput = losses(vitals), vitals.goodput
    assert goodput is not None and goodput.steps == world.step
    planted = {kind: seconds for kind, seconds in world.truth.items() if seconds}
    slow_in_vain = LossKind.REDONE in planted and LossKind.SLOW_STEPS in planted
    if not slow_in_vain:  # a slow step that is done again is lost as a whole
        assert found == pytest.approx(planted, abs=0.5)
    assert sum(found.values()) == pytest.approx(sum(planted.values()), abs=1.0)
    assert not said(vitals) & {"log.time_clash", "log.clock_back"}


def test_the_progress_of_megatron_is_its_cumulative_over_its_steady_throughput() -> None:
    # 64 GPUs at 400 TFLOP/s and 4 M tokens a step while they train; a save every 250 steps of 10 s.
    flops_a_step, tokens_a_step, gpus, begin = 400e12 * 64 * 10, 4e6, 64, datetime(2026, 2, 1, tzinfo=UTC)
    lines, at, step = [], begin, 0

    def say(what: str) -> None:
        lines.append(f"{at:%Y-%m-%d %H:%M:%S}\tJob ID: 77\t# GPUs: {gpus}\t{what}\n")

    def save() -> float:
        cumulative = flops_a_step * step / gpus / (at - begin).total_seconds() / 1e12
        say(
            f"Saved checkpoint\tIteration: {step}\tJob throughput: 390.0 TFLOP/s/GPU\tCumulative throughput: "
            f"{cumulative:.1f} TFLOP/s/GPU\tFloating-point operations: {flops_a_step * step:.2e}\t"
            f"Tokens (in billions): {tokens_a_step * step / 1e9:.2f}"
        )
        return cumulative

    cumulative = 0.0
    for down in (300, 4000):
        at += timedelta(seconds=down if step else 0)
        say("Starting job")
        at += timedelta(seconds=200)
        for _ in range(10):
            at, step = at + timedelta(seconds=2500), step + 250
            cumulative = save()
        at, kept = at + timedelta(seconds=1700), step  # 170 steps are lost with the job
        assert kept == step
    vitals = judged(lines)
    assert vitals.framework is Framework.MEGATRON_PROGRESS
    assert vitals.goodput is not None and vitals.goodput.share is not None
    assert vitals.goodput.share == pytest.approx(cumulative / 400.0, abs=0.002)
    assert losses(vitals) == {LossKind.RESTART: pytest.approx(200 + 4000 + 1700 + 200, rel=0.01)}
    assert vitals.rate is not None and vitals.rate.tokens_per_s == pytest.approx(4e5, rel=0.005)


def test_a_crash_loop_is_counted_start_by_start() -> None:
    world = World().start(took=60).steps(100).save(20).steps(10)
    for _ in range(3):
        world.wait(120, LossKind.RESTART).start(took=90, loaded=100)
        world.step = 110
    vitals = judged(world.wait(120, LossKind.RESTART).start(took=60, loaded=100).steps(50).lines)
    assert (vitals.starts, vitals.starts_in_vain) == (2, 3)
    assert losses(vitals)[LossKind.RESTART] == pytest.approx(60 + 4 * 120 + 3 * 90 + 60)


def test_a_training_that_slowed_down_is_told_its_former_pace() -> None:
    vitals = judged(World().start().steps(300, 2.0).steps(900, 3.0).lines)
    assert vitals.step_time is not None and vitals.step_time.median_s == 3.0
    assert "log.faster" in said(vitals)
    assert vitals.goodput is not None and vitals.goodput.share is not None and vitals.goodput.share <= 1
    assert adds_up(vitals)


def test_a_checkpoint_that_is_read_on_the_way_is_no_restart() -> None:
    world = World().start().steps(50)
    world.say("  successfully loaded checkpoint from /ema [ t 1/8, p 1/1 ] at iteration 40")
    vitals = judged(world.steps(50).lines)
    assert vitals.starts == 1
    assert losses(vitals) == {}


def test_times_of_events_are_enough_where_steps_have_none() -> None:
    # Megatron before 2024: iterations have no time, the start, the saves and the end have one.
    world = World(2.0).start(took=60).steps(200).save(30).steps(90)
    world.wait(600, LossKind.RESTART).start(took=60, loaded=200).steps(200).save(30)
    world.say("exiting program at iteration 400")
    bare = [line if "iteration" not in line or "lm loss" not in line else line.split("]", 1)[1] for line in world.lines]
    vitals = judged(bare)
    goodput = vitals.goodput
    assert goodput is not None and goodput.wall_clock
    assert goodput.window_s == pytest.approx(60 + 400 + 30 + 180 + 600 + 60 + 400 + 30, abs=3)
    found = losses(vitals)
    assert found[LossKind.REDONE] == pytest.approx(180)
    assert found[LossKind.CHECKPOINT] >= 30
    assert found[LossKind.RESTART] >= 600
    assert adds_up(vitals)
