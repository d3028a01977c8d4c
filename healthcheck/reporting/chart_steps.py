"""Step Time over the training, with what happened beside it: starts, checkpoints, failures."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from msgspec import Struct

from healthcheck.model.message import say
from healthcheck.model.training import EventKind, RunEvent
from healthcheck.model.vitals_log import LogVitals, Point
from healthcheck.reporting.chart import WIDTH, Picture, Scale, Table, from_zero
from healthcheck.reporting.figures import one_line
from healthcheck.reporting.svg import LETTER, Sheet, room_for
from healthcheck.reporting.training_figures import long_text, share_text, step_text

MOST_EVENTS = 200
_LEFT, _TOP, _BOTTOM, _HEIGHT = 52.0, 38.0, 180.0, 206.0
_SPIKE = 3.0
"""Times the median: reports above are drawn at the upper edge, so that one stall does not flatten the rest."""
_MARKS = {
    EventKind.START: ("^", "link"),
    EventKind.CHECKPOINT_LOADED: ("<", "inc"),
    EventKind.CHECKPOINT_SAVED: ("d", "ink2"),
    EventKind.EVALUATION: ("D", "skip"),
    EventKind.FAILURE: ("X", "fail"),
}


class _Axes(Struct, frozen=True):
    """`timed`: x is seconds from the start of the window, else the number of the step."""

    timed: bool
    x: Scale
    y: Scale
    top: float


def steps_picture(log: LogVitals) -> Picture:
    """The line in words, with the events it shows."""
    time = log.step_time
    assert time is not None and log.points
    axes = _axes(log)
    above = sum(point.step_time_s > axes.top for point in log.points)
    sentence = say(
        "training.steps.sentence",
        median=step_text(time.median_s),
        p95=step_text(time.p95_s),
        spread=share_text(time.spread),
        steps=time.steps,
    )
    note = say("training.steps.note" if not above else "training.steps.note_above", n=above, top=step_text(axes.top))
    return Picture(
        place="steps",
        title=str(say("training.steps.title")),
        sentence=str(sentence),
        note=str(note),
        table=_table(log) if log.events else None,
        height=_HEIGHT,
        draw=lambda sheet: _draw(sheet, log, axes),
    )


def _axes(log: LogVitals) -> _Axes:
    assert log.step_time is not None
    timed = all(point.x_s is not None for point in log.points)
    xs = [_x(point, timed) for point in log.points]
    highest = max(point.step_time_s for point in log.points)
    top = min(highest, _SPIKE * log.step_time.median_s) or highest or 1.0
    x = Scale(min(xs), max(xs) if max(xs) > min(xs) else min(xs) + 1, _LEFT + 6, WIDTH - 12)
    return _Axes(timed, x, from_zero([top], _BOTTOM, _TOP), top)


def _x(point: Point, timed: bool) -> float:
    return point.x_s if timed and point.x_s is not None else float(point.step)


def _draw(sheet: Sheet, log: LogVitals, axes: _Axes) -> None:
    assert log.step_time is not None
    events = _placed(log, axes)
    _legend(sheet, [event for event, _ in events])
    for tick in axes.y.ticks(5):
        y = axes.y.at(tick)
        sheet.line([(_LEFT, y), (WIDTH - 8, y)], "grid", 0.8)
        sheet.text(_LEFT - 6, y + 4, step_text(tick) if tick else "0", anchor="right")
    middle = axes.y.at(log.step_time.median_s)
    sheet.line([(_LEFT, middle), (WIDTH - 8, middle)], "ink2", 1.0, ":")
    for segment in dict.fromkeys(point.segment for point in log.points):
        chosen = [point for point in log.points if point.segment == segment]
        line = [(axes.x.at(_x(point, axes.timed)), axes.y.at(min(point.step_time_s, axes.top))) for point in chosen]
        if len(line) > 1:
            sheet.line(line, "link", 1.2)
        else:
            sheet.marks(line, "o", "link", 4.0)
    cut_off = [point for point in log.points if point.step_time_s > axes.top]
    sheet.marks([(axes.x.at(_x(point, axes.timed)), _TOP - 2) for point in cut_off], "^", "degr", 6.0)
    for event, where in events:
        shape, colour = _MARKS[event.kind]
        sheet.marks([(axes.x.at(where), _BOTTOM + 8)], shape, colour, 7.0)
    for place, anchor in ((axes.x.low, "left"), (axes.x.high, "right")):
        text = long_text(place) if axes.timed else str(say("training.steps.step", step=int(place)))
        sheet.text(axes.x.at(place), _HEIGHT - 4, text, anchor=anchor)


def _placed(log: LogVitals, axes: _Axes) -> list[tuple[RunEvent, float]]:
    """The events that can be drawn, each with where it happened on the axis."""
    found = []
    for event in log.events:
        where = _time_of(event, log) if axes.timed else _step_of(event)
        if where is not None and axes.x.low <= where <= axes.x.high and event.kind in _MARKS:
            found.append((event, where))
    return found


def _step_of(event: RunEvent) -> float | None:
    return None if event.step is None else float(event.step)


def _time_of(event: RunEvent, log: LogVitals) -> float | None:
    """Seconds from the start of the window: of its line, else of the step it names."""
    if event.at_s is not None:
        begins_s = None if log.goodput is None else log.goodput.begins_s
        return None if begins_s is None else event.at_s - begins_s
    if event.kind is EventKind.CHECKPOINT_LOADED:
        return _start_after(event, log)
    if event.step is None or event.kind is EventKind.START:
        return None  # the line breaks where a start begins
    return next((point.x_s for point in log.points if point.step >= event.step), None)


def _start_after(event: RunEvent, log: LogVitals) -> float | None:
    """A load opens a start; which one is known where every start but the first one tells of its load."""
    loads = [one for one in log.events if one.kind is EventKind.CHECKPOINT_LOADED]
    firsts = [point.x_s for before, point in pairwise(log.points) if point.segment != before.segment]
    return firsts[loads.index(event)] if len(loads) == len(firsts) else None


def _legend(sheet: Sheet, events: Sequence[RunEvent]) -> None:
    sheet.text(0, 10, str(say("training.steps.axis")))
    x = 0.0
    for kind in (kind for kind in _MARKS if any(event.kind is kind for event in events)):
        shape, colour = _MARKS[kind]
        text = str(say(f"training.event.{kind.value}"))
        sheet.marks([(x + 5, 21)], shape, colour, 7.0)
        sheet.text(x + 14, 25, text)
        x += 14 + room_for(text) * 0.86 + LETTER


def _table(log: LogVitals) -> Table:
    codes = ("event", "step", "at", "took", "line", "words")
    begin = None if log.goodput is None else log.goodput.begins_s
    rows = tuple(
        (
            str(say(f"training.event.{event.kind.value}")),
            "" if event.step is None else str(event.step),
            "" if event.at_s is None or begin is None else long_text(max(0.0, event.at_s - begin)),
            "" if event.took_s is None else long_text(event.took_s),
            str(event.line),
            one_line(event.text)[:120],
        )
        for event in log.events[:MOST_EVENTS]
    )
    return Table(tuple(str(say(f"training.col.{code}")) for code in codes), rows, (1, 2, 3, 4))
