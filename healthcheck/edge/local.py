"""Commands on this machine, through the same wrapper as everywhere else."""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
from collections.abc import Sequence
from pathlib import Path
from threading import Lock

from healthcheck.edge.ending import Ending
from healthcheck.edge.push import ContentHashes, LocalFiles, push_files
from healthcheck.launchers.wrapper import wrap
from healthcheck.model.command import Command, CommandResult
from healthcheck.model.host import Host
from healthcheck.ports import Clock, PushFile, PushResult, Reached, Running, Sink

_PIECE = 65536
_PIECES_A_POLL = 16


class LocalTransport:
    """Runs everything here, whatever the host is called: for `--launch-from local` and for tests."""

    def __init__(self, clock: Clock, home: Path | None = None) -> None:
        self._clock = clock
        self._home = home
        self._hashes = ContentHashes()
        self._running: list[LocalRunning] = []
        self._lock = Lock()

    def connect(self, host: Host) -> Reached:
        """This machine always answers."""
        return Reached()

    def start(self, host: Host, command: Command, sink: Sink) -> Running:
        """Start the wrapper in a session of its own, so that Ctrl-C reaches us and not it."""
        running = LocalRunning(command, sink, self._clock)
        with self._lock:
            self._running = [other for other in self._running if not other.ended]
            self._running.append(running)
        return running

    def push(self, host: Host, folder: str, files: Sequence[PushFile]) -> PushResult:
        """Copy files below `~/.cache/healthcheck` of this machine."""
        return push_files(LocalFiles(self._home), folder, files, self._hashes)

    def close(self) -> None:
        """End of stdin for everything still running: the wrappers end their sessions."""
        with self._lock:
            for running in self._running:
                running.stop()


class LocalRunning:
    """One wrapper and the three pipes to it."""

    def __init__(self, command: Command, sink: Sink, clock: Clock) -> None:
        self._ending = Ending(command, clock)
        self._sink = sink
        self._result: CommandResult | None = None
        self._process = subprocess.Popen(  # noqa: S602 - the line is made by `wrap`, every word of it quoted
            wrap(command),
            shell=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
        )
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self._outputs = {self._process.stdout.fileno(): sink.stdout, self._process.stderr.fileno(): sink.stderr}
        for descriptor in self._outputs:
            os.set_blocking(descriptor, False)

    @property
    def ended(self) -> bool:
        """Whether the result is known."""
        return self._result is not None

    def poll(self) -> CommandResult | None:
        """Move output into the sink; the result once it is known."""
        if self._result is None:
            self._move_output()
            self._result = self._judge()
            if self._result is not None:
                self._release()
        return self._result

    def wait(self, timeout_s: float) -> CommandResult | None:
        """Sleep on the pipes until something comes, for at most `timeout_s`."""
        end = self._ending.seconds + timeout_s
        while self.poll() is None and (left := end - self._ending.seconds) > 0:
            nap_s = min(left, self._ending.patience_s(), 0.5)
            if self._outputs:
                waiter = select.poll()
                for descriptor in self._outputs:
                    waiter.register(descriptor, select.POLLIN)
                waiter.poll(nap_s * 1000)
            else:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self._process.wait(nap_s)
        return self._result

    def stop(self) -> None:
        """Close the wrapper's stdin, which is its signal to end the command."""
        if self._result is None and self._ending.ask_stop():
            assert self._process.stdin is not None
            self._process.stdin.close()

    def _move_output(self) -> None:
        for descriptor, take in list(self._outputs.items()):
            for _ in range(_PIECES_A_POLL):
                try:
                    data = os.read(descriptor, _PIECE)
                except BlockingIOError:
                    break
                if not data:
                    del self._outputs[descriptor]
                    break
                take(data)

    def _judge(self) -> CommandResult | None:
        code = self._process.poll()
        if code is None:
            return self._ending.overdue()
        if self._outputs and not self._ending.lingers():
            return None
        return self._ending.killed() if code < 0 else self._ending.exited(code)

    def _release(self) -> None:
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()
        self._outputs = {}
