"""What the jobs of a search are: evidence, which nobody judges one by one (docs/adr/0010)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct

from healthcheck.model.search import FullLine, Kind, PairLine, SearchRecord

SEARCH_STAGE = "localise"
SLOW_SHARE = 0.5
"""Of the smallest loss that was looked for: from there on a reading is told as slow."""
_RAIL = re.compile(r"localise-rail(\d+)-")


class Part(StrEnum):
    """What a job of a search is there for."""

    PAIR_RAILS = "pair_rails"  # two nodes, rail by rail
    PAIR_NODES = "pair_nodes"  # two whole nodes
    RAIL = "rail"  # one GPU of each of two nodes
    HALF = "half"  # half of the nodes
    ALONE = "alone"  # a node by itself that an error named
    GPUS = "gpus"  # GPUs inside one node
    OTHER = "other"


class Speed(StrEnum):
    """What the search made of one job."""

    STUCK = "stuck"  # did not finish
    SLOW = "slow"
    FAST = "fast"
    BESIDE = "beside"  # measured, and held against nothing by itself: for comparison


class SearchJob(Struct, frozen=True):
    """One job of a search that is judged by nobody."""

    part: Part
    speed: Speed


class SearchJobs:
    """Looks up jobs of a search by their id; `search` None where it did not come to its end."""

    def __init__(self, search: SearchRecord | None) -> None:
        rounds = search.rounds if search is not None else ()
        self._bar = search.unseen * SLOW_SHARE if search is not None else 0.0
        self._pairs = {pair.job: (one.kind, pair) for one in rounds for pair in one.pairs}
        self._fulls = {full.job: full for one in rounds for full in one.fulls}
        self._slow_rails: Mapping[str, tuple[int, ...]] = (
            {rails.host: rails.slow for rails in search.rails} if search is not None else {}
        )

    def about(self, job_id: str, hosts: tuple[str, ...]) -> SearchJob:
        """The job of that id over these hosts."""
        if job_id in self._pairs:
            kind, pair = self._pairs[job_id]
            return SearchJob(Part.PAIR_RAILS if kind is Kind.RAILS else Part.PAIR_NODES, pair_speed(pair, self._bar))
        if job_id in self._fulls:
            return SearchJob(Part.HALF, full_speed(self._fulls[job_id], self._bar))
        rail = _RAIL.match(job_id)
        if rail is not None and hosts and hosts[0] in self._slow_rails:
            slow = int(rail[1]) in self._slow_rails[hosts[0]]
            return SearchJob(Part.RAIL, Speed.SLOW if slow else Speed.FAST)
        return SearchJob(Part.RAIL if rail is not None else _part(job_id), Speed.BESIDE)


def pair_speed(pair: PairLine, bar: float) -> Speed:
    """Slow from the loss `bar` on, a fraction of what its peers read."""
    if pair.measured_gbyte_s is None:
        return Speed.STUCK
    return Speed.SLOW if pair.loss > bar else Speed.FAST


def full_speed(full: FullLine, bar: float) -> Speed:
    """Slow from the loss `bar` on, a fraction of what so many nodes are expected to read."""
    if full.measured_gbyte_s is None:
        return Speed.STUCK
    return Speed.SLOW if 1 - full.measured_gbyte_s / full.expected_gbyte_s > bar else Speed.FAST


def _part(job_id: str) -> Part:
    for part in (Part.ALONE, Part.GPUS):
        if job_id.startswith(f"{SEARCH_STAGE}-{part}-"):
            return part
    return Part.OTHER
