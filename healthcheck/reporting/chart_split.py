"""Where the time of a training step goes, rank by rank: one bar each, as long as its step."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from healthcheck.model.message import say
from healthcheck.model.vitals_trace import RankTrace, Shares, TraceVitals
from healthcheck.reporting.chart import WIDTH, Picture, Table, cut
from healthcheck.reporting.figures import not_measured
from healthcheck.reporting.svg import LETTER, Sheet, room_for
from healthcheck.reporting.training_figures import rank_text, share_text, step_text

MOST_BARS = 12
"""Ranks that each get a bar, the slowest first; the table has all of them."""
MOST_ROWS = 256
_BAR, _GAP, _LEGEND = 16.0, 8.0, 26.0
_PARTS = (
    ("compute", "link"),
    ("exposed", "degr"),
    ("exposed_memcpy", "inc"),
    ("data_loading", "skip"),
    ("idle", "line"),
)
_LEAST_LABELLED = 0.07


class Part(Struct, frozen=True):
    """One piece of a bar: its name in the catalogue, its colour, and its share of the step."""

    name: str
    colour: str
    share: float


def parts(shares: Shares) -> tuple[Part, ...]:
    """What a step consists of, in the order of the bar; idle is what data loading does not explain."""
    loading = shares.data_loading or 0.0
    values = {
        "compute": shares.compute,
        "exposed": shares.exposed,
        "exposed_memcpy": shares.exposed_memcpy,
        "data_loading": loading,
        "idle": max(0.0, shares.idle - loading),
    }
    return tuple(Part(name, colour, values[name]) for name, colour in _PARTS if values[name] > 0)


def split_picture(trace: TraceVitals) -> Picture:
    """The bars in words, with the numbers they show."""
    slowest = trace.slowest_rank
    assert slowest is not None
    ranks = [slowest, *sorted((one for one in trace.ranks if one is not slowest), key=lambda rank: -rank.step_s)]
    shown = ranks[:MOST_BARS]
    sentence = say(
        "training.split.sentence" if len(ranks) == 1 else "training.split.slowest",
        rank=_name(slowest, ranks),
        step=step_text(slowest.step_s),
        compute=share_text(slowest.shares.compute),
        exposed=share_text(slowest.shares.exposed),
        idle=share_text(slowest.shares.idle),
    )
    return Picture(
        place="split",
        title=str(say("training.split.title")),
        sentence=str(sentence),
        note=str(say("training.split.note", shown=len(shown), n=len(ranks))),
        table=_table(ranks),
        height=_LEGEND + len(shown) * (_BAR + _GAP) + 4,
        draw=lambda sheet: _draw(sheet, shown, ranks),
    )


def _draw(sheet: Sheet, shown: Sequence[RankTrace], ranks: Sequence[RankTrace]) -> None:
    _legend(sheet)
    names = [cut(_name(rank, ranks), 18) for rank in shown]
    left = max(map(room_for, names)) + 8
    right = WIDTH - LETTER * 9
    longest = max(rank.step_s for rank in shown) or 1.0
    for place, (rank, name) in enumerate(zip(shown, names, strict=True)):
        top = _LEGEND + place * (_BAR + _GAP)
        sheet.text(left - 8, top + _BAR - 4, name, "ink", "right")
        x, width = left, (right - left) * rank.step_s / longest
        for part in parts(rank.shares):
            end = x + width * part.share
            sheet.area(x, top, end, top + _BAR, part.colour, 0.75)
            if part.share * width > _LEAST_LABELLED * (right - left):
                sheet.text((x + end) / 2, top + _BAR - 4, share_text(part.share), "ink", "center")
            x = end
        sheet.text(x + 6, top + _BAR - 4, step_text(rank.step_s))


def _legend(sheet: Sheet) -> None:
    x = 0.0
    for name, colour in _PARTS:
        text = str(say(f"training.part.{name}"))
        sheet.area(x, 4, x + 10, 14, colour, 0.75)
        sheet.text(x + 14, 14, text)
        x += 14 + room_for(text) * 0.9 + 12


def _table(ranks: Sequence[RankTrace]) -> Table:
    codes = ("rank", "step", "steps", "compute", "collective", "exposed", "memcpy", "idle", "data_loading")
    columns = tuple(str(say(f"training.col.{code}")) for code in codes)
    rows = tuple((_name(rank, ranks), *_numbers(rank)) for rank in ranks[:MOST_ROWS])
    return Table(columns, rows, tuple(range(1, len(codes))))


def _numbers(rank: RankTrace) -> tuple[str, ...]:
    shares = rank.shares
    told = (shares.compute, shares.collective, shares.exposed, shares.exposed_memcpy, shares.idle)
    loading = not_measured() if shares.data_loading is None else share_text(shares.data_loading)
    return (step_text(rank.step_s), str(len(rank.steps)), *map(share_text, told), loading)


def _name(rank: RankTrace, ranks: Sequence[RankTrace]) -> str:
    """As on the terminal; a file without its folders, for want of room."""
    return str(rank_text(rank, ranks)).rsplit("/", 1)[-1]
