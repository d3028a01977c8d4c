"""The time of a gate: no command reaches beyond what is left of it, and who does not answer by then is given up."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from healthcheck.model.command import CollectiveJob, Command, CommandResult, ExitKind
from healthcheck.model.host import Host
from healthcheck.model.message import say
from healthcheck.planning.gate_plan import ENDING_S, LEAST_JOB_S, times
from healthcheck.ports import Clock, PushFile, PushResult, Reached, Running, Sink, Transport

LEAST_COMMAND_S = 1.0


class Pace:
    """What is left of the budget of a gate, in seconds. Safe to read from many threads; moved by the workflow alone.

    It begins with the looks; `measure` begins the benchmarks, `end` what follows them.
    """

    def __init__(self, clock: Clock, budget_s: float, hosts: int) -> None:
        self._clock = clock
        self._begun = clock.monotonic()
        self._times = times(budget_s, hosts)
        self.budget_s = budget_s
        self._looking = True
        self._job_s = budget_s
        self._cut: set[str] = set()

    def _until(self, moment_s: float) -> float:
        return self._begun + moment_s - self._clock.monotonic()

    @property
    def left_s(self) -> float:
        """Of the whole budget."""
        return max(0.0, self._until(self.budget_s))

    @property
    def jobs_left_s(self) -> float:
        """Until the last job has to be over."""
        return max(0.0, self._until(self._times.jobs_s))

    @property
    def commands_left_s(self) -> float:
        """Until every command of the present part has to be over."""
        return max(0.0, self._until(self._times.looks_s if self._looking else self._times.commands_s))

    @property
    def may_begin(self) -> bool:
        """Whether there is time for another job."""
        return self.jobs_left_s >= ENDING_S + LEAST_JOB_S

    def measure(self, job_s: float | None = None) -> None:
        """Benchmarks from here on; each job may take `job_s` with its end, None for all that is left."""
        self._looking = False
        self._job_s = self.budget_s if job_s is None else job_s

    def within(self, job: CollectiveJob) -> CollectiveJob:
        """The job with a deadline that the budget allows."""
        most_s = max(LEAST_JOB_S, min(self._job_s, self.jobs_left_s) - ENDING_S)
        if most_s >= job.timeout_s:
            return job
        self._cut.add(job.id)
        return replace(job, timeout_s=float(int(most_s)))

    def has_cut(self, job_id: str) -> bool:
        """Whether the deadline of a job was that of the budget and not its own."""
        return job_id in self._cut

    def now(self) -> float:
        """The clock by which it is counted."""
        return self._clock.monotonic()


class PacedTransport:
    """A transport whose commands end with the time of a gate. What it is given is opened and closed by others."""

    def __init__(self, inner: Transport, pace: Pace) -> None:
        self._inner = inner
        self._pace = pace

    def connect(self, host: Host) -> Reached:
        """As ever, as long as there is time for looks."""
        if self._pace.commands_left_s <= 0:
            return Reached(_too_late())
        return self._inner.connect(host)

    def start(self, host: Host, command: Command, sink: Sink) -> Running:
        """With the deadline of the command, or that of the gate where that comes first."""
        left_s = self._pace.commands_left_s
        deadline_s = min(command.deadline_s, max(left_s, LEAST_COMMAND_S))
        running = self._inner.start(host, replace(command, deadline_s=deadline_s), sink)
        return _PacedRunning(running, self._pace, max(left_s, LEAST_COMMAND_S))

    def push(self, host: Host, folder: str, files: Sequence[PushFile]) -> PushResult:
        """As ever, as long as there is time."""
        if self._pace.commands_left_s <= 0:
            return PushResult(None, reason=_too_late().reason)
        return self._inner.push(host, folder, files)

    def close(self) -> None:
        """Close every connection."""
        self._inner.close()


class _PacedRunning:
    """A command that is given up at the end of its time, whether the far side has said so or not."""

    def __init__(self, inner: Running, pace: Pace, most_s: float) -> None:
        self._inner, self._pace = inner, pace
        self._begun, self._most_s = pace.now(), most_s
        self._given_up: CommandResult | None = None

    def poll(self) -> CommandResult | None:
        """The result; that time is over, where it is."""
        if self._given_up is not None:
            return self._given_up
        return self._inner.poll() or self._late()

    def wait(self, timeout_s: float) -> CommandResult | None:
        """Likewise, never beyond the end of its time."""
        if self._given_up is not None:
            return self._given_up
        left_s = self._begun + self._most_s - self._pace.now()
        return self._inner.wait(max(0.0, min(timeout_s, left_s))) or self._late()

    def stop(self) -> None:
        """Ask the far side to end it."""
        self._inner.stop()

    def _late(self) -> CommandResult | None:
        spent_s = self._pace.now() - self._begun
        if spent_s < self._most_s:
            return None
        self._inner.stop()
        reason = say("job.timed_out", seconds=self._most_s)
        self._given_up = CommandResult(ExitKind.TIMED_OUT, None, spent_s, reason)
        return self._given_up


def _too_late() -> CommandResult:
    return CommandResult(ExitKind.TIMED_OUT, None, 0.0, say("gate.no_time_to_look"))
