"""What the jobs of a search should read: known-good numbers of the machine type, else its lower limit."""

from __future__ import annotations

from msgspec import Struct

from healthcheck.evaluation.known_good import reference
from healthcheck.evaluation.peaks import peak
from healthcheck.model.collective import Collective
from healthcheck.model.platform import Platform, Thresholds

TOLERATED = 0.05
"""A search takes a job for fast down to this below the expectation, so a lower limit is expected so much higher."""


class Expectation(Struct, frozen=True):
    """Bus bandwidths in GB/s at the largest size of a job. Where the platform knows what healthy machines measure
    between nodes (all_reduce), that; else what a job needs at least to be healthy."""

    platform: Platform
    collective: Collective
    thresholds: Thresholds

    def joint(self, nodes: int) -> float:
        """Of a job over so many whole nodes."""
        bound = peak(self.platform, nodes, self.collective)
        assert bound is not None  # without a bound no job is slow
        known = reference(self.platform, nodes, self.collective)
        if known is not None:
            return min(known.value, bound.busbw_gbyte_s)
        return bound.busbw_gbyte_s * self.thresholds.healthy / (1 - TOLERATED)

    def pair(self, rails: int) -> float:
        """Of two nodes, whole (`rails` 1) or of one of their rails."""
        return self.joint(2) / rails
