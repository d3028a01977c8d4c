"""Fractions of peak as they are asked for on the command line."""

from __future__ import annotations

from msgspec import Struct

from healthcheck.model.platform import Thresholds


class AskedThresholds(Struct, frozen=True):
    """`--healthy` and `--broken`; None keeps what holds without it."""

    healthy: float | None = None
    broken: float | None = None

    def over(self, others: Thresholds) -> Thresholds:
        """What holds where `others` would hold without these."""
        healthy = others.healthy if self.healthy is None else self.healthy
        broken = others.broken if self.broken is None else self.broken
        return Thresholds(healthy=healthy, broken=broken)
