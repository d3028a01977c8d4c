"""Pauses beside step times of few digits, of one step in ten, or of a clock of seconds: each is lost once."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from healthcheck.model.vitals_log import LossKind
from healthcheck.vitals.log_vitals import Asked
from healthcheck.vitals.log_work import GivenWork
from tests.unit.vitals.training_world import BEGIN, World, adds_up, judged, losses, said


@pytest.mark.parametrize("stamped", [True, False])
def test_an_evaluation_in_the_one_step_of_ten_that_is_printed_counts_once(stamped: bool) -> None:
    # nanoGPT as its own configurations run it: a line every 10 iterations, whose time is of that one iteration, and
    # the evaluation of every 100th is in it.
    lines, now = ["tokens per iteration will be: 491,520\n"], BEGIN
    for step in range(501):
        took = 31.0 if step % 100 == 0 else 5.0 if step == 250 else 1.0
        now += took
        stamp = f"{datetime.fromtimestamp(now, UTC):%Y-%m-%d %H:%M:%S} " if stamped else ""
        if step % 100 == 0:
            lines.append(f"{stamp}step {step}: train loss 4.0390, val loss 4.0427\n")
        if step % 10 == 0:
            lines.append(f"{stamp}iter {step}: loss 3.9883, time {took * 1e3:.2f}ms, mfu 15.34%\n")
    vitals = judged(lines)
    assert vitals.goodput is not None and vitals.goodput.share == pytest.approx(501 / (now - BEGIN), rel=0.01)
    found = losses(vitals)
    assert found[LossKind.EVALUATION] + found[LossKind.WARM_UP] == pytest.approx(180, abs=2)
    assert found[LossKind.SLOW_STEPS] == pytest.approx(4, abs=0.1)
    assert "log.time_clash" not in said(vitals)
    assert vitals.step_time is not None
    assert (vitals.step_time.median_s, vitals.step_time.worst_s) == (1.0, 5.0)
    assert adds_up(vitals)


def test_many_slow_steps_of_one_length_are_not_the_usual_one_rounded_up() -> None:
    # Times of few digits: most are the same to the last one, and so are the slow ones, one in eight.
    world = World(11.5).start()
    for _ in range(20):
        world.steps(7).steps(1, 23.0)
    vitals = judged(world.lines)
    assert vitals.goodput is not None and vitals.goodput.share == pytest.approx(160 * 11.5 / (180 * 11.5), rel=0.01)
    assert losses(vitals)[LossKind.SLOW_STEPS] == pytest.approx(20 * 11.5, rel=0.01)


@pytest.mark.parametrize("evaluates", [True, False])
def test_a_pause_among_short_steps_with_stamps_of_whole_seconds_is_lost_once(evaluates: bool) -> None:
    # NeMo Automodel: no step times, and a clock of seconds, whose differences are taken over twenty of them.
    lines, now = [], BEGIN
    for step in range(1, 501):
        now += 0.7
        stamp = f"{datetime.fromtimestamp(now, UTC):%Y-%m-%d %H:%M:%S}"
        lines.append(f"{stamp} | INFO | root | step {step} | epoch 0 | loss 3.9796 | lr 7.2e-06 | x 1\n")
        if step % 100 == 0 and step < 500:
            now += 60
            stamp = f"{datetime.fromtimestamp(now, UTC):%Y-%m-%d %H:%M:%S}"
            told = f'{stamp} | INFO | root | [val] name "x" | step {step} | epoch 0 | loss 1.2 | lr 1.0e-05\n'
            lines += [told] if evaluates else []
    vitals = judged(lines)
    assert vitals.goodput is not None and vitals.goodput.share == pytest.approx(350 / 590, rel=0.02)
    # What the log does not tell of is in the step, as its only clock has it.
    kind = LossKind.EVALUATION if evaluates else LossKind.SLOW_STEPS
    assert losses(vitals) == {kind: pytest.approx(240, abs=6)}
    assert "log.time_clash" not in said(vitals)


def test_a_batch_that_makes_steps_longer_than_the_lines_are_apart_is_not_believed() -> None:
    # Twice the batch was given: 8 GPUs at 8,192 tokens/s make 2 s of it, and the clock shows a step a second.
    lines = [
        f"[titan] 2026-01-14 02:{n // 60:02}:{n % 60:02},000 - root - INFO - step: {n:2}  loss:  8.1234  "
        "grad_norm:  1.4  memory: 60.00GiB(75.00%)  tps: 8,192  tflops: 400.00  mfu: 40.00%\n"
        for n in range(1, 200)
    ]
    right = judged(lines, asked=Asked(given=GivenWork(tokens_per_step=8 * 8192, gpus=8)))
    wrong = judged(lines, asked=Asked(given=GivenWork(tokens_per_step=2 * 8 * 8192, gpus=8)))
    assert right.step_time is not None and wrong.step_time is not None
    assert (right.step_time.median_s, wrong.step_time.median_s) == (1.0, 1.0)
    assert wrong.step_time.basis is not None and wrong.step_time.basis.code == "log.time.clock_beside_rate"
    assert right.step_time.basis is not None and right.step_time.basis.code == "log.time.rate"
    assert "log.rate_clash" in said(wrong) - said(right)
