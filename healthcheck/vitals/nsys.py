"""An export of Nsight Systems -> one `RankColumns` per process and GPU.

A file holds one process (a rank has its own file) or many, and a process one GPU or many, each numbered as the process
sees it; so process and number together name a GPU. CUDA graphs that were recorded as one block count as compute, and
when they ran is told (`RankColumns.opaque`): what ran inside of them is not in the file.
"""

from __future__ import annotations

import re
import sqlite3
from array import array
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Final

import numpy as np

from healthcheck.errors import InputError
from healthcheck.model.message import Message, say
from healthcheck.vitals.collectives import is_foreign, is_peer_to_peer, kind_of_kernel, name_of
from healthcheck.vitals.columns import (
    NO_STEPS,
    UNKNOWN,
    Calls,
    CallShape,
    GpuEvents,
    Kind,
    RankColumns,
    StepMarks,
    rank_in_name,
)
from healthcheck.vitals.intervals import NOTHING, Spans, Times, times, union
from healthcheck.vitals.nsys_database import GRAPH, KERNEL, MEMCPY, MEMSET, Activity, Database
from healthcheck.vitals.nsys_steps import HostSteps, host_steps

_OPTION: Final = "--step-range"


def read_export(connection: sqlite3.Connection, file: str, step_range: str | None) -> tuple[RankColumns, ...]:
    """Every GPU of the file on which something ran, by process, then number; none where nothing was recorded.

    `step_range`: a regular expression; the ranges of the host whose name has it are the steps, instead of the usual
    names. InputError for what is no such export, or no such expression.
    """
    pattern = compiled(step_range)
    database = Database(connection, file)
    gpus: dict[tuple[int | None, int], _Gpu] = {}
    for gpu, activities in groupby(database.activities(), key=itemgetter(0, 1)):
        gpus[gpu] = _Gpu(activities)
    steps = host_steps(database.ranges(), pattern)
    numbers = _numbers(list(gpus), database)
    return tuple(
        RankColumns(
            file=file,
            events=gpu.events(),
            steps=_marks(_of(process, steps)),
            calls=gpu.calls(),
            rank=rank_in_name(file) if len(gpus) == 1 else None,
            device=numbers[process, device],
            gpu=database.gpu_name(process, device),
            data_loading=_waits(_of(process, steps)),
            unanswered=times(sorted(database.unanswered(process))),
            foreign=gpu.foreign(),
            opaque=gpu.opaque(),
            notes=_notes(_of(process, steps)),
        )
        for (process, device), gpu in gpus.items()
    )


def _numbers(gpus: Sequence[tuple[int | None, int]], database: Database) -> Mapping[tuple[int | None, int], int]:
    """What each is called: as its process calls it; where two processes do so (each sees only its own GPU), as the
    machine does, and where that is not in the file by the order of the processes."""
    own = {gpu: gpu[1] for gpu in gpus}
    if len(set(own.values())) == len(gpus):
        return own
    of_machine = {gpu: number for gpu in gpus if (number := database.gpu_number(*gpu)) is not None}
    if len(set(of_machine.values())) == len(gpus):
        return of_machine
    return {gpu: place for place, gpu in enumerate(gpus)}


class _Gpu:
    """The columns of one GPU. A name is kept once for all rows that have it; for no kernel it is the table's."""

    def __init__(self, activities: Iterable[Activity]) -> None:
        begins, ends, launches, numbers = array("q"), array("q"), array("q"), array("q")
        names: dict[str, int] = {}
        for _, _, begin_ns, end_ns, table, name, launched_ns in activities:
            begins.append(begin_ns)
            ends.append(end_ns)
            launches.append(UNKNOWN if launched_ns is None else launched_ns)
            numbers.append(names.setdefault(name if table == KERNEL else table, len(names)))
        self._begin, self._end, self._launch, self._name = map(_column, (begins, ends, launches, numbers))
        self._names = names
        self._kind = np.array([_kind(name) for name in names], dtype=np.int8)[self._name]

    def events(self) -> GpuEvents:
        """Everything the GPU did. Streams and numbers of calls are not asked for by anybody."""
        unknown = np.full(len(self._begin), UNKNOWN, dtype=np.int64)
        return GpuEvents(self._begin, self._end, self._kind, self._launch, unknown, unknown)

    def calls(self) -> Calls:
        """The kernels of collectives. What they carried is not in an export: only what their names say."""
        chosen = self._kind == Kind.COLLECTIVE
        names = [name_of(name) for name in self._names]
        shapes = {name: number for number, name in enumerate(dict.fromkeys(names))}
        shape = times(shapes[name] for name in names)[self._name][chosen]
        begin, end, launch = (column[chosen] for column in (self._begin, self._end, self._launch))
        known = tuple(CallShape(name, peer_to_peer=is_peer_to_peer(name)) for name in shapes)
        return Calls(begin, end, launch, shape, np.full(len(begin), UNKNOWN, dtype=np.int64), known)

    def foreign(self) -> tuple[tuple[str, Spans], ...]:
        """Kernels that communicate without NCCL, and when they ran."""
        return tuple((name, self._spans_of(number)) for name, number in self._names.items() if is_foreign(name))

    def opaque(self) -> Spans:
        """When CUDA graphs ran of which only the whole was recorded."""
        return self._spans_of(self._names[GRAPH]) if GRAPH in self._names else NOTHING

    def _spans_of(self, name: int) -> Spans:
        chosen = self._name == name
        return union(self._begin[chosen], self._end[chosen])


def _kind(name: str) -> Kind:
    if name in (MEMCPY, MEMSET):
        return Kind.MEMCPY
    return Kind.COMPUTE if name == GRAPH else kind_of_kernel(name)


def _column(values: array[int]) -> Times:
    return np.frombuffer(values, dtype=np.int64)


def _of(process: int | None, steps: Mapping[int, HostSteps]) -> HostSteps | None:
    """The steps of a process; where kernels do not tell theirs, or ranges do not, there can be only one."""
    if process in steps and process is not None:
        return steps[process]
    only_one = len(steps) == 1 and (process is None or 0 in steps)
    return next(iter(steps.values())) if only_one else None


def _marks(found: HostSteps | None) -> StepMarks:
    if found is None:
        return NO_STEPS
    numbers, begins, ends = zip(*found.steps, strict=True)
    return StepMarks(times(numbers), times(begins), times(ends))


def _notes(found: HostSteps | None) -> tuple[Message, ...]:
    return (say("nsys.steps_by_optimiser"),) if found is not None and found.guessed else ()


def _waits(found: HostSteps | None) -> Spans | None:
    if found is None or found.waits is None:
        return None
    return union(times(begin for begin, _ in found.waits), times(end for _, end in found.waits))


def compiled(step_range: str | None) -> re.Pattern[str] | None:
    """The pattern of `--step-range`; InputError where it is none."""
    if step_range is None:
        return None
    try:
        return re.compile(step_range)
    except re.error as error:
        raise InputError(
            _OPTION, f"{step_range!r} is not a regular expression ({error}); for example 'step \\d+'"
        ) from None
