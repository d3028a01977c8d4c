"""The file that nccl-tests writes with `-J` (2.17.3 and newer) -> the same values as its text.

It lists one device a process and no number of ranks, writes booleans and NaN as strings, and after a crash it ends
anywhere: then what stands in it as whole results is read. Its copy of the environment is never looked at.
"""

from __future__ import annotations

import re
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from healthcheck.model.collective import Collective
from healthcheck.model.measurement import (
    CollectiveRow,
    CollectiveTable,
    Failure,
    FailureKind,
    OutputState,
    ParsedOutput,
    ParseWarning,
    Placement,
    Rank,
)
from healthcheck.parsing.nccl_tests.consistency import find_contradictions
from healthcheck.parsing.nccl_tests.failures import shown
from healthcheck.parsing.nccl_tests.naming import of_program

START = re.compile(rb'\s*(?:\xef\xbb\xbf)?\s*\{\s*"version"\s*:')
_NEXT = re.compile(rb'(?<=.)\s*(?=\{\s*"version"\s*:\s*\d)')
_END_OF_RESULT = re.compile(rb'"experiment_name"\s*:\s*""\s*\}')
_RESULTS = re.compile(rb'"results"\s*:')
_ENV = re.compile(rb'"env"\s*:\s*\[')
_AFTER_ENV = re.compile(rb'"nccl_version"\s*:')
_ROOT = re.compile(r"-1|\d{1,8}", re.ASCII)
_NEWEST_VERSION = 3
_Number = float | str | None
_Size = Annotated[int, Meta(ge=0, lt=1 << 60)]
_Few = Annotated[int, Meta(ge=0, lt=1 << 20)]


class _Half(Struct):
    time: _Number = None
    cpu_time: _Number = None
    alg_bw: _Number = None
    bus_bw: _Number = None
    nwrong: _Number = None


class _Result(Struct):
    size: _Size
    count: _Size
    type: str
    redop: str | None = None
    root: str | int | None = None
    out_of_place: _Half | None = None
    in_place: _Half | None = None


class _Device(Struct):
    rank: int
    hostname: str
    group: int | None = None
    pid: int | None = None
    device: int | None = None
    device_hex: str | None = None
    device_info: str | None = None


class _Config(Struct):
    nthreads: _Few = 1
    ngpus: _Few = 1
    devices: tuple[_Device, ...] = ()


class _Bounds(Struct):
    count: _Size
    okay: str | bool


class _Average(Struct):
    okay: str | bool
    bandwidth: _Number = None
    bandwidith: _Number = None  # sic, up to 2.17.8


class _Document(Struct):
    version: int
    args: tuple[str, ...]
    config: _Config | None = None
    results: tuple[_Result, ...] = ()
    out_of_bounds: _Bounds | None = None
    average_bus_bandwidth: _Average | None = None
    average_bus_bandwidith: _Average | None = None  # sic, up to 2.17.8
    errors: tuple[str, ...] = ()


def parse_json(data: bytes) -> ParsedOutput | None:
    """What the file says; None when it is no such file. One that was cut is at most `truncated`.

    Several files that were put together are several tables.
    """
    if not START.match(data):
        return None
    pieces = _NEXT.split(data.strip().removeprefix(b"\xef\xbb\xbf"))
    outputs = [_output(document) for document in map(_document, pieces) if document is not None]
    if not outputs:
        return None
    whole = len(outputs) == len(pieces)
    return outputs[0] if len(pieces) == 1 else _together(outputs, whole)


def _document(data: bytes) -> _Document | None:
    document = _decoded(data)
    if document is None:
        data = _without_env(data)
        document = _decoded(data) or _decoded(_repaired(data))
    return document


def _together(outputs: list[ParsedOutput], whole: bool) -> ParsedOutput:
    states = {output.state for output in outputs}
    counts = [output.wrong_values for output in outputs if output.wrong_values is not None]
    checked = [output.verified for output in outputs if output.verified is not None]
    state = OutputState.COMPLETE if whole and states == {OutputState.COMPLETE} else OutputState.TRUNCATED
    return ParsedOutput(
        state=OutputState.FAILED if OutputState.FAILED in states else state,
        verified=any(checked) if checked else None,
        wrong_values=sum(counts) if counts else None,
        failures=tuple(failure for output in outputs for failure in output.failures),
        warnings=tuple(warning for output in outputs for warning in output.warnings),
        tables=tuple(table for output in outputs for table in output.tables),
    )


def _without_env(data: bytes) -> bytes:
    """The file without its copy of the environment: it may hold secrets, and is cut wrongly by some who hide them."""
    start = _ENV.search(data)
    if start is None:
        return data
    end = _AFTER_ENV.search(data, start.end())
    return data[: start.start()] + (data[end.start() :] if end is not None else b"")


def _decoded(data: bytes) -> _Document | None:
    try:
        return msgspec.json.decode(data, type=_Document)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def _repaired(data: bytes) -> bytes:
    """A cut file up to its last whole result, closed; without results up to where they would begin."""
    ends = [match.end() for match in _END_OF_RESULT.finditer(data)]
    if ends:
        return data[: ends[-1]] + b"]}"
    start = _RESULTS.search(data)
    return data[: start.start() if start else len(data)].rstrip(b", \r\n\t") + b"}"


