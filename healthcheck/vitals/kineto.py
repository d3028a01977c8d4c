"""Chrome traces of torch.profiler (Kineto) -> RankColumns. Old and new variants; streaming.

Of millions of events the kernels, copies, launches and marks of steps are kept (`kineto_rows.py`), each as numbers in
columns; here they get one clock, every kernel finds its launch, and every GPU becomes a table.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from healthcheck.model.message import Message, say
from healthcheck.vitals.cleaning import sane
from healthcheck.vitals.columns import NO_STEPS, UNKNOWN, Calls, GpuEvents, Kind, RankColumns, StepMarks, rank_in_name
from healthcheck.vitals.intervals import Spans, Times, union
from healthcheck.vitals.kineto_rows import KinetoRows, Rows
from healthcheck.vitals.trace_events import TraceEvents
from healthcheck.vitals.trace_fields import Head, whole_number, words

# An event further than a week from the others has no time, whatever its number is.
_FAR_US = 7 * 86_400e6


@dataclass(frozen=True, slots=True)
class _Clock:
    """µs of the file -> ns from its first event on: a double holds those without a loss, and not those since 1970."""

    begin_us: float
    middle_us: float

    def ns(self, rows: Rows) -> tuple[Times, Times, NDArray[np.bool_]]:
        """Begin and end of each row, and which rows have a time at all, and one of this file."""
        ts, dur = rows.times()
        with np.errstate(invalid="ignore"):
            fits = np.isfinite(dur) & (np.abs(ts - self.middle_us) < _FAR_US) & (np.abs(dur) < 1e15)
        begin = np.where(fits, ts - self.begin_us, 0.0)
        end = np.where(fits, begin + dur, 0.0)
        return np.rint(begin * 1000).astype(np.int64), np.rint(end * 1000).astype(np.int64), fits


@dataclass(frozen=True, slots=True)
class _Host:
    """What the host did: `launch` sorted by `correlation`; `kernel` which of them launch one."""

    steps: StepMarks
    loading: Spans | None
    launch: Times
    correlation: Times
    kernel: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class _Gpu:
    """All GPU events of the file; columns of one length."""

    events: GpuEvents
    device: Times
    shape: Times
    seq: Times
    foreign: Times

    def only(self, chosen: NDArray[np.bool_]) -> _Gpu:
        own = (column[chosen] for column in (self.device, self.shape, self.seq, self.foreign))
        return _Gpu(self.events.only(chosen), *own)


def read_kineto(stream: BinaryIO, file: str) -> tuple[RankColumns, ...]:
    """One rank, or one entry for each GPU of it where it used several; one without events where no GPU was recorded.

    `stream` is unpacked and may break off; `file` names it, and its name may hold the rank (`rank-3.….json`).
    InputError naming `file` where it is no Chrome trace.
    """
    events, rows = TraceEvents(stream, file), KinetoRows()
    for batch in events.batches():
        rows.take(batch)
    clock = _clock(rows)
    host = _host(rows, clock)
    gpu, timeless, again = _gpu(rows, clock, host)
    devices = sorted(set(gpu.device.tolist())) or [UNKNOWN]
    unanswered = host.launch[host.kernel & ~np.isin(host.correlation, gpu.events.correlation)]
    whole = RankColumns(
        file=file,
        events=gpu.events,
        steps=host.steps,
        rank=_rank_of(events.head, file),
        world_size=whole_number(events.head.distributed.world_size) if events.head.distributed else None,
        data_loading=host.loading,
        unanswered=np.sort(unanswered),
        cut=events.cut,
        notes=(*_unread(events, timeless, again), *((say("trace.note.recompute"),) if rows.recompute else ())),
    )
    return tuple(_of_device(whole, gpu, device, rows, events.head) for device in devices)


def _of_device(whole: RankColumns, gpu: _Gpu, device: int, rows: KinetoRows, head: Head) -> RankColumns:
    """The part of one GPU, without times no GPU can have taken."""
    mine = gpu.only(gpu.device == device)
    looked = sane(mine.events)
    mine = replace(mine, events=replace(mine.events, end=looked.end)).only(looked.kept)
    impossible = (
        ("trace.note.clipped", looked.clipped),
        ("trace.note.negative", looked.negative),
        ("trace.note.endless", looked.endless),
    )
    return replace(
        whole,
        events=mine.events,
        calls=_calls(mine, rows),
        device=None if device == UNKNOWN else device,
        gpu=_name_of_gpu(head, device),
        foreign=_foreign(mine, rows),
        notes=whole.notes + tuple(say(code, n=n) for code, n in impossible if n),
    )


def _clock(rows: KinetoRows) -> _Clock:
    ts = np.concatenate([each.times()[0] for each in (rows.gpu, rows.runtime, rows.steps, rows.loading)])
    ts = ts[np.isfinite(ts)]
    if not len(ts):
        return _Clock(0.0, 0.0)
    middle = float(np.partition(ts, len(ts) // 2)[len(ts) // 2])  # one of them: between two may lie a century
    return _Clock(float(np.floor(ts[np.abs(ts - middle) < _FAR_US].min())), middle)


def _host(rows: KinetoRows, clock: _Clock) -> _Host:
    launch, _, timed = clock.ns(rows.runtime)
    correlation, kernel = rows.runtime.column("correlation"), rows.runtime.column("launches") == 1
    timed &= _once(rows.runtime, correlation)
    order = np.argsort(correlation, kind="stable")
    order = order[timed[order]]
    begin, end, timed = clock.ns(rows.loading)
    loading = union(begin[timed], end[timed]) if timed.any() else None
    return _Host(_steps(rows, clock), loading, launch[order], correlation[order], kernel[order])


def _steps(rows: KinetoRows, clock: _Clock) -> StepMarks:
    """In the order of time; a step marked twice (by two threads) once."""
    begin, end, timed = clock.ns(rows.steps)
    number = rows.steps.column("number")
    timed &= end >= begin
    if not timed.any():
        return NO_STEPS
    order = np.lexsort((begin[timed], number[timed]))
    number, begin, end = (column[timed][order] for column in (number, begin, end))
    first = np.append(True, np.diff(number) != 0)
    by_time = np.argsort(begin[first], kind="stable")
    return StepMarks(*(column[first][by_time] for column in (number, begin, end)))


def _once(rows: Rows, *columns: Times) -> NDArray[np.bool_]:
    """Which rows count: of those that are the same in begin, length and these columns one, for torch.profiler writes
    some events twice."""
    keys = (*columns, *rows.times())
    order = np.lexsort(keys)
    again = np.ones(max(0, len(order) - 1), dtype=bool)
    for key in (key[order] for key in keys):
        again &= key[1:] == key[:-1]
    counts = np.ones(len(order), dtype=bool)
    counts[order[1:][again]] = False
    return counts


def _gpu(rows: KinetoRows, clock: _Clock, host: _Host) -> tuple[_Gpu, int, int]:
    """The GPU events, each with its launch; how many have no time, and how many were written again."""
    begin, end, timed = clock.ns(rows.gpu)
    column, correlation = rows.gpu.column, rows.gpu.column("correlation")
    once = _once(rows.gpu, correlation, column("origin"))
    events = GpuEvents(
        begin=begin,
        end=end,
        kind=column("kind").astype(np.int8),
        launch=_launch_of(correlation, host),
        stream=column("stream"),
        correlation=correlation,
    )
    gpu = _Gpu(events, column("device"), column("shape"), column("seq"), column("foreign"))
    return gpu.only(timed & once), int((once & ~timed).sum()), int((~once).sum())


def _launch_of(correlation: Times, host: _Host) -> Times:
    """When the host called what has this correlation; UNKNOWN where the call is not in the file."""
    if not len(host.correlation):
        return np.full(len(correlation), UNKNOWN, dtype=np.int64)
    at = np.minimum(np.searchsorted(host.correlation, correlation), len(host.correlation) - 1)
    return np.where((host.correlation[at] == correlation) & (correlation != UNKNOWN), host.launch[at], UNKNOWN)


def _calls(gpu: _Gpu, rows: KinetoRows) -> Calls:
    mine = gpu.events.kind == Kind.COLLECTIVE
    e = gpu.events
    begin, end, launch, shape, seq = (column[mine] for column in (e.begin, e.end, e.launch, gpu.shape, gpu.seq))
    return Calls(begin, end, launch, shape, seq, tuple(rows.shapes))


def _foreign(gpu: _Gpu, rows: KinetoRows) -> tuple[tuple[str, Spans], ...]:
    e = gpu.events
    of_name = ((name, gpu.foreign == at) for at, name in enumerate(rows.foreign))
    return tuple((name, union(e.begin[mine], e.end[mine])) for name, mine in of_name)


def _rank_of(head: Head, file: str) -> int | None:
    said = whole_number(head.distributed.rank) if head.distributed else None
    return said if said is not None else rank_in_name(file)


def _name_of_gpu(head: Head, device: int) -> str | None:
    names = {whole_number(gpu.id): words(gpu.name) for gpu in head.gpus}
    return names.get(device, next(iter(names.values())) if len(set(names.values())) == 1 else None)


def _unread(events: TraceEvents, timeless: int, again: int) -> Iterator[Message]:
    """What of the file did not become a number."""
    if events.cut:
        yield say("trace.note.cut", size=events.size)
    if events.lost:
        yield say("trace.note.lost", n=events.lost, at=events.lost_at or 0)
    if timeless:
        yield say("trace.note.timeless", n=timeless)
    if again:
        yield say("trace.note.again", n=again)
