"""What became of the wall time of a training: a waterfall from all of it down to the part that survives."""

from __future__ import annotations

from msgspec import Struct

from healthcheck.model.message import say
from healthcheck.model.vitals_log import Goodput
from healthcheck.reporting.chart import WIDTH, Picture, Table
from healthcheck.reporting.svg import Sheet, room_for
from healthcheck.reporting.training_figures import long_text, rate_text, share_text

_BAR, _GAP, _TOP = 16.0, 8.0, 4.0


class Fall(Struct, frozen=True):
    """One row: from `left` to `right`, shares of the window; `kind` is all, kept, or the name of a loss."""

    kind: str
    left: float
    right: float
    seconds: float
    count: int
    steps: int

    @property
    def share(self) -> float:
        """Of the window."""
        return self.right - self.left


def falls(goodput: Goodput) -> tuple[Fall, ...]:
    """All of the wall time, then each loss, the longest first, and what is left in the end."""
    window = goodput.window_s
    rows, end = [Fall("all", 0.0, 1.0, window, 0, 0)], 1.0
    for loss in sorted(goodput.losses, key=lambda loss: -loss.seconds):
        if loss.seconds <= 0:
            continue
        begin = max(0.0, end - loss.seconds / window)
        rows.append(Fall(loss.kind.value, begin, end, loss.seconds, loss.count, loss.steps))
        end = begin
    rows.append(Fall("kept", 0.0, goodput.useful_s / window, goodput.useful_s, 0, goodput.steps))
    return tuple(rows)


def goodput_picture(goodput: Goodput) -> Picture:
    """The waterfall in words, with the numbers it shows."""
    rows = falls(goodput)
    losses = rows[1:-1]
    note = say("training.goodput.note" if goodput.tokens is not None else "training.goodput.note_steps")
    if goodput.tokens_per_s is not None:
        note = say("training.goodput.note_rate", rate=rate_text(goodput.tokens_per_s))
    sentence = say(
        "training.goodput.none" if not losses else "training.goodput.most",
        share=share_text(goodput.share),
        window=long_text(goodput.window_s),
        most="" if not losses else say(f"training.loss.{losses[0].kind}"),
        lost="" if not losses else long_text(losses[0].seconds),
    )
    return Picture(
        place="goodput",
        title=str(say("training.goodput.title")),
        sentence=str(sentence),
        note=str(note),
        table=_table(rows),
        height=_TOP + len(rows) * (_BAR + _GAP) + 4,
        draw=lambda sheet: _draw(sheet, rows),
    )


def _draw(sheet: Sheet, rows: tuple[Fall, ...]) -> None:
    names = [name_of(row) for row in rows]
    left = max(map(room_for, names)) * 0.9 + 8
    numbers = [f"{share_text(row.share)} · {long_text(row.seconds)}" for row in rows]
    right = WIDTH - max(map(room_for, numbers)) - 8
    for place, (row, name, number) in enumerate(zip(rows, names, numbers, strict=True)):
        top = _TOP + place * (_BAR + _GAP)
        sheet.text(left - 8, top + _BAR - 4, name, "ink", "right")
        begin, end = (left + (right - left) * share for share in (row.left, row.right))
        colour = {"all": "skip", "kept": "link"}.get(row.kind, "degr")
        sheet.area(begin, top, max(end, begin + 1.0), top + _BAR, colour, 0.75)
        sheet.text(right + 8, top + _BAR - 4, number)
        if place + 1 < len(rows):  # what the next row begins with
            edge = begin if row.kind != "all" else end
            sheet.line([(edge, top + _BAR), (edge, top + _BAR + _GAP)], "line", 0.8)


def name_of(row: Fall) -> str:
    """`Wall time`, `Kept`, or the loss."""
    if row.kind in ("all", "kept"):
        return str(say(f"training.goodput.{row.kind}"))
    return str(say(f"training.loss.{row.kind}"))


def _table(rows: tuple[Fall, ...]) -> Table:
    codes = ("what", "share", "time", "places", "steps")
    cells = tuple(
        (
            name_of(row),
            share_text(row.share),
            long_text(row.seconds),
            str(row.count) if row.count else "",
            str(row.steps) if row.steps else "",
        )
        for row in rows
    )
    return Table(tuple(str(say(f"training.col.{code}")) for code in codes), cells, (1, 2, 3, 4))
