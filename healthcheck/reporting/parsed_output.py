"""What `healthcheck parse` prints: one JSON document, tidy CSV, or a table for people."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from itertools import zip_longest

import msgspec
from msgspec import UNSET, Struct, UnsetType

from healthcheck.diagnosis.fingerprints import Hint
from healthcheck.evaluation.tables import TableJudgement
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
from healthcheck.model.message import say
from healthcheck.model.units import Bytes
from healthcheck.parsing.nodeset import fold, is_host_name
from healthcheck.reporting.figures import columns_line, one_line
from healthcheck.reporting.joining import in_a_row, pair

SCHEMA = "healthcheck.parse/1"
_COLUMNS = (
    *("path", "table", "collective", "tool", "tool_version", "n_ranks"),
    *("size_bytes", "count", "dtype", "redop", "root", "placement"),
    *("time_us", "algbw_gbyte_s", "busbw_gbyte_s", "wrong", "max_delta"),
)


class ParsedFile(Struct, frozen=True):
    """One file and what it says. `path` as the user gave or the walk found it, `-` for standard input.

    `judgements` stand beside the tables, in their order; empty where nobody asked for a verdict. `hints`, too: what a
    number that is too low is consistent with.
    """

    path: str
    output: ParsedOutput
    judgements: tuple[TableJudgement, ...] = ()
    hints: tuple[tuple[Hint, ...], ...] = ()


class _Hint(Struct, frozen=True):
    """`cause` is a code of the catalogue (`healthcheck explain`)."""

    cause: str
    message: str


class _Table(Struct, frozen=True):
    """Keys of the contract, in its order; verdict and percentage are filled by whoever judges, and then `hints` is
    there."""

    collective: str | None
    tool: str | None
    tool_version: str | None
    n_ranks: int | None
    hosts: tuple[str, ...]
    gpu_models: tuple[str, ...]
    ranks: tuple[Rank, ...]
    rows: tuple[CollectiveRow, ...]
    avg_busbw_gbyte_s: float | None
    out_of_bounds_count: int | None
    out_of_bounds_ok: bool | None
    complete: bool
    verdict: str | None = None
    percent_of_peak: float | None = None
    hints: tuple[_Hint, ...] | UnsetType = UNSET


class _Failure(Struct, frozen=True):
    """`collective` is left out where a table names it."""

    kind: FailureKind
    message: str
    host: str | None
    line: int | None
    secondary: bool
    collective: str | UnsetType = UNSET


class _File(Struct, frozen=True):
    path: str
    state: OutputState
    verified: bool | None
    wrong_values: float | None
    failures: tuple[_Failure, ...]
    warnings: tuple[ParseWarning, ...]
    tables: tuple[_Table, ...]


class _Document(Struct, frozen=True):
    schema: str
    files: tuple[_File, ...]


def as_json(files: Sequence[ParsedFile]) -> str:
    """The document `healthcheck.parse/1`: unknown is null, and so is everything that is no number."""
    document = _Document(SCHEMA, tuple(_file(file) for file in files))
    return msgspec.json.format(msgspec.json.encode(document), indent=1).decode("utf-8")


def as_csv(files: Sequence[ParsedFile]) -> str:
    """One line a size and placement, with everything that tells it apart; unknown is an empty field."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for file in files:
        for number, table in enumerate(file.output.tables, 1):
            start = (file.path, number, table.collective, table.tool, table.tool_version, table.n_ranks)
            for row in table.rows:
                left = (row.size_bytes, row.count, row.dtype, row.redop, row.root)
                for name, half in row.placements:
                    numbers = (half.time_us, half.algbw_gbyte_s, half.busbw_gbyte_s, half.wrong, half.max_delta)
                    writer.writerow((*start, *left, name, *numbers))
    return text.getvalue().rstrip("\n")


def as_text(file: ParsedFile) -> Iterator[str]:
    """Lines for a person: how it ended and why, then each table. Paths and logs are data: one visible line each."""
    return map(columns_line, _lines(file))


