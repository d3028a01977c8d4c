"""Profiles that are named -> TraceVitals, one file after the other: of each only what it comes to is kept."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from healthcheck.edge.nsys_file import is_export, opened_export
from healthcheck.edge.places import is_folder
from healthcheck.edge.trace_files import STDIN, opened_trace, traces_at
from healthcheck.errors import InputError
from healthcheck.model.message import Message, say
from healthcheck.model.vitals_trace import TraceVitals
from healthcheck.vitals.kineto import read_kineto
from healthcheck.vitals.nsys import read_export
from healthcheck.vitals.trace_answer import NO_KERNEL, trace_vitals
from healthcheck.vitals.trace_rank import RankTold, rank_told

if TYPE_CHECKING:
    from healthcheck.vitals.columns import RankColumns

_NAMES = 3
_NSYS = "nsys"
_KINETO = "kineto"


class _File(NamedTuple):
    """One to read; `named` by the user, not found in a folder."""

    name: str
    source: str
    named: bool


class _Told(NamedTuple):
    """What a file comes to; `without` says why where no rank has anything to tell."""

    file: _File
    ranks: tuple[RankTold, ...]
    without: Message | None


def trace_of(arguments: Sequence[str], whole: bool = False, step_range: str | None = None) -> TraceVitals:
    """What the files, and those in the folders, say together, each file once. InputError where one that is named is no
    profile, where none is, or where they are of both kinds: their clocks and steps have nothing in common."""
    files = {file.name: file for argument in arguments for file in _files(argument)}.values()
    if step_range is not None and all(file.source != _NSYS for file in files):
        raise InputError("--step-range", "is for exports of Nsight Systems; torch.profiler marks steps by itself")
    told: list[_Told] = []
    passed_over: list[InputError] = []
    for file in files:
        try:
            told.append(_told(file, whole, step_range))
        except InputError as error:
            if file.named:
                raise
            passed_over.append(error)
    if not told:
        raise passed_over[0]
    names = ", ".join(error.where for error in passed_over[:_NAMES])
    return trace_vitals(
        [rank for each in told for rank in each.ranks],
        [each.file.name for each in told],
        [each.without for each in told if each.without is not None],
        _one_source([each.file for each in told]),
        [say("trace.note.passed_over", n=len(passed_over), names=names)] if passed_over else [],
    )


def _told(file: _File, whole: bool, step_range: str | None) -> _Told:
    columns = _columns(file, step_range)
    ranks = tuple(found for each in columns if (found := rank_told(each, whole)))
    if ranks:
        return _Told(file, ranks, None)
    broken = any(each.cut for each in columns)
    return _Told(file, (), say("trace.missing.broken" if broken else NO_KERNEL, file=file.name))


def _files(argument: str) -> Iterator[_File]:
    if argument == STDIN:
        yield _File(STDIN, _KINETO, True)
        return
    named = not is_folder(Path(argument))
    for path in traces_at(argument):
        yield _File(str(path), _NSYS if is_export(path) else _KINETO, named)


def _one_source(files: Sequence[_File]) -> str:
    first = {file.source: file.name for file in reversed(files)}
    if len(first) > 1:
        where = f"{first[_KINETO]} is a trace of torch.profiler, {first[_NSYS]} of Nsight Systems"
        raise InputError("", f"{where}: name files of one kind")
    return files[0].source


def _columns(file: _File, step_range: str | None) -> tuple[RankColumns, ...]:
    if file.source == _NSYS:
        with opened_export(Path(file.name)) as connection:
            return read_export(connection, file.name, step_range)
    with opened_trace(file.name) as stream:
        return read_kineto(stream, file.name)
