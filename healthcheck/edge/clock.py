"""The only place that reads a clock."""

from __future__ import annotations

import time
from datetime import UTC, datetime


class SystemClock:
    """ports.Clock on the clocks of this machine."""

    def now(self) -> datetime:
        """Wall clock, UTC."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Seconds, for durations."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Wait."""
        time.sleep(seconds)
