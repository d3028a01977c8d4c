"""Several files of one training: copies that ranks printed at the same time, or pieces that follow each other.

The clock decides: files that show the same steps at the same moments are copies (the slowest is the step), files one
after the other are pieces. Without a clock the same steps are copies, other steps follow. Anything else is refused.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from functools import partial
from itertools import combinations, pairwise

from msgspec.structs import replace

from healthcheck.errors import InputError
from healthcheck.model.message import say
from healthcheck.model.training import EventKind, LogFacts, LogRemark
from healthcheck.vitals.log_checks import other_model
from healthcheck.vitals.log_rows import Training

_SAMPLE = 50
_MOST = 0.9
_MOST_STACKED = 4096
_BACK_S = 60.0
_AHEAD = 512
_SAME_MOMENT_S = 60.0
_ROTATED_STEPS = 3.0
_ROTATED_S = 10.0
_OPENING = frozenset((EventKind.START, EventKind.CHECKPOINT_LOADED))


def joined(pieces: Sequence[Training]) -> Training:
    """One training of all files that have steps; InputError naming two files that are not of one training."""
    pieces = [part for piece in pieces if len(piece.rows) for part in unstacked(piece)]
    for one, other in combinations(pieces, 2):
        _check(one, other)
    groups: list[list[Training]] = []
    for piece in pieces:
        same = next((group for group in groups if _are_copies(group[0], piece)), None)
        if same is None:
            groups.append([piece])
        else:
            same.append(piece)
    merged = [_merged(group) for group in groups]
    ordered = _in_order(merged)
    whole = ordered[0]
    for piece in ordered[1:]:
        _append(whole, piece)
    if len(ordered) > 1:
        whole.remarks.insert(0, LogRemark(say("log.pieces", n=len(ordered)), 0, len(ordered)))
    return whole


def _check(one: Training, other: Training) -> None:
    if one.framework is not other.framework:
        raise InputError(
            other.files[0],
            f"is a log of {other.framework.value}, and {one.files[0]} one of {one.framework.value}: give the files of "
            "one training, or of each one alone",
        )
    if (differs := other_model(one.facts, other.facts)) is not None:
        name, mine, theirs = differs
        raise InputError(
            other.files[0],
            f"is of another model than {one.files[0]} ({name} {theirs:g}, not {mine:g}): give each training alone",
        )


def _span(piece: Training) -> tuple[float, float] | None:
    times = [value for value in piece.rows.at if not math.isnan(value)]
    return (min(times), max(times)) if len(times) * 2 >= len(piece.rows) else None


def _are_copies(one: Training, other: Training) -> bool:
    """Do both files show the same steps of the same starts? InputError where they ran at one time at other steps."""
    mine, theirs = _span(one), _span(other)
    if mine is None or theirs is None:
        same = one.rows.step[0] == other.rows.step[0] and one.rows.step[-1] == other.rows.step[-1]
        return same and len(one.rows) == len(other.rows)
    if _repeated(one, other) or _repeated(other, one):
        return False
    overlap = min(mine[1], theirs[1]) - max(mine[0], theirs[0])
    shorter = min(mine[1] - mine[0], theirs[1] - theirs[0])
    if overlap < 0.5 * shorter or (shorter == 0 and overlap < 0):
        return False
    if _same_moments(one, other):
        return True
    if _follows(one, other) or _follows(other, one):
        return False  # the clock of one of them was in another zone
    raise InputError(
        other.files[0],
        f"ran at the same time as {one.files[0]}, at other steps: these are two trainings; give each alone",
    )


def _follows(one: Training, other: Training) -> bool:
    return other.rows.since(0) == one.rows.step[-1]


def _same_moments(one: Training, other: Training) -> bool:
    """Have most steps of the shorter one the same moment in the longer one?"""
    longer, shorter = (one, other) if len(one.rows) >= len(other.rows) else (other, one)
    at, step = longer.rows.at, longer.rows.step
    rows = range(0, len(shorter.rows), max(1, len(shorter.rows) // _SAMPLE))
    near = 0
    for row in rows:
        moment, wanted = shorter.rows.at[row], shorter.rows.step[row]
        middle = bisect_left(at, moment)
        around = range(max(0, middle - _AHEAD), min(len(at), middle + _AHEAD))
        near += any(step[i] == wanted and abs(at[i] - moment) <= _SAME_MOMENT_S for i in around)
    return near >= _MOST * len(rows)


def unstacked(piece: Training) -> list[Training]:
    """The parts of a file in which the logs of several ranks stand one below the other; else the file itself."""
    rows = piece.rows
    backs = [
        segment.first for segment in piece.segments[1:] if rows.at[segment.first] < rows.at[segment.first - 1] - _BACK_S
    ]
    if not backs or len(backs) > _MOST_STACKED:
        return [piece]
    bounds = [0, *backs, len(rows)]
    parts = [_part(piece, low, high) for low, high in pairwise(bounds)]
    spans = [_span(part) for part in parts]
    if any(span is None for span in spans) or not all(_same_moments(parts[0], part) for part in parts[1:]):
        return [piece]
    return parts


def _part(piece: Training, low: int, high: int) -> Training:
    """Some of the starts of a file as if they were all of it."""
    last = high == len(piece.rows)
    return Training(
        piece.files,
        piece.rows.part(low, high),
        [replace(one, first=one.first - low) for one in piece.segments if low <= one.first < high],
        [(before - low, event) for before, event in piece.events if low <= before < high or (last and before == high)],
        piece.framework,
        piece.facts,
        piece.remarks if low == 0 else [],
        copies=piece.copies if low == 0 else 0,
        in_vain=piece.in_vain if low == 0 else 0,
    )


def _merged(group: list[Training]) -> Training:
    """The longest of them, with the slowest rank's numbers."""
    first = max(group, key=lambda piece: len(piece.rows))
    others = [piece for piece in group if piece is not first]
    copies = alone = 0
    for other in others:
        found = _merge(first, other)
        copies, alone = copies + found, alone + len(other.rows) - found
    if others:
        first.copies += copies + sum(other.copies for other in others)
        first.copies_of = tuple(name for other in others for name in other.files if name not in first.files)
        code = "log.rank_files" if first.copies_of else "log.stacked"
        told = [LogRemark(say(code, n=len(group), copies=copies), 0, copies)]
        if alone:
            told.append(LogRemark(say("log.rank_alone", n=alone, file=first.files[0]), 0, alone))
        first.remarks[:0] = told
    return first


