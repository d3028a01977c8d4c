"""`healthcheck parse`: saved output of nccl-tests or rccl-tests, of any era, as data."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

from healthcheck.cli import options
from healthcheck.cli.language import on_stdout
from healthcheck.model.collective import Collective

if TYPE_CHECKING:
    from healthcheck.diagnosis.fingerprints import Hint
    from healthcheck.evaluation.tables import TableJudgement
    from healthcheck.model.measurement import CollectiveTable
    from healthcheck.model.platform import Platform
    from healthcheck.reporting.parsed_output import ParsedFile

_EXIT_FAILED = 1
_EXIT_TRUNCATED = 3
_LONGEST_LINE = 1 << 20  # a file without line ends must not be read as one line
_LARGEST_JSON = 64 << 20
STDIN = "-"
# What this program wrote quotes logs, and is none.
_OWN = re.compile(rb'\s*\{\s*"schema"\s*:\s*"healthcheck\.')
_PAGES = frozenset({".html", ".htm"})


def command(
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="Files or folders; - is standard input.")],
    json: Annotated[bool, typer.Option("--json", help="One JSON document (healthcheck.parse/1).")] = False,
    csv: Annotated[bool, typer.Option("--csv", help="One line a size and placement.")] = False,
    platform: Annotated[
        str | None, typer.Option("--platform", help="Judge, too: a name of `healthcheck platform list`, or a file.")
    ] = None,
    collective: Annotated[
        Collective | None, typer.Option("--collective", help="What the tables ran that do not name it (before 2.16.7).")
    ] = None,
    lang: options.Lang = None,
) -> None:
    """Read saved output of nccl-tests or rccl-tests, of any version, with or without a launcher's prefixes.

    Exit code: 0 all complete, 1 any failed, 3 any cut short, 2 nothing recognised. With --platform that of the
    verdict: 0 PASS, 1 FAIL, 3 INCONCLUSIVE, 4 DEGRADED.

    Example: mpirun -np 16 all_reduce_perf -b 8 -e 8G -f 2 | healthcheck parse - --json
    """
    from healthcheck.cli.exits import out
    from healthcheck.errors import InputError
    from healthcheck.reporting.parsed_output import as_csv, as_json, as_text

    if json and csv:
        raise InputError("--csv", "cannot be combined with --json; choose one of them")
    machine = _machine(platform)
    parsed = [_judged(file, machine, collective) for argument in files for file in _read(argument)]
    with on_stdout(lang, json or csv):
        if json:
            out(as_json(parsed))
        elif csv:
            out(as_csv(parsed))
        else:
            for number, file in enumerate(parsed):
                out("\n".join(([""] if number else []) + list(as_text(file))))
    raise typer.Exit(_exit_code(parsed, machine is not None))


def _read(argument: str) -> Iterator[ParsedFile]:
    """One result a file. In a folder only files that are such output count; a file that is named always does."""
    import sys

    from healthcheck.errors import InputError
    from healthcheck.model.measurement import OutputState

    if argument == STDIN:
        if sys.stdin is None:  # closed by the shell: `<&-`
            raise InputError(STDIN, "standard input is closed; pipe saved output of nccl-tests into it, or name a file")
        yield read_stream(sys.stdin.buffer, STDIN)
        return
    from healthcheck.edge.given_files import open_given
    from healthcheck.edge.places import exists

    path = Path(argument)
    if not exists(path):
        raise InputError(argument, "no such file or folder; name saved output of nccl-tests, or - for standard input")
    found = sorted(entry for entry in path.rglob("*") if _may_be_log(entry)) if path.is_dir() else [path]
    for entry in found:
        try:
            with open_given(entry) as stream:
                file = read_stream(stream, str(entry))
        except OSError as error:
            raise InputError(str(entry), f"cannot be read: {error.strerror or error}") from error
        if path == entry or file.output.state is not OutputState.EMPTY:
            yield file


def _may_be_log(entry: Path) -> bool:
    return entry.suffix.lower() not in _PAGES and entry.is_file()


def read_stream(stream: BinaryIO, path: str) -> ParsedFile:
    """What a file says, read once from its beginning; `path` only names it."""
    from itertools import chain

    from healthcheck.model.measurement import OutputState, ParsedOutput
    from healthcheck.parsing import nccl_json
    from healthcheck.parsing.nccl_tests import parse_output
    from healthcheck.reporting.parsed_output import ParsedFile

    readable = path.encode("utf-8", "replace").decode("utf-8")
    lines = iter(lambda: stream.readline(_LONGEST_LINE), b"")
    start = next(lines, b"")
    if start.strip(b"\xef\xbb\xbf \t\r\n") == b"{":  # spread over lines by some tool
        start += next(lines, b"")
    if _OWN.match(start):
        return ParsedFile(readable, ParsedOutput(OutputState.EMPTY, None, None))
    if nccl_json.START.match(start):
        # Never read as text: it holds the environment of whoever ran it.
        output = nccl_json.parse_json(start + stream.read(_LARGEST_JSON))
        return ParsedFile(readable, output or ParsedOutput(OutputState.EMPTY, None, None))
    return ParsedFile(readable, parse_output(chain([start] if start else [], lines)))


def _machine(name: str | None) -> Platform | None:
    if name is None:
        return None
    from healthcheck.edge.shipped import load_platform
    from healthcheck.errors import InputError

    if name == "auto":
        raise InputError("--platform", "auto needs the nodes themselves; name one of `healthcheck platform list`")
    return load_platform(name)[0]


def _judged(file: ParsedFile, machine: Platform | None, collective: Collective | None) -> ParsedFile:
    if machine is None and collective is None:
        return file
    from msgspec.structs import replace

    from healthcheck.evaluation.tables import judge_table
    from healthcheck.evaluation.unnamed import with_names

    file = replace(file, output=with_names(file.output, collective, infer=machine is not None))
    if machine is None:
        return file
    judgements = tuple(judge_table(table, machine) for table in file.output.tables)
    hints = tuple(map(partial(_looks_like, machine), file.output.tables, judgements))
    return replace(file, judgements=judgements, hints=hints)


def _looks_like(machine: Platform, table: CollectiveTable, judgement: TableJudgement) -> tuple[Hint, ...]:
    """What a number that is too low is consistent with."""
    from healthcheck.diagnosis.fingerprints import Shape, hints
    from healthcheck.evaluation.tables import gpus_a_host
    from healthcheck.model.verdict import Verdict

    slow = judgement.verdict in (Verdict.DEGRADED, Verdict.FAIL)
    if not slow or judgement.busbw_gbyte_s is None or table.collective is None:
        return ()
    shape = Shape(len(table.hosts), Collective(table.collective), gpus_a_host(table))
    return hints(machine, shape, judgement.busbw_gbyte_s)


def _exit_code(parsed: list[ParsedFile], judged: bool) -> int:
    from healthcheck.cli.exits import EXIT_INPUT, say
    from healthcheck.model.measurement import OutputState
    from healthcheck.model.message import say as message

    states = {file.output.state for file in parsed}
    if states <= {OutputState.EMPTY}:
        say(str(message("parse.nothing")))
        return EXIT_INPUT
    if judged:
        from healthcheck.evaluation.tables import judge_output
        from healthcheck.model.verdict import worst

        return worst(judge_output(file.output, file.judgements) for file in parsed).exit_code
    if OutputState.FAILED in states:
        return _EXIT_FAILED
    return 0 if states == {OutputState.COMPLETE} else _EXIT_TRUNCATED
