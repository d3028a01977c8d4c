"""One running job: its output watched, its end explained."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from healthcheck.model.command import CollectiveJob, Command, CommandResult, ExitKind, JobOutcome
from healthcheck.model.gate import Passport
from healthcheck.model.host import Host
from healthcheck.model.message import Message, say
from healthcheck.ports import JobSink, Running
from healthcheck.workflows.engine import Engine, stamp
from healthcheck.workflows.raw_output import exit_code_of, launch_error, read_output, sizes

# A table that is complete is a measurement; mpirun gets this long to come to its own end.
TEARDOWN_S = 30.0
# The remote wrapper needs 10 s from INT to KILL; after this we stop waiting for its word.
GIVE_UP_S = 20.0
# What `timeout` in front of a rank exits with when it had to end it.
TIMED_OUT_EXIT = 124


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
        passports: Mapping[str, Passport],
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
        self._passports = passports
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
        """The run is to end."""
        self._end(ExitKind.STOPPED, self._engine.cancel.why)

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
        return any(table.complete for table in read_output(self._raw, self._command.argv, None).tables)

    def _explained(self, result: CommandResult) -> CommandResult:
        if self._ending is not None:
            kind, reason = self._ending
            return CommandResult(kind, None, result.duration_s, reason)
        if result.kind is ExitKind.TIMED_OUT and self._was_cut:
            return self._cut(result)
        if result.exit_code == TIMED_OUT_EXIT and result.duration_s >= self.job.timeout_s - 1:
            if self._was_cut:
                return self._cut(result)
            reason = say("job.timed_out", seconds=self.job.timeout_s)
            return CommandResult(ExitKind.TIMED_OUT, result.exit_code, result.duration_s, reason)
        return result

    @property
    def _was_cut(self) -> bool:
        pace = self._engine.pace
        return pace is not None and pace.has_cut(self.job.id)

    def _cut(self, result: CommandResult) -> CommandResult:
        """Ended for the budget of a gate: a job that was well and slow looks no different."""
        return CommandResult(ExitKind.CUT, None, result.duration_s, say("gate.job_cut", seconds=result.duration_s))

    def _outcome(self, result: CommandResult) -> JobOutcome:
        return JobOutcome(
            job=self.job,
            argv=self._command.argv,
            started_at=stamp(self._started_at),
            result=result,
            output=read_output(self._raw, self._command.argv, exit_code_of(result)),
            launch_error=launch_error(self._raw, result),
            bytes_cut=self._sink.bytes_cut,
            raw_bytes=sizes(self._raw),
            passports=dict(self._passports),
        )