def _merge(one: Training, other: Training) -> int:
    """How many reports of the other one stand in this one, too; each becomes one of both ranks."""
    mine, theirs = one.rows, other.rows
    place = merged = 0
    for row, step in enumerate(theirs.step):
        found = next((i for i in range(place, min(place + _AHEAD, len(mine))) if mine.step[i] == step), None)
        if found is None:
            continue
        place, merged = found + 1, merged + 1
        mine.join(found, theirs.at[row], theirs.time[row], partial(theirs.value, row=row))
    return merged


def _in_order(pieces: list[Training]) -> list[Training]:
    """By the clock; by their steps where the clock would make the training begin in the middle, or there is none."""
    spans = [_span(piece) for piece in pieces]
    by_step = sorted(pieces, key=lambda piece: piece.rows.step[0])
    if any(span is None for span in spans):
        return by_step
    by_time = [piece for _, piece in sorted(zip(spans, pieces, strict=True), key=lambda pair: pair[0] or (0.0, 0.0))]
    goes_on = all(_follows(one, other) for one, other in pairwise(by_step))
    return by_step if goes_on else by_time


def _append(whole: Training, piece: Training) -> None:
    """`piece` behind `whole`. A log that was only cut in two goes on; else the piece is another start."""
    repeated = _repeated(whole, piece)
    if repeated:
        told = say("log.repeated", n=repeated, file=piece.files[0])
        whole.remarks.append(LogRemark(told, piece.rows.line[0], repeated))
        rest = _part(piece, repeated, len(piece.rows))
        piece = replace(piece, rows=rest.rows, segments=rest.segments, events=rest.events)
    offset = len(whole.rows)
    segments = [replace(segment, first=segment.first + offset) for segment in piece.segments]
    if not repeated and _is_rotated(whole, piece):
        piece.rows.steps[0] = piece.rows.step[0] - whole.rows.step[-1]
        segments = segments[1:]
    whole.rows.extend(piece.rows)
    whole.segments += segments
    whole.events += [(before + offset, event) for before, event in piece.events]
    whole.begins += tuple(begin + offset for begin in piece.begins)
    whole.files += piece.files
    whole.remarks += piece.remarks
    whole.copies += piece.copies
    whole.in_vain += piece.in_vain
    whole.copies_of += piece.copies_of
    whole.facts = _known(whole, piece)


def _repeated(one: Training, other: Training) -> int:
    """How many reports at the end of one file stand at the beginning of the other, which goes on: it was fetched twice.

    The same steps at the same moments, to the last digit of the stamp. Copies of ranks begin and end together.
    """
    mine, theirs = one.rows, other.rows
    first = (theirs.step[0], theirs.at[0])
    for row in range(len(mine) - 1, 0, -1):
        if (mine.step[row], mine.at[row]) == first:
            n = len(mine) - row
            same = mine.step[row:] == theirs.step[:n] and mine.at[row:] == theirs.at[:n]
            return n if same and n < len(theirs) else 0
    return 0


def _is_rotated(whole: Training, piece: Training) -> bool:
    """Was one log cut in two? Then nothing tells of a start, and the steps and the clock go on."""
    opens = any(before == 0 and event.kind in _OPENING for before, event in piece.events)
    distance = piece.rows.step[0] - whole.rows.step[-1]
    if opens or not 0 < distance <= 2 * max(whole.rows.steps[-1], 1):
        return False
    gap = piece.rows.at[0] - whole.rows.at[-1]
    took = piece.rows.time[0] * distance
    return math.isnan(gap) or gap <= max(_ROTATED_S, _ROTATED_STEPS * (0.0 if math.isnan(took) else took))


def _known(whole: Training, piece: Training) -> LogFacts:
    """What either file says of the run; the first word counts."""
    mine, theirs = whole.facts, piece.facts
    missing = {
        name: value
        for name in mine.__struct_fields__
        if getattr(mine, name) is None and (value := getattr(theirs, name)) is not None
    }
    return replace(mine, **missing)
