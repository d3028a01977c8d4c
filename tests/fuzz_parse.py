"""Damaged logs by the thousand: `python -m tests.fuzz_parse [COUNT] [SEED]` reads 20,000 and says what was slowest.

Every log must be read without an exception, under a second, into a valid document; a table is complete only with a
footer and a measured row; and where only lines were lost, moved or joined no row may come out that was in none of them.
"""

from __future__ import annotations

import json
import random
import re
import sys
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path

from msgspec import Struct

from healthcheck.model.measurement import CollectiveRow, OutputState, ParsedOutput
from healthcheck.parsing.nccl_json import parse_json
from healthcheck.parsing.nccl_tests import parse_output
from healthcheck.parsing.nccl_tests.telltale import ROW
from healthcheck.reporting.parsed_output import ParsedFile, as_csv, as_json, as_text
from tests.grammar.build import Output

COUNT = 20_000
LIMIT_S = 1.0
FIXTURES = Path(__file__).parent / "fixtures"
_MOST_DAMAGE = 4
_HALF_ROW = re.compile(rb"\s*\d+\.\d+\s")
_SPREAD = re.compile(rb"\{\s*\n")
_HEADS = [Output(era).head for era in ("E2", "E5d")]


class Log(Struct):
    """A log, and the rows that may come out of it (None: bytes were changed, so anything may)."""

    data: bytes
    rows: set[CollectiveRow] | None


class Result(Struct):
    """What a run of the fuzzer saw."""

    logs: int
    slowest_s: float
    states: dict[str, int]


@cache
def corpus() -> tuple[tuple[bytes, frozenset[CollectiveRow]], ...]:
    """Every fixture with the rows it holds."""
    files = sorted([*(FIXTURES / "nccl_tests").glob("*.txt"), *(FIXTURES / "nccl_tests_grammar").rglob("*.txt")])
    return tuple((data, _rows_in(data)) for data in (file.read_bytes() for file in files))


def _rows_in(data: bytes) -> frozenset[CollectiveRow]:
    """Its rows, and those it would have if column names of somebody else stood above them."""
    heads = (b"".join(line.encode() + b"\n" for line in head.splitlines()[-3:]) for head in _HEADS)
    lines = b"".join(line for line in data.splitlines(keepends=True) if ROW.search(line.decode("utf-8", "replace")))
    at = max(data.find(b'{"version"'), 0)  # what `-J` wrote, printed behind the text
    return rows_of(read(data)).union(rows_of(read(data[at:])), *(rows_of(parse_output(head + lines)) for head in heads))


def read(data: bytes) -> ParsedOutput:
    """As `healthcheck parse` reads a file: JSON where it is that, else text."""
    return parse_json(data) or parse_output(data)


def rows_of(output: ParsedOutput) -> frozenset[CollectiveRow]:
    """All rows of all tables."""
    return frozenset(row for table in output.tables for row in table.rows)


def _flip(log: Log, rng: random.Random) -> None:
    data = bytearray(log.data)
    for _ in range(rng.randint(1, 8)):
        if data:
            data[rng.randrange(len(data))] = rng.randrange(256)
    log.data, log.rows = bytes(data), None


def _insert(log: Log, rng: random.Random) -> None:
    at = rng.randint(0, len(log.data))
    piece = rng.choice(
        (b"\0", b"\x1b[31m", b"\xff\xfe", b"{", b"\\n", b"9" * 400, b"nan", b"# ", b"[0] ", rng.randbytes(8))
    )
    log.data, log.rows = log.data[:at] + piece + log.data[at:], None


def _cut(log: Log, rng: random.Random) -> None:
    log.data = log.data[: rng.randint(0, len(log.data))]


def _behead(log: Log, rng: random.Random) -> None:
    # A number that lost its first digits is another number.
    log.data, log.rows = log.data[rng.randint(0, len(log.data)) :], None


def _drop_lines(log: Log, rng: random.Random) -> None:
    lines = log.data.splitlines(keepends=True)
    at = rng.randint(0, len(lines))
    if _SPREAD.match(log.data):
        log.rows = None  # a key a line: any of them may be lost
    log.data = b"".join(lines[:at] + lines[at + rng.randint(1, 5) :])


