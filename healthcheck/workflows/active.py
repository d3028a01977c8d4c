"""One running job: its output watched, its end explained."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from healthcheck.errors import StoreError
from healthcheck.model.command import CollectiveJob, Command, CommandResult, ExitKind, JobOutcome
from healthcheck.model.host import Host
from healthcheck.model.measurement import ParsedOutput
from healthcheck.model.message import Message, say
from healthcheck.parsing.launcher_output import classify
from healthcheck.parsing.nccl_tests import parse_output
from healthcheck.ports import JobSink, Running
from healthcheck.workflows.engine import Engine, stamp

# A table that is complete is a measurement; mpirun gets this long to come to its own end.
TEARDOWN_S = 30.0
# The remote wrapper needs 10 s from INT to KILL; after this we stop waiting for its word.
GIVE_UP_S = 20.0
# What `timeout` in front of a rank exits with when it had to end it.
TIMED_OUT_EXIT = 124
LAUNCHER_TEXT_BYTES = 256 << 10


class ActiveJob:
    """A started job, polled until it has ended. Not thread-safe: it belongs to the loop of `run_jobs`."""

    def __init__(
        self,
        job: CollectiveJob,
        command: Command,
        hosts: tuple[Host, ...],
        running: Running,
        sink: JobSink,
        started_at: datetime,
        stall_s: float,
        engine: Engine,
    ) -> None:
        self.job = job
        self.hosts = hosts
        self.token = command.token
        self._command = command
        self._running = running
        self._sink = sink
        self._started_at = started_at
        self._stall_s = stall_s
        self._engine = engine
        self._raw = engine.store.raw_text_files(job.id, job.stage)
        self._begin = engine.clock.monotonic()
        self._ending: tuple[ExitKind, Message] | None = None
        self._ending_since = 0.0
        self._doubted_at: float | None = None

    @property
    def measuring(self) -> bool:
        """Whether its table is being filled right now, so that the GPUs are at work."""
        return self._sink.table_at is not None and self._sink.footer_at is None and self._ending is None

    def interrupt(self) -> None:
        """The user wants to stop."""
        self._end(ExitKind.STOPPED, say("job.stopped"))

    def _end(self, kind: ExitKind, reason: Message) -> None:
        if self._ending is None:
            self._ending = (kind, reason)
            self._ending_since = self._engine.clock.monotonic()
            self._running.stop()

    def poll(self) -> JobOutcome | None:
        """Move output to disk; the outcome once the job has ended, by itself or because we ended it."""
        result = self._running.poll()
        now = self._engine.clock.monotonic()
        if result is None:
            self._watch(now)
            if self._ending is None or now - self._ending_since < GIVE_UP_S:
                return None
            result = CommandResult(self._ending[0], None, now - self._begin)
        self._sink.close()
        return self._outcome(self._explained(result))

    def _watch(self, now: float) -> None:
        """End what hangs. A line like the footer may stand anywhere, in a banner too: only a whole table is an end."""
        footer_at = self._sink.footer_at
        doubted_at = self._doubted_at
        silent = now - self._sink.grew_at > self._stall_s
        if footer_at is not None and (
            now - max(footer_at, doubted_at or footer_at) > TEARDOWN_S or (silent and doubted_at is not None)
        ):
            if self._is_whole():
                self._end(ExitKind.TEARDOWN_HUNG, say("job.teardown_hung", seconds=TEARDOWN_S))
                return
            self._doubted_at = now
        if silent and (footer_at is None or self._doubted_at is not None):
            self._end(ExitKind.STALLED, say("job.stalled", seconds=self._stall_s))

    def _is_whole(self) -> bool:
        return any(table.complete for table in self._read(None).tables)

    def _read(self, code: int | None) -> ParsedOutput:
        """What was printed so far; StoreError when somebody took the raw files away."""
        out_path, err_path = self._raw
        try:
            with (
                out_path.open(encoding="utf-8", errors="replace") as out,
                err_path.open(encoding="utf-8", errors="replace") as err,
            ):
                return parse_output(out, stderr=err, exit_code=code, argv=self._command.argv)
        except OSError as error:
            raise StoreError(f"cannot read {error.filename}: {error.strerror}") from error

    def _explained(self, result: CommandResult) -> CommandResult:
        if self._ending is not None:
            kind, reason = self._ending
            return CommandResult(kind, None, result.duration_s, reason)
        if result.exit_code == TIMED_OUT_EXIT and result.duration_s >= self.job.timeout_s - 1:
            reason = say("job.timed_out", seconds=self.job.timeout_s)
            return CommandResult(ExitKind.TIMED_OUT, result.exit_code, result.duration_s, reason)
        return result

    def _outcome(self, result: CommandResult) -> JobOutcome:
        # An exit code that we caused says nothing about the ranks.
        code = result.exit_code if result.kind is ExitKind.EXITED else None
        output = self._read(code)
        out_path, err_path = self._raw
        error = None if result.ok else classify(_text(out_path), _text(err_path), code)
        return JobOutcome(
            job=self.job,
            argv=self._command.argv,
            started_at=stamp(self._started_at),
            result=result,
            output=output,
            launch_error=error.message if error is not None else None,
            bytes_cut=self._sink.bytes_cut,
        )


def _text(path: Path) -> str:
    """The beginning of a raw file: a launcher says what went wrong before anything else, or there is little."""
    with path.open(encoding="utf-8", errors="replace") as file:
        return file.read(LAUNCHER_TEXT_BYTES)
