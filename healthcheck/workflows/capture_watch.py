"""The training command of one host while it runs: its output kept, and what the profiler says in it heard."""

from __future__ import annotations

from collections import deque

from healthcheck.model.command import Command, CommandResult
from healthcheck.model.host import Host
from healthcheck.parsing.nsys_output import NsysEvent, NsysTrouble, read_line
from healthcheck.ports import Clock, JobSink, Running, Transport

_LAST_LINES = 20
_LONGEST_LINE = 4096


class Listening:
    """ports.Sink in front of the raw files of a job. Times are of the monotonic clock, None until it happened."""

    def __init__(self, raw: JobSink, clock: Clock) -> None:
        self._raw = raw
        self._clock = clock
        self._rest = {"stdout": b"", "stderr": b""}
        self._last: deque[str] = deque(maxlen=_LAST_LINES)
        self._at: dict[NsysEvent, float] = {}
        self.troubles: dict[NsysTrouble, str] = {}

    def stdout(self, data: bytes) -> None:
        """Bytes of standard output."""
        self._raw.stdout(data)
        self._hear("stdout", data)

    def stderr(self, data: bytes) -> None:
        """Bytes of standard error."""
        self._raw.stderr(data)
        self._hear("stderr", data)

    def at(self, event: NsysEvent) -> float | None:
        """When it was first said."""
        return self._at.get(event)

    @property
    def last_line(self) -> str:
        """The last line that looks like the reason of an end, else the last one that is not of the profiler."""
        lines = [line for line in self._last if read_line(line) is None]
        wrong = [line for line in lines if "error" in line.lower() or "exception" in line.lower()]
        return next(reversed(wrong or lines), "")

    def close(self) -> None:
        """What was said without an end of line was said, too."""
        for stream in self._rest:
            self._hear(stream, b"\n")
        self._raw.close()

    def _hear(self, stream: str, data: bytes) -> None:
        *lines, rest = (self._rest[stream] + data).split(b"\n")
        self._rest[stream] = rest[-_LONGEST_LINE:]
        for raw in lines:
            # A bar of progress overwrites itself: its last state is the line.
            line = raw[-_LONGEST_LINE:].rpartition(b"\r")[2].decode(errors="replace").strip()
            if not line:
                continue
            self._last.append(line)
            heard = read_line(line)
            if heard is not None and heard.event is not None:
                self._at.setdefault(heard.event, self._clock.monotonic())
            if heard is not None and heard.trouble is not None:
                self.troubles.setdefault(heard.trouble, heard.text)


class StartedTraining:
    """A started command, polled by one loop. `stopped`: it was ended by us, and `hung`: because the profiler hung."""

    def __init__(self, host: Host, command: Command, transport: Transport, said: Listening, *, profiled: bool) -> None:
        self.host = host
        self.said = said
        self.profiled = profiled
        self.result: CommandResult | None = None
        self.stopped = False
        self.hung = False
        self._running: Running = transport.start(host, command, said)

    def poll(self) -> CommandResult | None:
        """Move what it said; its result once it has ended."""
        if self.result is None:
            self.result = self._running.poll()
            if self.result is not None:
                self.said.close()
        return self.result

    def stop(self) -> None:
        """End it: INT, TERM, KILL."""
        if self.result is None and not self.stopped:
            self.stopped = True
            self._running.stop()