def _repeat_lines(log: Log, rng: random.Random) -> None:
    lines = log.data.splitlines(keepends=True)
    at = rng.randint(0, len(lines))
    again = lines[at : at + rng.randint(1, 5)]
    log.data = b"".join(lines[:at] + again * 2 + lines[at:])
    if any(_HALF_ROW.match(line) for line in again) or _SPREAD.match(log.data):
        log.rows = None  # half of a torn row, twice: the text itself says a row then


def _shuffle_lines(log: Log, rng: random.Random) -> None:
    lines = log.data.splitlines(keepends=True)
    at = rng.randint(0, len(lines))
    some = lines[at : at + 6]
    rng.shuffle(some)
    # Halves of two torn rows may fit together.
    log.data, log.rows = b"".join(lines[:at] + some + lines[at + 6 :]), None


def _glue_lines(log: Log, rng: random.Random) -> None:
    lines = log.data.splitlines(keepends=True)
    if lines:
        at = rng.randrange(len(lines))
        lines[at] = lines[at].rstrip(b"\r\n")
    log.data, log.rows = b"".join(lines), None


def _join(log: Log, rng: random.Random) -> None:
    other, rows = rng.choice(corpus())
    log.data += other
    log.rows = None if log.rows is None else log.rows | rows


DAMAGE: tuple[Callable[[Log, random.Random], None], ...] = (
    *(_flip, _insert, _cut, _behead, _drop_lines, _repeat_lines, _shuffle_lines, _glue_lines, _join),
)


def damaged(rng: random.Random) -> Log:
    """One fixture after a few accidents."""
    data, rows = rng.choice(corpus())
    log = Log(data, set(rows))
    for _ in range(rng.randint(1, _MOST_DAMAGE)):
        rng.choice(DAMAGE)(log, rng)
    return log


def check(log: Log) -> tuple[ParsedOutput, float]:
    """Read it and hold what comes out to what must be true of anything; (output, seconds)."""
    begin = time.perf_counter()
    output = read(log.data)
    seconds = time.perf_counter() - begin
    file = ParsedFile("x", output)
    document = json.loads(as_json([file]))
    assert document["files"][0]["state"] == output.state.value
    assert as_csv([file]) and list(as_text(file))
    for table in output.tables:
        assert not table.complete or table.rows
        assert table.out_of_bounds_count is not None or not table.complete
    if output.state is OutputState.COMPLETE:
        assert not output.failures and all(table.complete for table in output.tables)
    if log.rows is not None:
        invented = [row for row in rows_of(output) if not any(_is_of(row, known) for known in log.rows)]
        assert not invented, f"a row that was not there: {invented[0]}"
    return output, seconds


def _is_of(row: CollectiveRow, known: CollectiveRow) -> bool:
    """Equal up to what a column header of another log makes of the same printed numbers: its unit, `error` or count.

    Where each side has a line of its own (rccl-tests JSON: no root) one of them may be lost.
    """
    one_side = row.root is None and None in (row.out_of_place, row.in_place)
    mine, theirs = _numbers(row), _numbers(known)
    return mine[0] == theirs[0] and (mine[1] == theirs[1] or (one_side and set(mine[1]) <= set(theirs[1])))


def _numbers(row: CollectiveRow) -> tuple[object, list[tuple[float | None, float | None]]]:
    bandwidths = [(half.algbw_gbyte_s, half.busbw_gbyte_s) for _, half in row.placements]
    return (row.size_bytes, row.count, row.dtype), bandwidths


def fuzz(count: int, seed: int) -> Result:
    """Read `count` damaged logs; AssertionError names the seed of the first that breaks a rule."""
    result = Result(0, 0.0, {})
    for number in range(count):
        log = damaged(random.Random(f"{seed}/{number}"))
        try:
            output, seconds = check(log)
            assert seconds < LIMIT_S, f"took {seconds:.2f} s"
        except Exception as error:
            raise AssertionError(f"log {number} of seed {seed}: {error!r}") from error
        result.logs += 1
        result.slowest_s = max(result.slowest_s, seconds)
        result.states[output.state.value] = result.states.get(output.state.value, 0) + 1
    return result


def main() -> int:
    """Print what was seen."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else COUNT
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    begin = time.perf_counter()
    result = fuzz(count, seed)
    spent = time.perf_counter() - begin
    states = ", ".join(f"{number} {state}" for state, number in sorted(result.states.items()))
    print(
        f"{result.logs} damaged logs in {spent:.0f} s, no exception; slowest {result.slowest_s * 1e3:.0f} ms; {states}"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
