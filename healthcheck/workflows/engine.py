"""What every workflow works with: the ports that were picked, and the wish to stop."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from datetime import datetime

from healthcheck.ports import Clock, Observer, RunStore, Transport

# Bounds connecting and probing. More does not go faster (benchmarks/fanout.py), it only costs memory.
WIDTH = 64
# One run keeps this much of NCCL logs, and no node more than its share of what is left of it.
NCCL_LOG_BYTES = 200 << 20
SHARES = 64


def stamp(at: datetime) -> str:
    """A time (UTC) as every record writes it: `2026-03-14T02:15:03Z`."""
    return f"{at:%Y-%m-%dT%H:%M:%SZ}"


class Cancel:
    """The wish of the user to stop, set from a signal handler and looked at between steps."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self.signum: int | None = None

    def set(self, signum: int) -> None:
        """Ask for the end; the first signal decides the exit code."""
        self.signum = self.signum or signum
        self._event.set()

    @property
    def wanted(self) -> bool:
        """True once somebody asked."""
        return self._event.is_set()


class Budget:
    """Bytes that a run may still keep of one kind. Safe to use from many threads.

    Whoever asks gets at most a share of what is left, so that the first hundred sick nodes do not leave nothing for
    the one that comes last.
    """

    def __init__(self, left: int) -> None:
        self._left = left
        self._lock = threading.Lock()

    def take(self, most: int) -> int:
        """Set aside up to `most` bytes; how many there are."""
        with self._lock:
            granted = min(most, self._left // SHARES)
            self._left -= granted
            return granted

    def give_back(self, unused: int) -> None:
        """Return what was not needed."""
        with self._lock:
            self._left += unused


@dataclass(frozen=True, slots=True)
class Engine:
    """The outside world of one run. `local` is this machine, for `--launch-from local`.

    `parallel` bounds the jobs of a stage that run at once; a running job holds a channel, not a worker.
    """

    transport: Transport
    local: Transport
    clock: Clock
    observer: Observer
    store: RunStore
    cancel: Cancel = field(default_factory=Cancel)
    width: int = WIDTH
    parallel: int = 4096
    nccl_logs: Budget = field(default_factory=lambda: Budget(NCCL_LOG_BYTES))
