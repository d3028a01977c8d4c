"""What `vitals trace` prints: the answer first, then ranks and collectives as small tables, then what is missing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from healthcheck.model.message import Arg, Message, say
from healthcheck.model.vitals_trace import CollectiveUse, RankTrace, TraceVitals
from healthcheck.reporting.figures import gbyte_s, not_measured, one_line, size
from healthcheck.reporting.text_table import table
from healthcheck.reporting.text_width import wrapped
from healthcheck.reporting.training_figures import rank_text, share_text, step_text

MOST_RANKS = 16
MOST_COLLECTIVES = 12
_WIDTH = 110
_RANK_COLUMNS = (
    "trace.column.rank",
    "trace.column.steps",
    "trace.column.step",
    "trace.column.slowest",
    "trace.column.compute",
    "trace.column.collective",
    "trace.column.exposed",
    "trace.column.memcpy",
    "trace.column.idle",
)
_USE_COLUMNS = (
    "trace.column.name",
    "trace.column.size",
    "trace.column.group",
    "trace.column.calls",
    "trace.column.transfer",
    "trace.column.waiting",
    "trace.column.busbw",
    "trace.column.total",
)


def trace_lines(found: TraceVitals, width: int = _WIDTH) -> list[str]:
    """The first line answers."""
    lines = [one_line(str(trace_line(found)))]
    lines += [str(say("trace.line.lower_bound"))] if found.lower_bound and found.ranks else []
    if found.ranks:
        lines += ["", *_ranks(found, width)]
    if found.collectives:
        lines += ["", *_collectives(found, width)]
    told = [one_line(str(each)) for each in _remarks(found)]
    lines += [""] if told else []
    for each in told:
        lines += wrapped(each, width, "", "  ")
    return lines


def trace_line(found: TraceVitals) -> Message:
    """The answer in one sentence."""
    rank, shares = found.slowest_rank, found.shares
    if rank is None or shares is None:
        if found.step_s is not None:
            return say("trace.line.step_only", step=step_text(found.step_s))
        return say("trace.line.nothing")
    told: dict[str, Arg] = {
        "step": step_text(rank.step_s),
        "rank": rank_text(rank, found.ranks),
        "compute": share_text(shares.compute),
        "exposed": share_text(shares.exposed),
        "collective": share_text(shares.collective),
        "memcpy": share_text(shares.exposed_memcpy),
        "idle": share_text(shares.idle),
    }
    return say("trace.line.whole" if rank.whole else "trace.line", **told)


def _ranks(found: TraceVitals, width: int) -> Iterator[str]:
    """The slowest first, where they do not all fit."""
    yield from wrapped(str(say("trace.heading.ranks")), width, "", "  ")
    ranks = found.ranks
    if len(ranks) > MOST_RANKS:
        # The first line names one that may not have the longest step: of those as long, the one that waits least.
        named = found.slowest_rank
        ranks = tuple(sorted(ranks, key=lambda rank: (rank is not named, -rank.step_s))[:MOST_RANKS])
    loading = any(rank.shares.data_loading is not None for rank in ranks)
    waiting = any(rank.waiting_s is not None for rank in ranks)
    head = [str(say(code)) for code in _RANK_COLUMNS]
    head += [str(say("trace.column.data_loading"))] if loading else []
    head += [str(say("trace.column.waiting"))] if waiting else []
    rows = [[str(rank_text(rank, found.ranks)), *_rank_row(rank, loading, waiting)] for rank in ranks]
    yield from table(head, rows, range(1, len(head)), width)
    if len(found.ranks) > len(ranks):
        yield str(say("trace.more_ranks", n=len(found.ranks) - len(ranks)))


def _rank_row(rank: RankTrace, loading: bool, waiting: bool) -> list[str]:
    shares, steps = rank.shares, rank.steps
    row = [
        str(say("trace.whole")) if rank.whole else _steps([step.step for step in steps]),
        step_text(rank.step_s),
        step_text(max(step.wall_s for step in steps)),
        *map(share_text, (shares.compute, shares.collective, shares.exposed, shares.exposed_memcpy, shares.idle)),
    ]
    row += [share_text(shares.data_loading)] if loading else []
    return row + ([_short(rank.waiting_s)] if waiting else [])


def _steps(numbers: Sequence[int]) -> str:
    """`3-7`, and how many where some between are left out."""
    first, last = numbers[0], numbers[-1]
    if first == last:
        return str(first)
    return f"{first}-{last}" if last - first + 1 == len(numbers) else f"{first}-{last} ({len(numbers)})"


def _collectives(found: TraceVitals, width: int) -> Iterator[str]:
    matched = any(use.ranks > 1 for use in found.collectives)
    heading = say("trace.heading.collectives" if matched else "trace.heading.collectives_one")
    yield from wrapped(str(heading), width, "", "  ")
    codes = [code for code in _USE_COLUMNS if matched or code != "trace.column.waiting"]
    head = [str(say(code)) for code in codes]
    shown = found.collectives[:MOST_COLLECTIVES]
    rows = [_use_row(use, matched) for use in shown]
    yield from table(head, rows, range(1, len(head)), width)
    if len(found.collectives) > len(shown):
        yield str(say("trace.more_collectives", n=len(found.collectives) - len(shown)))


def _use_row(use: CollectiveUse, matched: bool) -> list[str]:
    row = [
        one_line(use.name),
        _size(use),
        not_measured() if use.group_size is None else str(use.group_size),
        str(use.calls),
        _short(use.transfer_s),
    ]
    row += [_short(use.skew_s)] if matched else []
    return [*row, gbyte_s(use.busbw_gbyte_s), step_text(use.total_s)]


def _short(seconds: float | None) -> str:
    """As a step, but in µs where it is less than a ms."""
    return step_text(seconds) if seconds is None or seconds >= 1e-3 or not seconds else f"{seconds * 1e6:.3g} µs"


def _size(use: CollectiveUse) -> str:
    if use.size_bytes is None:
        return not_measured()
    told = _bytes(use.size_bytes)
    return told if use.sizes == 1 else str(say("trace.sizes", size=told, n=use.sizes))


def _bytes(n: int) -> str:
    """As nccl-tests' sizes where it is one of them; the gradients of a model rarely are."""
    binary = size(n)
    if not binary.endswith(" B") or n < 10_000:
        return binary
    unit, name = next((unit, name) for unit, name in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")) if n >= unit)
    return f"{n / unit:.4g} {name}"


def _remarks(found: TraceVitals) -> Iterator[Message]:
    """What is to be said of several ranks is said once."""
    for note in found.notes:
        yield say("trace.note", what=note)
    by_text = {str(note): note for rank in found.ranks for note in rank.notes}
    for text, note in by_text.items():
        ranks = [rank for rank in found.ranks if text in map(str, rank.notes)]
        alone = len(ranks) < len(found.ranks)
        yield say("trace.note_of", file=ranks[0].file, what=note) if alone else say("trace.note", what=note)
    for each in found.missing:
        yield say("trace.missing", what=each)
    if found.ranks:
        yield say("trace.next")
