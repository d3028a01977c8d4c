"""What one step does, row by row: tokens where the log or its reader's user tells them, else samples, else a step."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator

import numpy as np
from msgspec import Struct

from healthcheck.model.message import Message, say
from healthcheck.model.training import Framework, LogRemark
from healthcheck.vitals.log_rows import NAN, Training

_SAME = 0.001


class GivenWork(Struct, frozen=True):
    """What the user says of the run, each None where not: tokens of a step, samples of a step, tokens of a sample."""

    tokens_per_step: float | None = None
    global_batch: int | None = None
    seq_len: int | None = None
    gpus: int | None = None


class Work(Struct, frozen=True):
    """`each`: work of one step of a row, in `unit` (tokens, samples or steps); never NaN. `basis`: whose word it is.

    `samples` of a step, where that is known; `seq_len` tokens of a sample.
    """

    unit: str
    each: array[float]
    basis: Message
    samples: float | None = None
    seq_len: int | None = None
    remarks: tuple[LogRemark, ...] = ()

    @property
    def has_tokens(self) -> bool:
        """Are the units tokens?"""
        return self.unit == "tokens"


def work_of(training: Training, given: GivenWork) -> Work:
    """What each step does; the word of the log before that of the user, and a remark where they differ."""
    seq_len = training.facts.seq_len or given.seq_len
    each, basis = None, say("log.work.log")
    if (tokens := _column(training, "tokens", "consumed_tokens")) is not None:
        each = tokens
    samples = _column(training, "samples", "consumed_samples")
    if samples is None and (batch := training.facts.global_batch or given.global_batch) is not None:
        samples = array("d", [float(batch)]) * len(training.rows)
        basis = say("log.work.log") if training.facts.global_batch else say("log.work.given")
    if each is None and samples is not None and seq_len is not None:
        each = array("d", (np.frombuffer(samples) * seq_len).tobytes())
        if training.facts.seq_len is None:
            basis = say("log.work.given")
    told = None if samples is None else float(np.median(np.frombuffer(samples)))
    wanted = given.tokens_per_step or _product(given.global_batch, given.seq_len)
    if each is None and given.tokens_per_step:
        each, basis = array("d", [given.tokens_per_step]) * len(training.rows), say("log.work.given")
    if each is None and (made := _of_rates(training, given)) is not None:
        each, basis, wanted = array("d", [made]) * len(training.rows), say("log.work.rates"), None
    if each is not None:
        return Work("tokens", each, basis, told, seq_len, tuple(_clash(training, each, wanted)))
    if samples is not None:
        return Work("samples", samples, basis, told)
    return Work("steps", array("d", [1.0]) * len(training.rows), say("log.work.none"))


def _product(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one * other


def _of_rates(training: Training, given: GivenWork) -> float | None:
    """Tokens a step from a printed rate and a printed step time; None where not both are printed."""
    gpus, rows = given.gpus or training.facts.gpus, training.rows
    found = []
    for row in range(len(rows)):
        rate = rows.tokens_per_s(row, gpus)
        if rate is not None and rows.time[row] > 0:
            found.append(rate * rows.time[row])
    return float(np.median(found)) if found else None


def _column(training: Training, each: str, consumed: str) -> array[float] | None:
    """The batch of each row, as printed, else by what the consumed count grew; holes take their neighbour's."""
    rows = training.rows
    values = rows.printed.get(each)
    if training.framework is Framework.MEGATRON_PROGRESS and (total := rows.value(consumed, len(rows) - 1)) is not None:
        # Counted in hundredths of a billion: too coarse for what lies between two lines.
        return array("d", [total / max(rows.step[-1], 1)]) * len(rows)
    if values is None or _holes(values) > len(values) / 2:
        counted = rows.printed.get(consumed)
        values = None if counted is None else array("d", _grown(training, counted))
    holes = len(rows) if values is None else _holes(values)
    if values is None or holes == len(rows):
        return None
    return array("d", values) if holes == 0 else array("d", _filled(values))


def _holes(values: array[float]) -> int:
    return int(np.count_nonzero(~(np.frombuffer(values, values.typecode) > 0)))


def _grown(training: Training, counted: array[float]) -> Iterator[float]:
    steps = training.rows.steps
    firsts = {segment.first for segment in training.segments}
    for row, value in enumerate(counted):
        yield NAN if row in firsts or not steps[row] else (value - counted[row - 1]) / steps[row]


def _filled(values: array[float]) -> Iterator[float]:
    last = next(value for value in values if value > 0)
    for value in values:
        if value > 0 and math.isfinite(value):
            last = value
        yield last


def _clash(training: Training, each: array[float], wanted: float | None) -> Iterator[LogRemark]:
    usual = float(np.median(np.frombuffer(each)))
    if wanted is not None and abs(usual / wanted - 1) > _SAME:
        told = say("log.batch_given", log=usual, given=wanted)
        yield LogRemark(told, training.rows.line[0])
