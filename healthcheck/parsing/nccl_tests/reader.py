"""Output of nccl-tests or rccl-tests -> what it says, and how it ended."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from healthcheck.model.collective import Collective
from healthcheck.model.measurement import (
    CollectiveTable,
    OutputState,
    ParsedOutput,
    ParseWarning,
)
from healthcheck.parsing.nccl_tests import heads, judge
from healthcheck.parsing.nccl_tests.draft import Draft, merge
from healthcheck.parsing.nccl_tests.failures import FailureLog
from healthcheck.parsing.nccl_tests.leftover import Leftover
from healthcheck.parsing.nccl_tests.lines import Line, read_lines
from healthcheck.parsing.nccl_tests.stream import Stream

Source = Iterable[str] | Iterable[bytes] | str | bytes


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
        self._failures = FailureLog()
        self._leftover = Leftover()
        self._trace_collective: str | None = None
        self._tagged = ""

    def read(self, stdout: Source, stderr: Source, exit_code: int | None) -> ParsedOutput:
        for line in read_lines(stdout):
            self._stdout_line(line)
        for line in read_lines(stderr):
            if line.text.strip() and not self._failures.read(line.text, None):
                self._leftover.add(line.text, None)
        warnings: list[ParseWarning] = []
        drafts: list[Draft] = []
        mixed = judge.find_mixed(self._streams, self._argv, self._failures)
        for stream in self._streams.values():
            stream.close()
            whole = mixed and len(stream.drafts) > 1
            drafts += [merge(stream.drafts)] if whole else stream.drafts
            warnings += stream.warnings
        for draft in drafts:
            self._name_collective(draft, warnings)
        untagged = mixed and len(self._streams) == 1
        tables = tuple(draft.table(untagged, warnings) for draft in drafts)
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
            failures=failures,
            warnings=tuple(sorted(warnings, key=lambda warning: warning.line or 0)),
            tables=tables,
        )

    def _stdout_line(self, line: Line) -> None:
        if "NCCL INFO" in line.text and "Init COMPLETE" in line.text:
            self._stream(line.process).init_complete(line.text)
            return
        if not line.text.strip():
            return
        stream = self._stream(line.process)
        was_open = stream.waits_for_footer
        rest = stream.feed(line)
        if stream.drafts and line.process.startswith("ompi:"):
            self._tagged = line.process
        if was_open and not stream.waits_for_footer:
            self._failures.footer_came()
        rest = rest.strip()
        if not rest or rest.startswith("{"):
            return
        if heads.TRACE_FILE.search(rest):
            self._trace_collective = self._trace_collective or heads.collective_of_trace(rest)
        elif not self._failures.read(rest, line.number) and not rest.startswith("#"):
            self._leftover.add(rest, line.number)

    def _stream(self, process: str) -> Stream:
        """The stream of a process. Open MPI tags only the first line of what a rank writes at once: the lines below
        it without a tag are the same rank's, unless a table without tags is being read."""
        if not process and "" not in self._streams:
            process = self._tagged
        if process not in self._streams:
            self._streams[process] = Stream()
        return self._streams[process]

    def _name_collective(self, draft: Draft, warnings: list[ParseWarning]) -> None:
        """The name as printed; else from the command line or a failure's trace, with a warning that says so."""
        if draft.collective is not None:
            return
        programs = (heads.collective_of(word) for word in self._argv)
        draft.collective = next((name for name in programs if name), None) or self._trace_collective
        if draft.collective is not None:
            known = draft.collective in set(Collective)
            source = "the command line" if any(map(heads.collective_of, self._argv)) else "the trace of a failure"
            text = f"collective {draft.collective} taken from {source}" + ("" if known else ", not one we know")
            warnings.append(ParseWarning("collective_inferred", text))


def _state(tables: tuple[CollectiveTable, ...], failed: bool) -> OutputState:
    if failed:
        return OutputState.FAILED
    if not tables:
        return OutputState.EMPTY
    return OutputState.COMPLETE if all(table.complete for table in tables) else OutputState.TRUNCATED
