"""How a started command ended, seen from here: the clock of one command, shared by the SSH and the local transport."""

from __future__ import annotations

from healthcheck.launchers.wrapper import DEADLINE_EXIT_CODE, END_STEPS_S
from healthcheck.model.command import Command, CommandResult, ExitKind
from healthcheck.model.message import Arg, Message, say
from healthcheck.ports import Clock

STOP_ANSWER_S = 2 * END_STEPS_S + 2.0
"""Seconds the far side gets after `stop`: INT, 5 s, TERM, 5 s, KILL, and a little to tell us."""

DEADLINE_GRACE_S = 2 * END_STEPS_S + 5.0
"""Seconds after the command's own deadline at which we stop believing that the far side will speak again."""

LINGER_S = 2.0
"""Seconds output may stay open after the exit code came: something that escaped holds it, and is not waited for."""


class Ending:
    """Decides the `CommandResult` of one command from what is seen of it. Times are `Clock.monotonic` seconds."""

    def __init__(self, command: Command, clock: Clock) -> None:
        self._deadline_s = command.deadline_s
        self._clock = clock
        self._started = clock.monotonic()
        self._stopped_at: float | None = None
        self._exit_seen_at: float | None = None

    @property
    def seconds(self) -> float:
        """Since the start."""
        return self._clock.monotonic() - self._started

    @property
    def stop_asked(self) -> bool:
        """Whether somebody asked for the end."""
        return self._stopped_at is not None

    def ask_stop(self) -> bool:
        """Note that the end was asked for; False when it was before."""
        if self._stopped_at is not None:
            return False
        self._stopped_at = self._clock.monotonic()
        return True

    def lingers(self, most_s: float = LINGER_S) -> bool:
        """Call when the exit code is known and output is still open: True once that has lasted `most_s` seconds."""
        now = self._clock.monotonic()
        if self._exit_seen_at is None:
            self._exit_seen_at = now
        return now - self._exit_seen_at > most_s

    def exited(self, exit_code: int) -> CommandResult:
        """The wrapper told its exit code."""
        if self.stop_asked:
            return self._result(ExitKind.STOPPED, say("job.ended_early"))
        if exit_code == DEADLINE_EXIT_CODE and self.seconds >= self._deadline_s:
            return self._result(ExitKind.TIMED_OUT, say("job.timed_out", seconds=self._deadline_s))
        return CommandResult(kind=ExitKind.EXITED, exit_code=exit_code, duration_s=self.seconds)

    def lost(self, detail: Arg) -> CommandResult:
        """The connection broke before an exit code came."""
        return self._result(ExitKind.CONNECTION_LOST, say("host.connection_lost", seconds=self.seconds, detail=detail))

    def killed(self) -> CommandResult:
        """The wrapper itself was ended from outside: the connection stands, but there is no exit code."""
        kind = ExitKind.STOPPED if self.stop_asked else ExitKind.SIGNALLED
        return self._result(kind, say("host.no_exit_code"))

    def overdue(self) -> CommandResult | None:
        """The result to give when the far side has been silent for too long; None while it may still answer."""
        now = self._clock.monotonic()
        if self._stopped_at is not None and now - self._stopped_at > STOP_ANSWER_S:
            return self._result(ExitKind.STOPPED, say("host.stop_unanswered", seconds=STOP_ANSWER_S))
        if self.seconds > self._deadline_s + DEADLINE_GRACE_S:
            return self._result(ExitKind.TIMED_OUT, say("host.deadline_unanswered", seconds=self._deadline_s))
        return None

    def patience_s(self) -> float:
        """Seconds until `overdue` can change its mind."""
        limits = [self._started + self._deadline_s + DEADLINE_GRACE_S]
        if self._stopped_at is not None:
            limits.append(self._stopped_at + STOP_ANSWER_S)
        return max(0.0, min(limits) - self._clock.monotonic()) + 0.01

    def _result(self, kind: ExitKind, reason: Message) -> CommandResult:
        return CommandResult(kind=kind, exit_code=None, duration_s=self.seconds, reason=reason)
