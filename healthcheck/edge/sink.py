"""Raw output of a job, to disk as it arrives: bounded, and watched so that a hang is noticed."""

from __future__ import annotations

import re
from io import FileIO
from pathlib import Path

from healthcheck.edge.places import owners_only
from healthcheck.errors import StoreError
from healthcheck.ports import Clock

DEFAULT_BOUND_BYTES = 200 << 20
# Above the bound the chatter goes and the measurement stays: NCCL INFO lines are dropped, everything else is kept
# up to this many times the bound, where only table, footer and failure lines still get through.
HARD_FACTOR = 2

_CHATTER = re.compile(rb"NCCL (INFO|TRACE)")
_ALWAYS = re.compile(
    rb"^\s*(?:\[[^\]]*\][^:]*:\s?)?(?:#|\d+\s+\d+\s+\w+\s)"
    rb"|NCCL WARN|[Ff]ailure|FAILED|[Ee]rror|exited on signal|Out of bounds"
)
_TABLE = re.compile(rb"#\s+size\s+count\s+type")
_FOOTER = re.compile(rb"#?\s*Avg bus bandwidth\s*:")


class _BoundedFile:
    """One stream: whole lines in, dropped or kept by what they are once the bound is reached."""

    def __init__(self, path: Path, bound: int) -> None:
        # Unbuffered: what has arrived is on disk even if we are killed the next moment.
        self._path = path
        self._file = FileIO(path, "wb", opener=owners_only)
        self._bound = bound
        self._rest = b""
        self._size = 0
        self.cut = 0

    def write(self, data: bytes) -> None:
        if self._size + len(data) <= self._bound and not self._rest:
            self._keep(data)
            return
        lines = (self._rest + data).split(b"\n")
        self._rest = lines.pop()
        if len(self._rest) > 1 << 20:  # a line without an end must not fill the memory
            lines.append(self._rest)
            self._rest = b""
        for line in lines:
            self._keep_line(line + b"\n")

    def _keep_line(self, line: bytes) -> None:
        within = self._size + len(line) <= self._bound
        hard = self._size + len(line) > self._bound * HARD_FACTOR
        if within or _ALWAYS.search(line) or not (hard or _CHATTER.search(line)):
            self._keep(line)
        else:
            self.cut += len(line)

    def _keep(self, data: bytes) -> None:
        self._size += len(data)
        rest = memoryview(data)
        try:
            # A disk that is nearly full takes a part, says so only in the number it returns, and fails at the next.
            while rest:
                rest = rest[self._file.write(rest) or 0 :]
        except OSError as error:
            raise StoreError(f"cannot write {self._path}: {error.strerror}") from error

    def close(self) -> None:
        rest, self._rest = self._rest, b""
        with self._file:
            if rest:
                self._keep_line(rest)


class FileJobSink:
    """ports.JobSink: `stdout` and `stderr` files of one job. Flushed as it grows, so that a kill loses nothing."""

    def __init__(self, folder: Path, clock: Clock, bound_bytes: int = DEFAULT_BOUND_BYTES) -> None:
        self._clock = clock
        self._out = _BoundedFile(folder / "stdout", bound_bytes)
        self._err = _BoundedFile(folder / "stderr", bound_bytes)
        self._tail = b""
        self._grew_at = clock.monotonic()
        self._table_at: float | None = None
        self._footer_at: float | None = None

    def stdout(self, data: bytes) -> None:
        """Bytes of standard output; notices head and footer of nccl-tests, also when they arrive in pieces."""
        self._grew_at = self._clock.monotonic()
        self._out.write(data)
        window = self._tail + data
        if self._table_at is None and _TABLE.search(window):
            self._table_at = self._grew_at
        if self._footer_at is None and _FOOTER.search(window):
            self._footer_at = self._grew_at
        self._tail = window[-64:]

    def stderr(self, data: bytes) -> None:
        """Bytes of standard error."""
        self._grew_at = self._clock.monotonic()
        self._err.write(data)

    @property
    def grew_at(self) -> float:
        """Monotonic time of the last byte."""
        return self._grew_at

    @property
    def table_at(self) -> float | None:
        """Monotonic time at which the column titles passed by; None until then."""
        return self._table_at

    @property
    def footer_at(self) -> float | None:
        """Monotonic time at which the footer passed by; None until then."""
        return self._footer_at

    @property
    def bytes_cut(self) -> int:
        """Bytes left out because of the bound."""
        return self._out.cut + self._err.cut

    def close(self) -> None:
        """Flush to disk. Where that fails for one stream, the other is whole and both are closed all the same."""
        try:
            self._out.close()
        finally:
            self._err.close()
