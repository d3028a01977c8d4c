"""Two profiles side by side: the step of the slowest rank, where its time went, the bandwidth of collectives."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from statistics import mean

from healthcheck.model.message import Message, listed, say
from healthcheck.model.units import binary
from healthcheck.model.vitals_compare import Metric, Unit
from healthcheck.model.vitals_trace import CollectiveUse, RankTrace, StepBreakdown, TraceVitals
from healthcheck.vitals.compare import noise
from healthcheck.vitals.compare.judging import difference, metric, said_by_one

Part = Callable[[StepBreakdown], float | None]
_LEAST_S = 1e-12
"""A step that is told as 0 s is divided by this."""
_PARTS: tuple[tuple[str, Part], ...] = (
    ("exposed", lambda step: step.exposed_s),
    ("exposed_memcpy", lambda step: step.exposed_memcpy_s),
    ("idle", lambda step: step.idle_s),
    ("data_loading", lambda step: step.data_loading_s),
)
_MOST_NAMED = 4
Key = tuple[str, str | None, int | None, int | None]


def differences(before: TraceVitals, after: TraceVitals) -> Iterator[Message]:
    """What is not the same, in words. A trace says nothing of model and batch."""
    sides = (("profiler", before.source, after.source), ("gpus", _world(before), _world(after)))
    for fact, one, other in (*sides, ("gpu", _gpus(before), _gpus(after))):
        if one and other and one != other:
            yield difference(fact, one, other)
        elif bool(one) is not bool(other):
            yield said_by_one(fact)
    if len(before.ranks) != len(after.ranks):
        yield say("vcompare.other_ranks", before=len(before.ranks), after=len(after.ranks))
    yield say("vcompare.trace_unsaid")


def _world(trace: TraceVitals) -> str:
    return "" if trace.world_size is None else str(trace.world_size)


def _gpus(trace: TraceVitals) -> str:
    return ", ".join(dict.fromkeys(rank.gpu for rank in trace.ranks if rank.gpu))


def metrics(before: TraceVitals, after: TraceVitals, floor: float) -> Iterator[Metric | Message]:
    """Every number both hold, and in words what is not compared and why."""
    one, other = before.slowest_rank, after.slowest_rank
    if one is None or other is None:
        side, trace = ("BEFORE", before) if one is None else ("AFTER", after)
        yield say("vcompare.not.graphs" if trace.hidden_in_graphs else "vcompare.not.no_kernels", side=side)
        return
    gpus = (_gpus(before), _gpus(after))
    if all(gpus) and gpus[0] != gpus[1]:
        yield say("vcompare.not.other_gpu")
        return
    if before.source != after.source:
        yield say("vcompare.not.profiler")
    else:
        yield from _steps(before, after, one, other, floor)
    if before.lower_bound is not after.lower_bound:
        yield say("vcompare.not.lower_bound")
    yield from _collectives(before, after, floor)


def _steps(
    before: TraceVitals, after: TraceVitals, one: RankTrace, other: RankTrace, floor: float
) -> Iterator[Metric | Message]:
    """Time is judged, in seconds of a step, for a share alone may rise because all else got faster; shares are only
    where the steps of the two are not the same work."""
    worlds = (before.world_size, after.world_size)
    same_work = worlds[0] == worlds[1]
    whole = one.whole or other.whole
    if whole:
        yield say("vcompare.not.whole")
    if not same_work:
        yield say("vcompare.not.world_unsaid" if None in worlds else "vcompare.not.world")
    timed = same_work and not whole
    if timed:
        walls = [[step.wall_s for step in rank.steps] for rank in (one, other)]
        bar = noise.of_profile(walls[0], walls[1], floor, max(one.step_s, _LEAST_S))
        found = metric("step_time", Unit.SECONDS, (one.step_s, other.step_s), bar, speed=True)
        if found is not None:
            yield found
    partial = before.lower_bound is not after.lower_bound
    for name, part in _PARTS:
        if partial and name == "exposed":
            continue
        if _has(one, part) is not _has(other, part):
            yield say("vcompare.not.one_side", what=say(f"vcompare.metric.{name}"))
            continue
        told = _part(name, part, one, other, floor, timed)
        if told is not None:
            yield told


def _has(rank: RankTrace, part: Part) -> bool:
    """Whether the profile shows this part at all."""
    return any(part(step) is not None for step in rank.steps)


def _part(name: str, part: Part, one: RankTrace, other: RankTrace, floor: float, timed: bool) -> Metric | None:
    """One part of a step: in seconds, where the change counts by what it is of the step of BEFORE, else its share."""
    before, after = (
        [
            value if timed else value / step.wall_s
            for step in rank.steps
            if (value := part(step)) is not None and step.wall_s > 0
        ]
        for rank in (one, other)
    )
    if not before or not after or not any((*before, *after)):
        return None
    step_s = max(one.step_s, _LEAST_S) if timed else None
    bar = noise.of_profile(before, after, floor, step_s or 1.0)
    unit = Unit.SECONDS if timed else Unit.SHARE
    return metric(name, unit, (mean(before), mean(after)), bar, whole=step_s)


def _collectives(before: TraceVitals, after: TraceVitals, floor: float) -> Iterator[Metric | Message]:
    """Those of one name, type, size and group in both; only where waiting is inside in neither."""
    mine, theirs = _by_key(before), _by_key(after)
    waiting = [key for key in mine if key in theirs and not _alike(mine[key], theirs[key])]
    for key, use in mine.items():
        if key in theirs and key not in waiting:
            yield from _busbw(use, theirs[key], floor)
    if waiting:
        yield say("vcompare.not.waiting", what=_named(waiting))
    gone = [key for key in mine if key not in theirs]
    new = [key for key in theirs if key not in mine]
    if gone:
        yield say("vcompare.not.collectives", side="AFTER", what=_named(gone))
    if new:
        yield say("vcompare.not.collectives", side="BEFORE", what=_named(new))


def _by_key(trace: TraceVitals) -> dict[Key, CollectiveUse]:
    """By name, type, size and group; several groups of one size: the one that takes most time."""
    found: dict[Key, CollectiveUse] = {}
    for use in sorted(trace.collectives, key=lambda use: use.total_s):
        found[use.name, use.dtype, use.size_bytes, use.group_size] = use
    return found


def _alike(one: CollectiveUse, other: CollectiveUse) -> bool:
    return _waiting_is_out(one) and _waiting_is_out(other) and one.sizes == other.sizes


def _waiting_is_out(use: CollectiveUse) -> bool:
    """Whether all ranks of its group were profiled, as far as the file says how many there are: the one that came last
    may be among those that were not."""
    return use.ranks >= (use.group_size or 2)


def _busbw(one: CollectiveUse, other: CollectiveUse, floor: float) -> Iterator[Metric]:
    bar = noise.of_calls(one.calls, other.calls, floor)
    values = (one.busbw_gbyte_s, other.busbw_gbyte_s)
    found = metric("busbw", Unit.GBYTE_S, values, bar, better="higher", of=_use(one))
    if found is None:
        times = (one.transfer_s, other.transfer_s)
        found = metric("transfer", Unit.SECONDS, times, bar, of=_use(one))
    if found is not None:
        yield found


def _use(use: CollectiveUse) -> Message:
    if use.size_bytes is None or use.group_size is None:
        return say("vcompare.collective_alone", name=use.name)
    return say("vcompare.collective", name=use.name, size=binary(use.size_bytes), ranks=use.group_size)


def _named(keys: list[Key]) -> Message:
    names = list(dict.fromkeys(name for name, *_ in keys))
    return say("vcompare.names", names=listed(names[:_MOST_NAMED]), n=len(keys))
