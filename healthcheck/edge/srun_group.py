"""One running srun with a task on each of some nodes: its streams moved without a thread of its own."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from threading import Condition, Lock, RLock
from typing import BinaryIO

from msgspec import Struct

from healthcheck.launchers.step import CONTROL, FILE, Frame, Frames, Member, blamed_nodes, step_argv
from healthcheck.model.slurm import SlurmJob

_PIECE = 65536
_PIECES_A_MOVE = 16
_MOST_COMPLAINTS = 1 << 20


class Payload(Struct, frozen=True):
    """What a step brings to its nodes: a local file, or bytes."""

    source: str = ""
    content: bytes = b""

    def open(self) -> BinaryIO:
        """To read it from."""
        return Path(self.source).open("rb") if self.source else BytesIO(self.content)


class Seen:
    """What one task has said so far."""

    def __init__(self) -> None:
        self.up = False
        self.code: int | None = None
        self._open = {"o", "e"}
        self._pieces: list[tuple[str, bytes]] = []
        self._lock = Lock()

    @property
    def whole(self) -> bool:
        """Whether both streams have come to their end."""
        return not self._open

    def add(self, frame: Frame) -> None:
        """Take one more frame."""
        if frame.kind == "up":
            self.up = True
        elif frame.kind == "rc":
            self.code = frame.code
        elif frame.data is None:
            self._open.discard(frame.kind)
        else:
            with self._lock:
                self._pieces.append((frame.kind, frame.data))

    def take(self) -> list[tuple[str, bytes]]:
        """(stream, bytes) that came since the last time."""
        with self._lock:
            pieces, self._pieces = self._pieces, []
        return pieces


class StepGroup:
    """One step. Whoever waits for one of its commands moves the output of all; safe to use from many threads."""

    def __init__(
        self,
        members: Sequence[Member],
        nonce: str,
        payload: Payload | None,
        slurm: SlurmJob,
        program: Sequence[str],
    ) -> None:
        self.complaints = ""
        self.exit_code: int | None = None
        self.over = False
        self._members = tuple(members)
        self._seen = [Seen() for _ in members]
        self._left: set[int] = set()
        self._frames = Frames(nonce)
        self._moving = Lock()
        self._writing = RLock()
        self._news = Condition()
        self._claimed = False
        self._outputs: dict[int, bool] = {}
        self._source: BinaryIO | None = None
        self._unsent = b""
        self._process: subprocess.Popen[bytes] | None = None
        argv = (*program, *step_argv(members, nonce, CONTROL if payload is None else FILE, slurm))
        try:
            if payload is not None:
                self._source = payload.open()
            self._process = subprocess.Popen(  # noqa: S603 - `step_argv` made it
                argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,  # Ctrl-C is for us
            )
        except OSError as error:
            self._stop_sending()
            self.complaints, self.over = f"srun: error: {error.strerror or error}", True
            return
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self._outputs = {self._process.stdout.fileno(): True, self._process.stderr.fileno(): False}
        for descriptor in (*self._outputs, self._process.stdin.fileno()):
            os.set_blocking(descriptor, False)

    def seen(self, index: int) -> Seen:
        """What a member has said."""
        return self._seen[index]

    def is_unknown(self, index: int) -> bool:
        """Whether nothing is known of a member: its task did not begin, and srun does not blame its node."""
        return not self._seen[index].up and self._members[index].node not in blamed_nodes(self.complaints)

    def claim_rest(self) -> bool:
        """True for the first who asks: one has to see to those that never began."""
        with self._news:
            first, self._claimed = not self._claimed, True
        return first

    def move(self) -> None:
        """Move what has arrived, and what is to be sent; never blocks."""
        if self._moving.acquire(blocking=False):
            try:
                self._move()
            finally:
                self._moving.release()

    def rest(self, nap_s: float) -> None:
        """Sleep until something comes, for at most `nap_s` seconds."""
        if not self._moving.acquire(blocking=False):
            with self._news:
                self._news.wait(nap_s)
            return
        try:
            waiter = select.poll()
            for descriptor in self._outputs:
                waiter.register(descriptor, select.POLLIN)
            with self._writing:
                if self._sending:
                    waiter.register(self._stdin, select.POLLOUT)
            if self._outputs:
                waiter.poll(nap_s * 1000)
            elif self._process is not None and not self.over:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self._process.wait(nap_s)
            self._move()
        finally:
            self._moving.release()
        with self._news:
            self._news.notify_all()

    def stop(self, index: int) -> None:
        """End one command; the last one left ends the step."""
        others = set(range(len(self._members))) - self._left - {index}
        with self._writing:
            if not others:
                self.end()
            elif not self._closed and self._source is None:
                with contextlib.suppress(OSError):
                    os.write(self._stdin, f"{index}\n".encode())

    def leave(self, index: int) -> None:
        """The result of a member is known."""
        self._left.add(index)
        if len(self._left) == len(self._members):
            self.end()
        elif self._seen[index].code is None:
            self.stop(index)

    def end(self) -> None:
        """End of stdin: every wrapper ends its command, a file that is being brought is not kept."""
        with self._writing:
            self._stop_sending()
            if self._process is not None and self._process.stdin is not None:
                with contextlib.suppress(OSError):
                    self._process.stdin.close()

    def abandon(self) -> None:
        """The end, also of an srun for which no command is left to wait: it may wait for a node that is gone."""
        self.end()
        if len(self._left) == len(self._members) and self._process is not None and self._process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGTERM)

    @property
    def _closed(self) -> bool:
        return self._process is None or self._process.stdin is None or self._process.stdin.closed

    @property
    def _stdin(self) -> int:
        assert self._process is not None
        assert self._process.stdin is not None
        return self._process.stdin.fileno()

    @property
    def _sending(self) -> bool:
        return self._source is not None and not self._closed

    def _move(self) -> None:
        with self._writing:
            self._send()
        for descriptor, is_stdout in list(self._outputs.items()):
            for _ in range(_PIECES_A_MOVE):
                try:
                    data = os.read(descriptor, _PIECE)
                except BlockingIOError:
                    break
                if not data:
                    del self._outputs[descriptor]
                    break
                self._take(data, is_stdout=is_stdout)
        if self._process is not None and not self.over:
            code = self._process.poll()
            if code is not None and not self._outputs:
                self.exit_code = code
                self._release(self._process)
                self.over = True

    def _take(self, data: bytes, *, is_stdout: bool) -> None:
        if not is_stdout:
            self.complaints = (self.complaints + data.decode("utf-8", "replace"))[:_MOST_COMPLAINTS]
            return
        for frame in self._frames.read(data):
            if frame.member < len(self._seen):
                self._seen[frame.member].add(frame)

    def _send(self) -> None:
        """As much of the file as the pipe takes; behind it, the end."""
        while self._sending:
            assert self._source is not None
            try:
                self._unsent = self._unsent or self._source.read(_PIECE)
                if not self._unsent:
                    self.end()
                    return
                self._unsent = self._unsent[os.write(self._stdin, self._unsent) :]
            except BlockingIOError:
                return
            except OSError:  # srun has gone, or the file cannot be read: what came short is not kept there
                self.end()
                return

    def _stop_sending(self) -> None:
        source, self._source = self._source, None
        if source is not None:
            source.close()

    def _release(self, process: subprocess.Popen[bytes]) -> None:
        self._stop_sending()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()


def source_of(content: object) -> str:
    """The path of an open file, empty for what is in memory."""
    name = getattr(content, "name", "")
    return name if isinstance(name, str) and Path(name).is_file() else ""
