"""Whatever steps and events a log holds: an answer whose parts add up, or one sentence."""

from __future__ import annotations

import math
import random

import pytest
from msgspec.structs import replace

from healthcheck.errors import InputError
from healthcheck.model.training import EventKind, Framework, LogFacts, RunEvent, StepRecord
from healthcheck.model.vitals_log import SCHEMA, LogVitals
from healthcheck.parsing.record_codec import decode_document, encode_document
from healthcheck.reporting.vitals_log import log_lines
from healthcheck.reporting.vitals_log_csv import csv_lines
from healthcheck.vitals.log_intake import Intake
from healthcheck.vitals.log_vitals import Asked, see, vitals_of
from healthcheck.vitals.log_window import Window


def some(dice: random.Random, low: float, high: float) -> float | None:
    """A number of any size between the two, often none."""
    return None if dice.random() < 0.5 else 10 ** dice.uniform(math.log10(low), math.log10(high))


def stamp(dice: random.Random) -> float | None:
    """A moment: none, of a whole second, or of weeks."""
    return dice.choice((None, 1.7e9 + dice.randint(0, 1000), 1.7e9 + dice.uniform(0, 1e6)))


def step_record(dice: random.Random, near: int) -> StepRecord:
    """Any report; its step is mostly one after the one before."""
    return StepRecord(
        step=dice.choice((near + 1, near + 1, near + 1, near, dice.randint(0, 60), dice.randint(0, 10**12))),
        line=dice.randint(1, 10**6),
        covers=dice.choice((1, 1, 1, dice.randint(1, 20))),
        step_time_s=some(dice, 1e-3, 1e5),
        at_s=stamp(dice),
        tokens=some(dice, 1, 1e12),
        consumed_samples=some(dice, 1, 1e12) if dice.random() < 0.1 else None,
        tokens_per_s=some(dice, 1, 1e12),
        tokens_per_s_per_gpu=some(dice, 1, 1e12),
        samples_per_s=some(dice, 1, 1e9),
        tflops_per_gpu=some(dice, 1, 1e5),
        mfu=some(dice, 1e-4, 10),
        loss=dice.choice((None, 2.5, math.nan, math.inf)),
        skipped=dice.choice((0, 0, 0, dice.randint(0, 30))),
        rank=dice.choice((None, None, "0", "1")),
    )


def event(dice: random.Random) -> RunEvent:
    """Any event."""
    return RunEvent(
        kind=dice.choice(list(EventKind)),
        line=dice.randint(1, 10**6),
        step=dice.choice((None, dice.randint(0, 60))),
        at_s=stamp(dice),
        took_s=some(dice, 0.1, 1e4),
        rank=dice.choice((None, "0", "1")),
    )


def any_log(dice: random.Random) -> list[StepRecord | RunEvent]:
    """A log of up to 60 items, half of them much alike."""
    items: list[StepRecord | RunEvent] = []
    near, first = 0, step_record(dice, 0)
    for _ in range(dice.randint(0, 60)):
        if dice.random() < 0.15:
            items.append(event(dice))
            continue
        record = step_record(dice, near)
        if dice.random() < 0.6:
            at = None if first.at_s is None else first.at_s + 3.0 * near
            record = replace(first, step=near + 1, at_s=at)
        near = record.step
        items.append(record)
    return items


def _told(vitals: LogVitals) -> None:
    goodput = vitals.goodput
    assert goodput is not None
    assert all(loss.seconds > 0 and math.isfinite(loss.seconds) for loss in goodput.losses)
    assert goodput.useful_s >= 0 and goodput.window_s >= 0
    whole = math.fsum([goodput.useful_s, *(loss.seconds for loss in goodput.losses)])
    assert math.isclose(whole, goodput.window_s, rel_tol=1e-9, abs_tol=1e-9)
    assert goodput.share is None or 0 <= goodput.share <= 1 + 1e-9
    step = vitals.step_time
    if step is not None:
        assert step.worst_s is not None
        assert 0 < step.median_s <= step.p95_s <= step.worst_s
        assert step.reports > 0
    for number in (vitals.mfu, None if vitals.printed is None else vitals.printed.mfu):
        assert number is None or 0 <= number <= 1


@pytest.mark.parametrize("seed", range(20))
def test_any_log_is_answered_in_full_or_refused_in_one_sentence(seed: int) -> None:
    for part in range(40):
        dice = random.Random(100 * seed + part)
        try:
            files = [any_log(dice) for _ in range(dice.choice((1, 1, 1, 2, 3)))]
            window = Window("any", from_step=dice.randint(0, 30), to_step=dice.choice((None, dice.randint(30, 60))))
            _check(files, Asked(gpu="H100", window=dice.choice((None, None, window))))
        except InputError as error:
            assert "\n" not in str(error) and error.where


def _check(files: list[list[StepRecord | RunEvent]], asked: Asked) -> None:
    pieces = []
    for number, items in enumerate(files):
        intake = Intake(f"log{number}")
        intake.add_all(items)
        pieces.append(intake.training(Framework.MEGATRON, LogFacts(), ()))
    if not any(len(piece.rows) for piece in pieces):
        return
    seen = see(pieces, asked)
    vitals = vitals_of(seen, asked)
    _told(vitals)
    document = encode_document(SCHEMA, vitals)
    assert encode_document(SCHEMA, decode_document(document.encode(), "x", LogVitals, SCHEMA, "log")) == document
    assert all(len(line) <= 96 for line in log_lines(vitals, 96))
    assert sum(1 for _ in csv_lines(seen)) == seen.high - seen.low + 1
