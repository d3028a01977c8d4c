"""All ranks of a profile together -> TraceVitals: the slowest rank is the step, and what is missing is said."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace as with_fields

from msgspec.structs import replace

from healthcheck.model.message import Message, say
from healthcheck.model.vitals_trace import GRAPHS, RankTrace, TraceVitals
from healthcheck.vitals.call_table import RankCalls
from healthcheck.vitals.trace_calls import CallsTold, told
from healthcheck.vitals.trace_rank import RankTold

NO_KERNEL = "trace.missing.no_kernel"
_WAITS = 0.05
"""Of a step: where the others wait less than this for one rank, it is not worth a word."""
_NAMES = 3
MOST_OPAQUE = 0.01
"""Of a step in CUDA graphs that were recorded as one block: so far off the shares may be without being refused."""
_ALIKE = 0.01
_DO = {"kineto": "trace.missing.do_kineto", "nsys": "trace.missing.do_nsys"}


def trace_vitals(
    ranks: Sequence[RankTold],
    files: Sequence[str],
    without: Sequence[Message],
    source: str,
    notes: Sequence[Message] = (),
) -> TraceVitals:
    """The answer; `without` says of the files that told nothing why, `notes` are about the files as such."""
    if not ranks:
        empty = any(each.code == NO_KERNEL for each in without)
        missing = (*without, *((say(_DO[source]),) if empty else ()))
        return _nothing(files, source, notes, missing)
    ordered = sorted(ranks, key=_place)
    calls, again = _once(ordered)
    seen = told(calls)
    traces = tuple(_with_waiting(rank.trace, waited) for rank, waited in zip(ordered, seen.waiting_s, strict=True))
    slowest = _slowest(traces)
    world = max((rank.world_size for rank in ordered if rank.world_size is not None), default=None)
    hidden = max(rank.opaque for rank in ordered)
    if hidden > MOST_OPAQUE:
        step_s = None if traces[slowest].whole else traces[slowest].step_s
        missing = (say(GRAPHS, percent=hidden * 100),)
        return replace(_nothing(files, source, notes, missing), world_size=world, step_s=step_s)
    return TraceVitals(
        files=tuple(files),
        source=source,
        ranks=traces,
        slowest=slowest,
        world_size=world,
        step_s=traces[slowest].step_s,
        shares=traces[slowest].shares,
        collectives=seen.uses,
        lower_bound=any(rank.foreign or rank.opaque for rank in ordered),
        notes=(*notes, *_notes(ordered, traces, seen, again)),
        missing=(*without, *_missing(traces, seen, world)),
        exit_code=0,
    )


def _nothing(files: Sequence[str], source: str, notes: Sequence[Message], missing: tuple[Message, ...]) -> TraceVitals:
    """An answer without a rank."""
    return TraceVitals(
        files=tuple(files),
        source=source,
        ranks=(),
        slowest=None,
        world_size=None,
        step_s=None,
        shares=None,
        collectives=(),
        lower_bound=False,
        notes=tuple(notes),
        missing=missing,
        exit_code=3,
    )


def _slowest(traces: Sequence[RankTrace]) -> int:
    """The one with the longest step. Ranks that wait for each other end their steps together: of those whose step is
    as long, the one that waits least, for it sets the pace."""
    longest = max(trace.step_s for trace in traces)
    alike = [at for at, trace in enumerate(traces) if trace.step_s >= longest * (1 - _ALIKE)]
    known = [at for at in alike if traces[at].waiting_s is not None]
    if len(known) == len(alike):
        return min(alike, key=lambda at: traces[at].waiting_s or 0.0)
    return max(alike, key=lambda at: traces[at].step_s)


def _place(rank: RankTold) -> tuple[int, int, str]:
    trace = rank.trace
    none = 1 << 62
    return none if trace.rank is None else trace.rank, -1 if trace.device is None else trace.device, trace.file


def _once(ranks: Sequence[RankTold]) -> tuple[list[RankCalls], int]:
    """Their calls, and how many files hold steps that another file of the same rank holds, too: a rank does not wait
    for itself. Files of other steps (the next cycle of the profiler) are matched like any."""
    seen: dict[tuple[int, int | None], set[int]] = {}
    found: list[RankCalls] = []
    again = 0
    for rank in ranks:
        trace = rank.trace
        steps = {step.step for step in trace.steps}
        if trace.rank is not None and not steps.isdisjoint(before := seen.get((trace.rank, trace.device), set())):
            again += 1
            calls = rank.calls.calls
            alone = tuple(with_fields(shape, group=None) for shape in calls.shapes)
            found.append(with_fields(rank.calls, calls=with_fields(calls, shapes=alone)))
            continue
        found.append(rank.calls)
        if trace.rank is not None:
            seen[trace.rank, trace.device] = before | steps
    return found, again


def _with_waiting(trace: RankTrace, waited_s: float | None) -> RankTrace:
    return trace if waited_s is None else replace(trace, waiting_s=waited_s / len(trace.steps))


def _notes(ranks: Sequence[RankTold], traces: Sequence[RankTrace], seen: CallsTold, again: int) -> Iterator[Message]:
    foreign = max(ranks, key=lambda rank: rank.foreign)
    if foreign.foreign:
        longest = dict.fromkeys((*foreign.foreign_names, *(name for rank in ranks for name in rank.foreign_names)))
        names = ", ".join(name[:60] for name in list(longest)[:_NAMES])
        yield say("trace.note.foreign", names=names, n=len(longest), percent=100 * foreign.foreign)
    opaque = max(rank.opaque for rank in ranks)
    if opaque:
        yield say("trace.note.opaque", percent=100 * opaque)
    worlds = sorted({rank.world_size for rank in ranks if rank.world_size is not None})
    if len(worlds) > 1:
        yield say("trace.note.worlds", sizes=", ".join(map(str, worlds)))
    if again:
        yield say("trace.note.same_rank", n=again)
    if seen.unmatched:
        yield say("trace.note.unmatched", n=seen.unmatched)
    yield from _straggler(traces)


def _straggler(traces: Sequence[RankTrace]) -> Iterator[Message]:
    """The rank all others wait for, where there is one."""
    known = [(trace.waiting_s, trace) for trace in traces if trace.waiting_s is not None]
    if len(known) < 2:
        return
    known.sort(key=lambda each: each[0])
    (least, last), (second, _) = known[0], known[1]
    if last.rank is not None and second - least > _WAITS * last.step_s:
        yield say("trace.note.straggler", rank=last.rank, own=least * 1000, others=second * 1000)


def _missing(traces: Sequence[RankTrace], seen: CallsTold, world: int | None) -> Iterator[Message]:
    if all(trace.whole for trace in traces):
        yield say("trace.missing.steps")
    ranks = len({trace.rank for trace in traces if trace.rank is not None}) or len(traces)
    if seen.uses and all(use.ranks < 2 for use in seen.uses):
        if world is not None and ranks < world:
            yield say("trace.missing.ranks", n=ranks, world=world)
        else:
            yield say("trace.missing.groups")
    elif world is not None and ranks < world:
        yield say("trace.missing.some_ranks", n=ranks, world=world)
    if seen.uses and all(use.busbw_gbyte_s is None for use in seen.uses):
        yield say("trace.missing.sizes")
    if all(trace.shares.data_loading is None for trace in traces):
        yield say("trace.missing.data_loading")
