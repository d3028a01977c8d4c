"""What fits into the time of a gate: stages made shorter until they do, and what is left out. Pure.

A stage is first asked for once instead of several times, then with its first collective alone, then with fewer
iterations, then up to a smaller size; never below 1 GiB, where a healthy machine does not reach its plateau yet.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from healthcheck.model.command import CollectiveJob
from healthcheck.model.host import Host
from healthcheck.model.message import Message, say
from healthcheck.model.playbook import Playbook, Sizes, Stage
from healthcheck.model.units import Bytes
from healthcheck.planning.estimate import START_UP_PER_HOST_S, START_UP_S, search_costs, stage_seconds
from healthcheck.planning.rails import MEASURE_S
from healthcheck.planning.stages import multi_node_jobs, single_node_jobs

LEAST_BUDGET_S = 30.0
LEAST_BYTES = 1 << 30
LEAST_ITERATIONS, LEAST_WARMUP = 5, 2
SLACK = 1.5
"""A job may take so much longer than one that reaches its peak, and be healthy."""
ENDING_S = 10.0
"""Seconds from the deadline of a job until nothing of it runs any more (launchers.site, twice its grace)."""
RETESTS = 4
LEAST_JOB_S = 5.0
"""A job that would get less than this is not begun."""


class Piece(Struct, frozen=True):
    """A benchmark stage that is still to come: its hosts with slots, what they should read (GB/s), jobs at once."""

    stage: Stage
    playbook: Playbook
    hosts: tuple[Host, ...]
    busbw_gbyte_s: float
    parallel: int = 4096


class Fitted(Struct, frozen=True):
    """A stage as it fits, None where even the shortest does not. Times in seconds.

    `needs_s` is how long it takes, `job_s` how long one of its jobs may, its end included; `told` names what is
    shorter than asked, or what is left out.
    """

    stage: Stage | None
    needs_s: float
    job_s: float = 0.0
    told: tuple[Message, ...] = ()


class Times(Struct, frozen=True):
    """The budget of a gate, divided, in seconds since it began.

    `looks` have to be over at the first, jobs at the second, every command at the third; the rest is for the pages.
    """

    looks_s: float
    jobs_s: float
    commands_s: float


def times(budget_s: float, hosts: int) -> Times:
    """Pages of a thousand nodes take ten seconds, and the look after the benchmarks about as long as that before."""
    reserve = min(max(8.0, 0.1 * budget_s), 60.0) + 0.01 * hosts
    reserve = min(reserve, budget_s / 2)
    return Times(max(0.3 * budget_s, 15.0), budget_s - reserve, budget_s - reserve / 3)


def fit(pieces: Sequence[Piece], left_s: float) -> Fitted:
    """The first of the stages to come as it fits into `left_s` together with those behind it.

    Time is taken where most of it goes, until all fit. Where not even the shortest do, the first goes alone.
    """
    ladders = [list(_shorter(piece)) for piece in pieces]
    steps = [0] * len(pieces)
    while sum(ladder[step][1] for ladder, step in zip(ladders, steps, strict=True)) > left_s:
        longest = [
            (ladder[step][1], index)
            for index, (ladder, step) in enumerate(zip(ladders, steps, strict=True))
            if step + 1 < len(ladder)
        ]
        if not longest:
            return _alone(pieces[0], ladders[0], left_s)
        steps[max(longest)[1]] += 1
    behind = sum(ladder[step][1] for ladder, step in zip(ladders[1:], steps[1:], strict=True))
    stage, needs_s = ladders[0][steps[0]]
    return Fitted(stage, needs_s, (left_s - behind) / _in_turn(pieces[0], stage), _told(pieces[0].stage, stage))


def _alone(piece: Piece, ladder: Sequence[tuple[Stage, float]], left_s: float) -> Fitted:
    stage, needs_s = ladder[-1]
    if needs_s <= left_s:
        return Fitted(stage, needs_s, left_s / _in_turn(piece, stage), _told(piece.stage, stage))
    return Fitted(None, needs_s, told=(say("gate.left_out.stage", stage=piece.stage.name, time=about(needs_s)),))


def _shorter(piece: Piece) -> Iterator[tuple[Stage, float]]:
    """The stage as asked, then ever shorter; each with the seconds it needs."""
    stage = piece.stage
    yield stage, _needs_s(piece, stage)
    if stage.repeats > 1:
        stage = replace(stage, repeats=1)
        yield stage, _needs_s(piece, stage)
    if len(stage.collectives) > 1:
        stage = replace(stage, collectives=stage.collectives[:1])
        yield stage, _needs_s(piece, stage)
    while stage.iterations > LEAST_ITERATIONS:
        fewer = max(LEAST_ITERATIONS, stage.iterations // 2)
        stage = replace(stage, iterations=fewer, warmup=min(stage.warmup, LEAST_WARMUP))
        yield stage, _needs_s(piece, stage)
    least = int(stage.sizes.min) if stage.unsaturated_ok else max(int(stage.sizes.min), LEAST_BYTES)
    while (smaller := _largest(stage.sizes) // stage.sizes.factor) >= least:
        stage = replace(stage, sizes=Sizes(stage.sizes.min, Bytes(smaller), stage.sizes.factor))
        yield stage, _needs_s(piece, stage)


def _largest(sizes: Sizes) -> int:
    """The largest size of a sweep that is measured: it may end above it."""
    size = int(sizes.min)
    while size * sizes.factor <= int(sizes.max):
        size *= sizes.factor
    return size


def _needs_s(piece: Piece, stage: Stage) -> float:
    jobs = _jobs(piece, stage)
    once = stage_seconds([replace(job, timeout_s=math.inf) for job in jobs], piece.busbw_gbyte_s)
    return SLACK * once * _waves(piece)


def _jobs(piece: Piece, stage: Stage) -> tuple[CollectiveJob, ...]:
    """Of nodes that work alone those of the first: all do the same at the same time."""
    if stage.name == "single_node":
        return single_node_jobs(piece.playbook, stage, piece.hosts[:1])
    return multi_node_jobs(piece.playbook, stage, piece.hosts, None)


def _waves(piece: Piece) -> int:
    return max(1, math.ceil(len(piece.hosts) / piece.parallel)) if piece.stage.name == "single_node" else 1


def _in_turn(piece: Piece, stage: Stage) -> int:
    """Jobs of the stage that follow each other on one host, or wait for room."""
    return max(1, len(stage.collectives) * stage.repeats * _waves(piece))


def _told(asked: Stage, fitted: Stage) -> tuple[Message, ...]:
    if fitted == asked:
        return ()
    found: list[Message] = []
    name = asked.name
    if fitted.repeats < asked.repeats:
        found.append(say("gate.shorter.repeats", stage=name, n=asked.repeats))
    left = asked.collectives[len(fitted.collectives) :]
    if left:
        found.append(say("gate.shorter.collectives", stage=name, names=", ".join(each.value for each in left)))
    if fitted.iterations < asked.iterations:
        found.append(say("gate.shorter.iterations", stage=name, n=fitted.iterations, asked=asked.iterations))
    before, after = _largest(asked.sizes), _largest(fitted.sizes)
    if after < before:
        found.append(say("gate.shorter.sizes", stage=name, size=str(Bytes(after)), asked=str(Bytes(before))))
    return tuple(found)


def search_seconds(nodes: int, joint_s: float, max_rounds: int) -> tuple[float, float]:
    """(the least a search takes that finds one culprit and proves the rest, what it takes as a rule), in seconds.

    `joint_s` of one job over all nodes. As a rule retests come on top, and the jobs that name the rail.
    """
    pair_s = SLACK * (START_UP_S + 2 * START_UP_PER_HOST_S + MEASURE_S)
    least_s = search_costs(nodes, pair_s, joint_s, max_rounds, None)[0].seconds
    return least_s, least_s + RETESTS * pair_s


def about(seconds: float) -> Message:
    """`about 40 s`, `about 9 min`."""
    if seconds < 90:
        return say("progress.time_s", seconds=max(5, 5 * math.ceil(seconds / 5)))
    return say("progress.time_minutes", minutes=math.ceil(seconds / 60))
