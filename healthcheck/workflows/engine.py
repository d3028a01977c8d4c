"""What every workflow works with: the ports that were picked, and the wish to stop."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from datetime import datetime

from healthcheck.ports import Clock, Observer, RunStore, Transport

# Bounds connecting and probing. More does not go faster (benchmarks/fanout.py), it only costs memory.
WIDTH = 64


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
