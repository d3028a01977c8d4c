"""Is it one training? What two of them in one log give away, and what only looks odd."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable

from msgspec.structs import replace

from healthcheck.errors import InputError
from healthcheck.model.message import say
from healthcheck.model.training import LogFacts, LogRemark
from healthcheck.vitals.log_rows import Training
from healthcheck.vitals.log_survival import saves_of

_LOOKED_BACK = 100
_BATCHES = 2.5
"""A restart with another batch shifts the count by a batch or two; another training has another count altogether."""


def check_one(training: Training) -> list[LogRemark]:
    """What is odd of the starts; InputError naming file and line where a second training begins."""
    found = []
    for number in range(1, len(training.segments)):
        segment = training.segments[number]
        _same_model(training, number)
        before, now = training.segments[number - 1].facts.gpus, segment.facts.gpus
        if before is not None and now is not None and before != now:
            told = say("log.gpus_changed", before=before, now=now)
            found.append(LogRemark(told, training.rows.line[segment.first]))
        for name in ("consumed_samples", "consumed_tokens"):
            _same_count(training, number, name)
        reached = training.rows.step[segment.first - 1]
        begins = training.rows.since(segment.first)
        if begins <= 0 < reached and segment.loaded is None:
            saved = any(before <= segment.first for before, _ in saves_of(training))
            code = "log.from_zero_saved" if saved else "log.from_zero"
            line = training.rows.line[segment.first]
            found.append(LogRemark(say(code, steps=reached, place=training.place(segment.first)), line))
        elif segment.silent:
            told = say("log.went_back", first=begins + 1, reached=reached)
            found.append(LogRemark(told, training.rows.line[segment.first]))
    return folded((remark, remark.what.code) for remark in found)


def folded(remarks: Iterable[tuple[LogRemark, str]]) -> list[LogRemark]:
    """Of remarks with the same key the first, with how many there are of them."""
    first: dict[str, LogRemark] = {}
    for remark, key in remarks:
        known = first.get(key)
        first[key] = remark if known is None else replace(known, count=known.count + remark.count)
    return list(first.values())


def other_model(one: LogFacts, other: LogFacts) -> tuple[str, float, float] | None:
    """(fact, what the one says, what the other says) of the first fact in which two models differ, None where they may
    be one."""
    for name in ("params", "layers", "hidden", "vocab"):
        mine, theirs = getattr(one, name), getattr(other, name)
        if mine is not None and theirs is not None and mine != theirs:
            return name, mine, theirs
    return None


def _same_model(training: Training, number: int) -> None:
    before, now = training.segments[number - 1], training.segments[number]
    if (differs := other_model(before.facts, now.facts)) is not None:
        name, one, other = differs
        raise InputError(
            training.place(now.first),
            f"another training begins here ({name} {other:g}, before {one:g}); cut the log in two and give one",
        )


def _same_count(training: Training, number: int, name: str) -> None:
    """A step that is done again has consumed what it had consumed before."""
    counted = training.rows.printed.get(name)
    if counted is None:
        return
    rows, first = training.rows, training.segments[number].first
    again = first
    if rows.since(first) <= 0:
        # From the very beginning both count from nothing: what they have come to at the end tells them apart.
        latest = training.segments[max(1, number + 1 - _LOOKED_BACK) : number + 1]
        reached = max(rows.step[one.first - 1] for one in latest)
        again = max(first, bisect_right(rows.step, reached, first, training.ends()[number]) - 1)
    row = _earlier(training, number, rows.step[again])
    if row is None:
        return
    batch = max(_grown(counted[again], rows.step[again]), _grown(counted[row], rows.step[row]))
    if abs(counted[again] - counted[row]) > _BATCHES * batch * rows.steps[again]:
        raise InputError(
            training.place(first),
            f"another training begins here: at step {rows.step[again]} it has {name.replace('_', ' ')} "
            f"{counted[again]:.0f}, and line {rows.line[row]} {counted[row]:.0f}; cut the log in two and give one",
        )


def _earlier(training: Training, number: int, step: int) -> int | None:
    """The row of a step in the latest of the starts before."""
    steps = training.rows.step
    for before in reversed(range(max(0, number - _LOOKED_BACK), number)):
        begin, end = training.segments[before].first, training.segments[before + 1].first
        row = bisect_left(steps, step, begin, end)
        if row < end and steps[row] == step:
            return row
    return None


def _grown(counted: float, step: int) -> float:
    return counted / max(step, 1)