def _lines(file: ParsedFile) -> Iterator[str]:
    output = file.output
    yield str(say("parse.file", path=file.path, state=output.state.value))
    for failure in output.failures:
        code = "parse.failure.secondary" if failure.secondary else "parse.failure"
        where = str(say("parse.line", line=failure.line)) if failure.line else ""
        yield "  " + str(say(code, kind=failure.kind.value, text=failure.message, where=where))
    for warning in output.warnings:
        where = str(say("parse.line", line=warning.line)) if warning.line else ""
        yield "  " + str(say("parse.warning", text=warning.message, where=where))
    for table, judgement, hints in zip_longest(output.tables, file.judgements, file.hints):
        yield from _table_lines(table, None if judgement is None else judgement.peak_gbyte_s)
        if judgement is not None:
            yield f"  {pair(judgement.verdict.name, judgement.reason)}"
        if hints:
            yield "  " + str(say("parse.consistent", looks=in_a_row((hint.message for hint in hints), "text.or")))
    if output.verified is False:
        yield "  " + str(say("parse.unverified"))


def _file(file: ParsedFile) -> _File:
    output = file.output
    return _File(
        path=file.path,
        state=output.state,
        verified=output.verified,
        wrong_values=output.wrong_values,
        failures=tuple(map(_failure, output.failures)),
        warnings=output.warnings,
        tables=tuple(_table(*parts) for parts in zip_longest(output.tables, file.judgements, file.hints)),
    )


def _failure(failure: Failure) -> _Failure:
    keys = msgspec.structs.asdict(failure)
    return _Failure(**(keys | {"collective": UNSET if failure.collective is None else failure.collective}))


def _table(table: CollectiveTable, judgement: TableJudgement | None, hints: Sequence[Hint] | None) -> _Table:
    keys = msgspec.structs.asdict(table)
    if judgement is None:
        return _Table(**keys)
    told = tuple(_Hint(f"cause.{hint.cause}", str(hint.message)) for hint in hints or ())
    return _Table(**keys, verdict=judgement.verdict.name, percent_of_peak=judgement.percent_of_peak, hints=told)


def _table_lines(table: CollectiveTable, peak_gbyte_s: float | None) -> Iterator[str]:
    """A table for people; with a peak each busbw stands beside its share of it."""
    collective = table.collective or str(say("parse.unnamed"))
    hosts = _folded(table.hosts)
    yield ""
    if table.n_ranks is None:
        yield "  " + str(say("parse.table.no_ranks", collective=collective, hosts=hosts))
    else:
        yield "  " + str(say("parse.table", collective=collective, ranks=table.n_ranks, hosts=hosts))
    share = "" if peak_gbyte_s is None else f"  {'% peak':>6}"
    half = f"  {'time_us':>10}  {'algbw':>8}  {'busbw':>8}{share}  {'wrong':>7}"
    yield f"  {'':>10}  {'':>8}  {'':>6}  {'out-of-place':>{len(half) - 2}}  {'in-place':>{len(half) - 2}}"
    yield f"  {'size':>10}  {'type':>8}  {'redop':>6}" + 2 * half
    for row in table.rows:
        size = str(Bytes(row.size_bytes)) if row.size_bytes else "0"
        halves = "".join(_half(half, peak_gbyte_s) for half in (row.out_of_place, row.in_place))
        yield f"  {size:>10}  {row.dtype:>8}  {row.redop or str(say('parse.none')):>6}{halves}"
    deltas = [half.max_delta for row in table.rows for _, half in row.placements if half.max_delta is not None]
    if deltas:
        yield "  " + str(say("parse.max_delta", delta=max(deltas)))
    if table.out_of_bounds_count is None:
        yield "  " + str(say("parse.footer.none"))
    else:
        result, average = "OK" if table.out_of_bounds_ok else "FAILED", _number(table.avg_busbw_gbyte_s)
        yield "  " + str(say("parse.footer", count=table.out_of_bounds_count, result=result, average=average))


def _folded(hosts: Sequence[str]) -> str:
    """Hosts in short; as printed where a log holds what is no host name."""
    if all(map(is_host_name, hosts)):
        return fold(hosts) if hosts else str(say("parse.no_hosts"))
    return ",".join(map(one_line, hosts))


def _half(half: Placement | None, peak_gbyte_s: float | None) -> str:
    """One placement; a count that was not printed is never filled with another number."""
    shown = half or Placement(None, None, None)
    share = ""
    if peak_gbyte_s is not None:
        percent = None if shown.busbw_gbyte_s is None else round(100 * shown.busbw_gbyte_s / peak_gbyte_s, 1)
        share = f"  {_number(percent):>6}"
    bandwidths = f"{_number(shown.algbw_gbyte_s):>8}  {_number(shown.busbw_gbyte_s):>8}"
    return f"  {_number(shown.time_us):>10}  {bandwidths}{share}  {_number(shown.wrong):>7}"


def _number(value: float | None) -> str:
    return str(say("parse.none")) if value is None else f"{value:.6g}"
