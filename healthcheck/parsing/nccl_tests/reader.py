"""Output of nccl-tests or rccl-tests -> what it says, and how it ended."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from healthcheck.model.measurement import CollectiveTable, Failure, OutputState, ParsedOutput, ParseWarning
from healthcheck.parsing.nccl_tests import heads, judge, naming
from healthcheck.parsing.nccl_tests.consistency import find_contradictions
from healthcheck.parsing.nccl_tests.draft import Draft, merge
from healthcheck.parsing.nccl_tests.failures import FailureLog
from healthcheck.parsing.nccl_tests.leftover import Leftover
from healthcheck.parsing.nccl_tests.lines import Line, Lines, Source
from healthcheck.parsing.nccl_tests.rccl_json import RcclJson
from healthcheck.parsing.nccl_tests.stream import Stream
from healthcheck.parsing.nccl_tests.torn import ROW_START

# After so many lines the rest of a torn row no longer comes; until then every line must be looked at closely.
_LONGEST_TEAR = 5000


def parse_output(
    stdout: Source, *, stderr: Source = (), exit_code: int | None = None, argv: Sequence[str] = ()
) -> ParsedOutput:
    """Everything the output of one command says.

    Lines are read once, so a file of any size takes the memory of its tables. `exit_code` is that of the command (of
    mpirun, mostly), None when it did not end by itself or nobody knows. `argv` is its command line: it names the
    collective where an old output does not. Line numbers are those of `stdout`; failures read in `stderr` have none.
    """
    return _Reader(argv).read(stdout, stderr, exit_code)


class _Reader:
    def __init__(self, argv: Sequence[str]) -> None:
        self._argv = argv
        self._streams: dict[str, Stream] = {}
        self._spare = Stream()
        self._failures = FailureLog()
        self._leftover = Leftover()
        self._rccl = RcclJson()
        self._tagged = ""
        self._current: Draft | None = None  # the table that was begun last, whoever prints it
        self._command: str | None = None
        self._trace: str | None = None
        self._torn: set[str] = set()  # processes whose row waits for its rest
        self._tear = 0  # the line of the last of them
        self._in_table: set[str] = set()

    def read(self, stdout: Source, stderr: Source, exit_code: int | None) -> ParsedOutput:
        lines = Lines(stdout, self._leftover)
        for line in lines:
            self._stdout_line(line)
            self._tell(lines, line.number)
        for line in Lines(stderr, self._leftover, numbered=False):
            if line.text and not self._failures.read(line.text, None):
                self._leftover.add(line.text, None)
        return self._output(exit_code)

    def _tell(self, lines: Lines, number: int) -> None:
        """What the reader of lines must let through from here on."""
        lines.in_table = bool(self._in_table)
        lines.torn = bool(self._torn) and number - self._tear < _LONGEST_TEAR

    def _stdout_line(self, line: Line) -> None:
        text = line.text
        if not text:
            return
        if "NCCL INFO" in text and "Init COMPLETE" in text:
            match = heads.INIT_COMPLETE.search(text)
            if match and self._current is not None:
                self._current.init_ranks.add(int(match[1]))
            return
        if "NCCL WARN" in text and not ROW_START.match(text):
            self._failures.read(text, line.number)
            return
        if text[0] in "{[" and "busBw" in text and self._rccl.add(text, line.number):
            return
        rest = self._feed(line).strip()
        if not rest or rest.startswith("{"):
            return
        if naming.is_trace(rest):
            self._remember_trace(naming.of_trace(rest))
            return
        self._command = naming.of_command_line(rest) or self._command
        if not self._failures.read(rest, line.number) and not rest.startswith("#"):
            self._leftover.add(rest, line.number)

    def _feed(self, line: Line) -> str:
        """Give a line to the stream of its process; what is not part of a table comes back."""
        process = self._process(line.process)
        stream = self._streams.get(process, self._spare)
        was_open = stream.waits_for_footer
        rest = stream.feed(line)
        if not stream.used:
            return rest
        if stream is self._spare:
            self._streams[process], self._spare = stream, Stream()
        if stream.drafts and process.startswith("ompi:"):
            self._tagged = process
        if stream.torn and process not in self._torn:
            self._torn.add(process)
            self._tear = line.number
        elif not stream.torn:
            self._torn.discard(process)
        if stream.in_table:
            self._in_table.add(process)
        else:
            self._in_table.discard(process)
        newest = stream.drafts[-1] if stream.drafts else None
        if newest is not None and newest.started and newest is not self._current:
            self._current = newest
            self._failures.table_began()
            newest.command = newest.command or self._command
        if was_open and not stream.waits_for_footer:
            self._failures.footer_came()
            self._command = None
        return rest

    def _process(self, tag: str) -> str:
        """Open MPI tags only the first line of what a rank writes at once: the lines below it without a tag are the
        same rank's, unless a table without tags is being read."""
        return self._tagged if not tag and "" not in self._streams else tag

    def _remember_trace(self, name: str | None) -> None:
        if name is not None and self._current is not None and not self._current.finished:
            self._current.trace = self._current.trace or name
        elif name is not None:
            self._trace = self._trace or name

    def _output(self, exit_code: int | None) -> ParsedOutput:
        warnings: list[ParseWarning] = list(self._rccl.warnings)
        drafts, untagged = self._drafts(warnings)
        for draft in drafts:
            if (named := naming.name_table(draft, self._argv)) is not None:
                warnings.append(named)
        tables = tuple(draft.table(untagged, warnings) for draft in drafts)
        contradictions = (find_contradictions(table, draft.line) for draft, table in zip(drafts, tables, strict=True))
        warnings += [warning for warning in contradictions if warning is not None]
        judge.find_failures(drafts, tables, self._failures, warnings)
        judge.find_ending(drafts, tables, exit_code, self._failures, self._leftover)
        finished = all(table.complete for table in tables) and bool(tables)
        failures = self._failures.settle(with_soft=not (finished and exit_code == 0))
        counts = [half.wrong for table in tables for row in table.rows for _, half in row.placements]
        known = [count for count in counts if count is not None]
        return ParsedOutput(
            state=_state(tables, bool(failures)),
            verified=judge.verified(tables),
            wrong_values=sum(known) if known else None,
            failures=self._with_collective(failures, tables),
            warnings=tuple(sorted(warnings, key=lambda warning: warning.line or 0)),
            tables=tables,
        )

    def _drafts(self, warnings: list[ParseWarning]) -> tuple[list[Draft], bool]:
        """All tables, and whether lines of several processes without tags are mixed in the only one."""
        drafts: list[Draft] = []
        mixed = judge.find_mixed(self._streams, self._argv, self._failures)
        for stream in self._streams.values():
            stream.close()
            whole = [merge(stream.drafts)] if mixed and len(stream.drafts) > 1 else stream.drafts
            warnings += stream.warnings
            if mixed:
                lines = [line for draft in whole for line in draft.drop_joined()]
                text = "pieces of a row, of nobody knows which process, are left out"
                warnings += [ParseWarning("row_cut", text, line) for line in lines]
            drafts += whole
        return drafts + self._rccl.drafts, mixed and len(self._streams) == 1

    def _with_collective(
        self, failures: tuple[Failure, ...], tables: tuple[CollectiveTable, ...]
    ) -> tuple[Failure, ...]:
        """A failure says which collective it broke where no table does."""
        if self._trace is None or any(table.collective for table in tables):
            return failures
        return tuple(replace(failure, collective=self._trace) for failure in failures)


def _state(tables: tuple[CollectiveTable, ...], failed: bool) -> OutputState:
    if failed:
        return OutputState.FAILED
    if not tables:
        return OutputState.EMPTY
    return OutputState.COMPLETE if all(table.complete for table in tables) else OutputState.TRUNCATED