def _output(document: _Document) -> ParsedOutput:
    rows = tuple(map(_row, document.results))
    table, warnings = _table(document, rows)
    halves = [half for row in rows for _, half in row.placements]
    counts = [half.wrong for half in halves if half.wrong is not None]
    average = document.average_bus_bandwidth or document.average_bus_bandwidith
    failures, doubts = _failures(table, average)
    contradiction = find_contradictions(table)
    state = OutputState.COMPLETE if table.complete else OutputState.TRUNCATED
    return ParsedOutput(
        state=OutputState.FAILED if failures else state,
        verified=bool(counts) if halves else None,
        wrong_values=sum(counts) if counts else None,
        failures=failures,
        warnings=(*warnings, *doubts, *([contradiction] if contradiction else [])),
        tables=(table,),
    )


def _table(document: _Document, rows: tuple[CollectiveRow, ...]) -> tuple[CollectiveTable, tuple[ParseWarning, ...]]:
    config = document.config or _Config()
    ranks = tuple(
        Rank(item.rank, item.group, item.pid, item.hostname, item.device, item.device_hex, item.device_info)
        for item in config.devices
    )
    first = next((rank for rank in ranks if rank.rank == 0), None)
    group = [rank for rank in ranks if first is None or rank.group == first.group]
    per_process = config.nthreads * config.ngpus
    warnings: list[ParseWarning] = []
    if per_process > 1 and group:
        text = f"number of ranks: {len(group)} processes of {per_process} GPUs each; their first GPUs are listed"
        warnings.append(ParseWarning("n_ranks_inferred", text))
    if document.version > _NEWEST_VERSION:
        text = f"file version {document.version} is newer than this reader knows ({_NEWEST_VERSION})"
        warnings.append(ParseWarning("json_version_unknown", text))
    if any(document.errors):
        text = f"NCCL's last error text: {shown(' '.join(document.errors))}"
        warnings.append(ParseWarning("nccl_last_error", text))
    bounds = document.out_of_bounds
    average = document.average_bus_bandwidth or document.average_bus_bandwidith
    table = CollectiveTable(
        collective=of_program(document.args[0]) if document.args else None,
        tool="nccl-tests",
        tool_version=None,
        n_ranks=len(group) * per_process or None,
        hosts=tuple(dict.fromkeys(rank.host for rank in group)),
        gpu_models=tuple(dict.fromkeys(rank.model for rank in group if rank.model)),
        ranks=ranks,
        rows=rows,
        avg_busbw_gbyte_s=None if average is None else _value(average.bandwidth or average.bandwidith),
        out_of_bounds_count=None if bounds is None else bounds.count,
        out_of_bounds_ok=None if bounds is None else _is(bounds.okay, "true"),
        complete=document.config is not None and bounds is not None and average is not None and _any_measured(rows),
    )
    return table, tuple(warnings)


def _failures(table: CollectiveTable, average: _Average | None) -> tuple[tuple[Failure, ...], tuple[ParseWarning, ...]]:
    """(what failed, wrong values that prove nothing)."""
    failures: list[Failure] = []
    doubts: list[ParseWarning] = []
    bad = _first_wrong(table)
    if bad is None and table.out_of_bounds_ok is False:
        bad = f"{table.out_of_bounds_count} results out of bounds"
    if bad is not None and table.collective == Collective.HYPERCUBE and table.n_ranks not in (1, 2):
        text = f"{bad}; hypercube reports these on good hardware, not judged"
        doubts.append(ParseWarning("wrong_not_judged", text))
    elif bad is not None:
        failures.append(Failure(FailureKind.DATA_CHECK, bad))
    in_place = any(row.in_place is not None and row.in_place.wrong for row in table.rows)
    if in_place and not _in_place_counts(table.collective):
        text = f"#wrong of the in-place half of {table.collective} is not reliable, not judged"
        doubts.append(ParseWarning("wrong_not_judged", text))
    if average is not None and _is(average.okay, "false"):
        failures.append(Failure(FailureKind.MIN_BANDWIDTH, "average bus bandwidth is below NCCL_TESTS_MIN_BW"))
    if not failures and table.out_of_bounds_count is not None and not _any_measured(table.rows):
        failures.append(Failure(FailureKind.NO_MEASUREMENT, "ended without one measured row"))
    return tuple(failures), tuple(doubts)


def _first_wrong(table: CollectiveTable) -> str | None:
    for row in table.rows:
        for name, half in row.placements:
            if half.wrong and (name != "in_place" or _in_place_counts(table.collective)):
                return f"{half.wrong:g} wrong values at size {row.size_bytes} ({name.replace('_', ' ')})"
    return None


def _any_measured(rows: tuple[CollectiveRow, ...]) -> bool:
    return any(half.algbw_gbyte_s is not None for row in rows for _, half in row.placements)


def _in_place_counts(collective: str | None) -> bool:
    return collective not in set(Collective) or Collective(collective).in_place_is_checked


def _row(result: _Result) -> CollectiveRow:
    root = str(result.root).strip()
    return CollectiveRow(
        size_bytes=result.size,
        count=result.count,
        dtype=result.type,
        redop=(result.redop or "").strip() or None,
        root=int(root) if _ROOT.fullmatch(root) else None,
        out_of_place=_placement(result.out_of_place),
        in_place=_placement(result.in_place),
    )


def _placement(half: _Half | None) -> Placement | None:
    if half is None:
        return None
    time = half.time if half.time is not None else half.cpu_time
    return Placement(_value(time), _value(half.alg_bw), _value(half.bus_bw), wrong=_value(half.nwrong))


def _is(printed: str | bool, word: str) -> bool:
    """Its booleans are strings; tools that rewrite the file make true ones of them."""
    return str(printed).lower() == word


def _value(printed: _Number) -> float | None:
    """The number; None for the strings `nan` and `inf`."""
    return printed if isinstance(printed, float) else None
