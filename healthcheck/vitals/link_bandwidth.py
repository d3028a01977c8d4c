"""The bandwidth that a check-up measured and that gradients can count on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from healthcheck.model.collective import Collective
from healthcheck.model.digest import DigestJob, RunDigest
from healthcheck.model.judged import counted_rows, judged_gbyte_s
from healthcheck.model.measurement import CollectiveRow
from healthcheck.model.message import Message, say
from healthcheck.model.verdict import Verdict
from healthcheck.model.vitals_mfu import MeasuredBusbw

_BETWEEN, _INSIDE = "multi_node", "single_node"


def measured_busbw(run: RunDigest, gpus: int | None = None) -> MeasuredBusbw | Message:
    """The all_reduce between nodes of a run: of its last set of nodes, which is the proven one after a search.

    Inside a node where the `gpus` of the training fit into one: the slowest of the nodes that it found healthy (of all,
    where none is). A message that says why where the run has no such number.
    """
    inside = _groups(run, _INSIDE)
    most = max((jobs[0].n_ranks for jobs in inside), default=0)
    if gpus is not None and gpus <= most:
        healthy = [jobs for jobs in inside if set(jobs[0].hosts) <= set(run.healthy_hosts)]
        found = min((_measured(run, jobs) for jobs in healthy or inside), key=lambda one: one.gbyte_s, default=None)
        return found or say("budget.unmeasured.none", run_id=run.run_id)
    between = [jobs for jobs in _groups(run, _BETWEEN) if len(jobs[0].hosts) > 1]
    if between:
        return _measured(run, between[-1])
    return say("budget.unmeasured.between" if inside else "budget.unmeasured.none", run_id=run.run_id)


def _groups(run: RunDigest, stage: str) -> list[list[DigestJob]]:
    """The repeats of each job that measured a bus bandwidth, in the order of the record."""
    found: dict[tuple[str, ...], list[DigestJob]] = {}
    for job in run.jobs:
        if job.stage == stage and job.collective == Collective.ALL_REDUCE:
            found.setdefault(job.hosts, []).append(job)
    return [jobs for jobs in found.values() if judged_gbyte_s(_rows(jobs)) is not None]


def _measured(run: RunDigest, jobs: Sequence[DigestJob]) -> MeasuredBusbw:
    rows = _rows(jobs)
    value = judged_gbyte_s(rows)
    assert value is not None  # `_groups` looked
    sizes = [row.size_bytes for row in counted_rows(rows)]
    return MeasuredBusbw(
        gbyte_s=value,
        run_id=run.run_id,
        job=jobs[0].id,
        stage=jobs[0].stage,
        hosts=len(jobs[0].hosts),
        ranks=jobs[0].n_ranks,
        sizes_bytes=(min(sizes), max(sizes)),
        verdict=_worst(job.verdict for job in jobs),
        simulated=run.simulated,
    )


def _rows(jobs: Iterable[DigestJob]) -> tuple[CollectiveRow, ...]:
    return tuple(row for job in jobs for row in job.rows)


def _worst(names: Iterable[str | None]) -> str | None:
    """None where one of them was judged by nobody, or by a word that this version does not know."""
    found = list(names)
    if any(name not in Verdict.__members__ for name in found):
        return None
    return max(Verdict[name] for name in found if name is not None).name
