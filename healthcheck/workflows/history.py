"""What earlier runs say: the past of a cluster, and what its nodes read when they were healthy."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from msgspec import Struct

from healthcheck.model.history import PastJob, PastMeasure, PastRun
from healthcheck.model.message import Message
from healthcheck.parsing.run_history import instant
from healthcheck.ports import HistoryIndex

NEWEST = 12
_HEALTHY = "PASS"


def past_measures(
    index: HistoryIndex,
    hosts: Collection[str],
    *,
    platform: str,
    simulated: bool,
    newest: int = NEWEST,
    but: str = "",
) -> tuple[PastMeasure, ...]:
    """What every job of only these `hosts` read in the `newest` runs in which it was PASS, newest run first.

    Only runs of the same `platform` and as real or simulated as `simulated` says; never the run with the id `but`.
    """
    wanted = frozenset(hosts)
    seen: dict[tuple[str, str, tuple[str, ...], int], int] = {}
    found: list[PastMeasure] = []
    for run in reversed(index.past(wanted).runs):
        if run.platform != platform or run.simulated != simulated or run.run_id == but:
            continue
        for job in run.jobs:
            key = (job.stage, job.collective, job.hosts, job.n_ranks)
            if job.verdict == _HEALTHY and seen.get(key, 0) < newest and wanted.issuperset(job.hosts):
                seen[key] = seen.get(key, 0) + 1
                found += _measures(run, job)
    return tuple(found)


class Chosen(Struct, frozen=True):
    """The runs to tell of, oldest first, all real or all `simulated`; how many of the other sort were left out.

    `of_this_sort` is how many there are without a bound in time, `unreadable` and `notes` what is to be told, too.
    """

    runs: tuple[PastRun, ...]
    simulated: bool
    left_out: int
    of_this_sort: int
    unreadable: tuple[Message, ...] = ()
    notes: tuple[Message, ...] = ()


def choose_runs(index: HistoryIndex, simulated: bool, since: datetime | None) -> Chosen:
    """Real runs where there are any, or the simulated ones where `simulated` or nothing else is there; never both.

    A trend over machines and models of machines would be one of neither. `since` is in UTC.
    """
    past = index.past()
    real = [run for run in past.runs if not run.simulated]
    models = [run for run in past.runs if run.simulated]
    kept, left_out = (models, len(real)) if simulated or not real else (real, len(models))
    newer = kept if since is None else [run for run in kept if instant(run.started_at) >= since]
    return Chosen(tuple(newer), simulated or not real, left_out, len(kept), past.unreadable, past.notes)


def _measures(run: PastRun, job: PastJob) -> list[PastMeasure]:
    halves = (("out_of_place", job.out_of_place), ("in_place", job.in_place))
    return [
        PastMeasure(run.run_id, job.stage, job.collective, job.hosts, job.n_ranks, size, placement, value)
        for placement, values in halves
        for size, value in zip(job.sizes, values, strict=True)
        if value is not None
    ]
