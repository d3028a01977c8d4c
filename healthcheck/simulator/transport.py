"""The in-process front: `ports.Transport` on a simulated cluster, in virtual time.

Nothing runs: an answer is known when a command starts, and its pieces are handed out as the clock passes them. A
thousand jobs of 20 s cost a few comparisons a poll.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from datetime import datetime, timedelta

from healthcheck.model.command import Command, CommandResult, ExitKind
from healthcheck.model.host import Host
from healthcheck.model.message import say
from healthcheck.ports import Clock, NeverStarted, PushFile, PushResult, Reached, Running, Sink
from healthcheck.simulator.answers import answer
from healthcheck.simulator.cluster import SimCluster
from healthcheck.simulator.files import Disks
from healthcheck.simulator.reply import Reply

SSH_PORT = 22


class VirtualClock:
    """A clock that jumps instead of waiting. Starts at `start`, a real UTC time; safe to call from many threads.

    Threads that wait at the same time wait together, as they would in front of a real clock.
    """

    def __init__(self, start: datetime) -> None:
        self._start = start
        self._elapsed = 0.0
        self._lock = threading.Lock()

    def now(self) -> datetime:
        """Wall clock, UTC."""
        return self._start + timedelta(seconds=self._elapsed)

    def monotonic(self) -> float:
        """Seconds since the start."""
        return self._elapsed

    def sleep(self, seconds: float) -> None:
        """Jump ahead."""
        self.advance_to(self._elapsed + max(0.0, seconds))

    def advance_to(self, moment: float) -> None:
        """Jump to a moment of `monotonic`, never back."""
        with self._lock:
            self._elapsed = max(self._elapsed, moment)


class SimTransport:
    """Runs commands on a simulated cluster. Hosts are found by name."""

    def __init__(self, cluster: SimCluster, clock: Clock) -> None:
        self._cluster = cluster
        self._clock = clock
        self._disks = Disks()
        cluster.now = lambda: clock.now().timestamp()

    def connect(self, host: Host) -> Reached:
        """Every node answers but those planted as unreachable."""
        return Reached(self._refused(host))

    def start(self, host: Host, command: Command, sink: Sink) -> Running:
        """The answer is complete at once; it appears as time passes."""
        refused = self._refused(host)
        if refused is not None:
            return NeverStarted(refused)
        disk = self._disks.of(host.name)
        reply = answer(self._cluster, host, command.argv, disk.files)
        if reply.removes:
            disk.remove_tree(reply.removes)
        return SimRunning(reply, command, sink, self._clock)

    def push(self, host: Host, folder: str, files: Sequence[PushFile]) -> PushResult:
        """Files go to memory, below a cache folder that looks like a real one."""
        refused = self._refused(host)
        if refused is not None:
            return PushResult(None, reason=refused.reason)
        return self._disks.push(host.name, folder, files)

    def close(self) -> None:
        """There is nothing to close."""

    def _refused(self, host: Host) -> CommandResult | None:
        node = self._cluster.node(host.name)
        if node is None:
            reason = say("host.unresolvable", address=host.address, detail="no simulated node has this name")
        elif node.unreachable:
            reason = say("host.unreachable", port=host.port or SSH_PORT, detail="Connection refused (simulated)")
        else:
            return None
        return CommandResult(ExitKind.UNREACHABLE, None, 0.0, reason)


class SimRunning:
    """A command whose answer is known and appears piece by piece."""

    def __init__(self, reply: Reply, command: Command, sink: Sink, clock: Clock) -> None:
        self._reply = reply
        self._sink = sink
        self._clock = clock
        self._started = clock.monotonic()
        self._deadline_s = command.deadline_s
        self._next = 0
        self._stopped_at: float | None = None
        self._result: CommandResult | None = None
        # An idle poll costs one comparison with this.
        self._due = self._started

    def poll(self) -> CommandResult | None:
        """Hand out the pieces whose time has come."""
        now = self._clock.monotonic()
        if self._result is None and (now >= self._due or self._stopped_at is not None):
            self._move_on(now - self._started)
        return self._result

    def wait(self, timeout_s: float) -> CommandResult | None:
        """Let time pass until the end, at most `timeout_s`."""
        ends = min(self._reply.duration_s, self._deadline_s)
        left = self._started + ends - self._clock.monotonic()
        result = self.poll()
        if result is None:
            self._clock.sleep(max(0.0, min(left, timeout_s)))
            result = self.poll()
        return result

    def stop(self) -> None:
        """A simulated process ends at the first signal."""
        if self._result is None and self._stopped_at is None:
            self._stopped_at = self._clock.monotonic() - self._started

    def _move_on(self, elapsed: float) -> None:
        reply = self._reply
        until = min(elapsed, self._deadline_s, math.inf if self._stopped_at is None else self._stopped_at)
        while self._next < len(reply.pieces) and reply.pieces[self._next].at_s <= until:
            self._sink.stdout(reply.pieces[self._next].text.encode())
            self._next += 1
        if elapsed >= reply.duration_s and until >= reply.duration_s:
            if reply.stderr:
                self._sink.stderr(reply.stderr.encode())
            self._result = CommandResult(ExitKind.EXITED, reply.exit_code, reply.duration_s)
        elif self._stopped_at is not None:
            self._result = CommandResult(ExitKind.STOPPED, None, self._stopped_at, say("job.ended_early"))
        elif elapsed >= self._deadline_s:
            reason = say("job.timed_out", seconds=self._deadline_s)
            self._result = CommandResult(ExitKind.TIMED_OUT, None, self._deadline_s, reason)
        else:
            coming = reply.pieces[self._next].at_s if self._next < len(reply.pieces) else reply.duration_s
            self._due = self._started + min(coming, self._deadline_s)
