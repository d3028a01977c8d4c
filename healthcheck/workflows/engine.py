"""What every workflow works with: the ports that were picked, and the wish to stop."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from healthcheck.model.message import Message
from healthcheck.model.stopping import stopped_by
from healthcheck.ports import Clock, HostLocks, Memory, Observer, Passes, RunStore, Transport
from healthcheck.workflows.pace import Pace

# Bounds connecting and probing. More does not go faster (benchmarks/fanout.py), it only costs memory.
WIDTH = 64
# One run keeps this much of NCCL logs, and no visit to a node more than its share of what is left of it.
NCCL_LOG_BYTES = 200 << 20
# As many shares are left for the jobs that follow.
SPARE_SHARES = 64


def stamp(at: datetime) -> str:
    """A time (UTC) as every record writes it: `2026-03-14T02:15:03Z`."""
    return f"{at:%Y-%m-%dT%H:%M:%SZ}"


class Cancel:
    """The wish of a person or a machine to stop, set from a signal handler and looked at between steps."""

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

    @property
    def why(self) -> Message:
        """Who asked."""
        return stopped_by(self.signum)


class Budget:
    """Bytes that a run may still keep of one kind. Safe to use from many threads.

    Whoever asks gets at most a share of what is left, and says among how many it is to be shared, so that the first
    hundred sick nodes do not leave nothing for the one that comes last.
    """

    def __init__(self, left: int) -> None:
        self._left = left
        self._hosts: set[str] = set()
        self._waiting: set[str] = set()
        self._lock = threading.Lock()

    def expect(self, hosts: Iterable[str]) -> None:
        """These hosts of the run will be visited, after a job of their own or of several."""
        with self._lock:
            new = set(hosts) - self._hosts
            self._hosts |= new
            self._waiting |= new

    def sharers(self, host: str) -> int:
        """Who shares with a host whose job was its own: those not yet visited, and all once more after joint jobs."""
        with self._lock:
            waiting = len(self._waiting)
            self._waiting.discard(host)
            return len(self._hosts) + waiting

    def take(self, most: int, sharers: int) -> int:
        """Set aside up to `most` bytes, at most what is left among `sharers` and those after them; how many it is."""
        with self._lock:
            granted = min(most, self._left // (sharers + SPARE_SHARES))
            self._left -= granted
            return granted

    def give_back(self, unused: int) -> None:
        """Return what was not needed."""
        with self._lock:
            self._left += unused


@dataclass(frozen=True, slots=True)
class Engine:
    """The outside world of one run. `local` is this machine, for `--launch-from local`.

    `parallel` bounds the jobs of a stage that run at once; a running job holds a channel, not a worker. `memory` is
    what is known of earlier runs, None where they are not to be asked. A gate has its time in `pace`, and `passes` of
    earlier runs that it may reuse. `locks` keep two runs off one host, None where nothing is loaded.
    """

    transport: Transport
    local: Transport
    clock: Clock
    observer: Observer
    store: RunStore
    cancel: Cancel = field(default_factory=Cancel)
    width: int = WIDTH
    parallel: int = 4096
    memory: Memory | None = None
    pace: Pace | None = None
    passes: Passes | None = None
    locks: HostLocks | None = None
    nccl_logs: Budget = field(default_factory=lambda: Budget(NCCL_LOG_BYTES))
