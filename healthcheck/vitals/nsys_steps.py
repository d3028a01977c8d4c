"""Which named ranges of the host are the steps of a training, and in which of them it waited for data.

Frameworks name them differently, and nest one in another (an iteration holds the steps of an optimiser), so the
outermost family that has a number or a well-known name is taken, on the thread that has most of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from healthcheck.vitals.nsys_database import HostRange

_STEP: Final = re.compile(
    r"(profiler_?step|iteration|iter|train(?:ing)?[ _-]step|train[ _-]batch|run_training_batch|step)"
    r"[ _:#=.\[(-]*(\d{1,15})?(?:\s*(?:/|of)\s*\d+)?[\])]?(?:, (?:op_id|seq|sizes) = .*)?",  # emit_nvtx adds the last
    re.IGNORECASE,
)
_DATA: Final = re.compile(
    r"data[ _-]?load|(?:get|load|next)[ _-]?batch|batch[ _-]generator|data[ _-]?(?:fetch|wait)|fetch[ _-]data",
    re.IGNORECASE,
)
# PyTorch itself names every call of an optimiser so: all that Megatron's own profile marks of a step.
_OPTIMISER: Final = re.compile(r"Optimizer\.step#")
_MARK: Final = "optimizer"
# From the outermost to what may lie inside of it. The whole name has to be this: `Optimizer.step#Adam.step` is a part.
_FAMILIES: Final = (
    "profilerstep",
    "iteration",
    "iter",
    "trainstep",
    "trainingstep",
    "trainbatch",
    "runtrainingbatch",
    "step",
    _MARK,
)
# Between two optimisers of one step lies far less than between those of two steps.
_SHORT_GAP: Final = 0.2
_NUMBER: Final = re.compile(r"\d{1,15}")


class Step(NamedTuple):
    """One step as the host marked it. `number` as its name says, else counted from 0."""

    number: int
    begin_ns: int
    end_ns: int


class HostSteps(NamedTuple):
    """The steps of one process in order, none overlapping. `waits` are ranges of the same thread that load data.

    `waits` is None where nothing in the recording is named so: then nobody knows. `guessed`: nothing is named a step,
    so each lasts from the end of one optimiser to the end of the next.
    """

    steps: tuple[Step, ...]
    waits: tuple[tuple[int, int], ...] | None
    guessed: bool


def host_steps(ranges: Iterable[HostRange], pattern: re.Pattern[str] | None) -> Mapping[int, HostSteps]:
    """Per process (`HostRange.process`) its steps; a process without any is not there.

    With `pattern` (of the user) every range whose name has it is a step, its first number that of the step.
    """
    families: dict[tuple[int, str], list[HostRange]] = {}
    waits: dict[int, list[tuple[int, int]]] = {}
    for given in ranges:
        family = _family(given.name, pattern)
        if family is not None:
            families.setdefault((given.thread, family), []).append(given)
        elif _DATA.search(given.name):
            waits.setdefault(given.thread, []).append((given.begin_ns, given.end_ns))
    best: dict[int, tuple[tuple[int, int], HostSteps]] = {}
    for (thread, family), members in families.items():
        steps = _between(members) if family == _MARK else _steps(members, pattern)
        rank = (_FAMILIES.index(family) if family in _FAMILIES else 0, -len(members))
        process = members[0].process
        if steps and (process not in best or rank < best[process][0]):
            loads = waits.get(thread)
            best[process] = rank, HostSteps(steps, None if loads is None else tuple(loads), family == _MARK)
    return {process: found for process, (_, found) in best.items()}


def _family(name: str, pattern: re.Pattern[str] | None) -> str | None:
    if pattern is not None:
        return "" if pattern.search(name) else None
    if _OPTIMISER.match(name):
        return _MARK
    match = _STEP.fullmatch(name.strip())
    return None if match is None else re.sub(r"[ _-]", "", match[1].lower())


def _steps(members: Iterable[HostRange], pattern: re.Pattern[str] | None) -> tuple[Step, ...]:
    """In order of their begin; one that begins inside another is a part of it."""
    steps: list[Step] = []
    for given in members:
        if not steps or given.begin_ns >= steps[-1].end_ns:
            steps.append(Step(_number(given.name, pattern, len(steps)), given.begin_ns, given.end_ns))
    if len({step.number for step in steps}) < len(steps):  # a name with one number for all of them
        steps = [step._replace(number=number) for number, step in enumerate(steps)]
    return tuple(steps)


def _between(optimisers: Sequence[HostRange]) -> tuple[Step, ...]:
    """From the end of the optimisers of one step to that of the next; what came before the first is no whole step."""
    gaps = [after.begin_ns - before.end_ns for before, after in pairwise(optimisers)]
    long = max(gaps, default=0) * _SHORT_GAP
    ends = [each.end_ns for each, gap in zip(optimisers, gaps, strict=False) if gap > long]
    ends.append(optimisers[-1].end_ns)
    return tuple(Step(number, *bounds) for number, bounds in enumerate(pairwise(ends)))


def _number(name: str, pattern: re.Pattern[str] | None, position: int) -> int:
    """The number in the name of a step: behind what the user looks for, else where the usual names have it."""
    if pattern is None:
        named = _STEP.fullmatch(name.strip())
        found = named[2] if named is not None else None
    else:
        hit = pattern.search(name)
        digits = _NUMBER.search(name, hit.start()) if hit is not None else None
        found = digits[0] if digits is not None else None
    return position if found is None else int(found)
