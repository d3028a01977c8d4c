"""What the record of a check-up says of the links of a training, and how far it can speak for it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from msgspec import Struct

from healthcheck.diagnosis.joint.thresholds import level_of
from healthcheck.diagnosis.joint.together import models_of
from healthcheck.diagnosis.joint.training_signs import Number, Thresholds, TrainingDocuments, said, seen
from healthcheck.evaluation.limits import BUSBW_CHECK, DEFAULT_THRESHOLDS
from healthcheck.model.finding import CheckResult
from healthcheck.model.joint import Level, Seen, Sign
from healthcheck.model.judged import counted_rows
from healthcheck.model.measurement import CollectiveRow
from healthcheck.model.message import Message, say
from healthcheck.model.record import JobRecord, RunRecord
from healthcheck.model.units import binary
from healthcheck.model.verdict import Verdict, worst
from healthcheck.model.vitals_trace import CollectiveUse

_LEVELS = {Verdict.FAIL: Level.LOW, Verdict.DEGRADED: Level.MIDDLE, Verdict.PASS: Level.HIGH}
_ORDER = {Level.LOW: 0, Level.MIDDLE: 1, Level.HIGH: 2, Level.UNKNOWN: 3}
_DAY_S = 86400.0
_SAME_SIZE = 2.0
"""Collectives are compared with the measured size that is within this factor of theirs."""


class Links(Struct, frozen=True):
    """A record beside a training. `hosts`: the nodes it ran on, None where nobody named them."""

    record: RunRecord | None
    hosts: tuple[str, ...] | None
    training: TrainingDocuments

    @property
    def speaks(self) -> bool:
        """Whether the record can be of these machines at all: the same GPU, and one of the nodes that were named."""
        if self.record is None:
            return False
        if self.hosts is not None and not set(self.hosts) & {host.name for host in self.record.hosts}:
            return False
        return _same_gpu(self.record, self.training.printed_gpus) is not False

    @property
    def verdict(self) -> Verdict | None:
        """Of the nodes of the training where they were named, else of the run; None where it cannot be of them."""
        if self.record is None or not self.speaks:
            return None
        if self.hosts is None:
            return self.record.verdict
        told = {host.name: host.verdict for host in self.record.hosts}
        each = [told.get(name, Verdict.INCONCLUSIVE) for name in self.hosts]
        each = [Verdict.INCONCLUSIVE if verdict is Verdict.SKIPPED else verdict for verdict in each]
        return worst([*each, *(job.judged_as for job in _closest(self.record, self.hosts))])


def link_signs(links: Links, thresholds: Thresholds) -> tuple[Seen, ...]:
    """Verdict and bandwidth of the links, what the collectives of the training get, and how far the record speaks."""
    return (
        _verdict(links),
        _busbw(links),
        seen(Sign.EFFECTIVE, *_effective(links), thresholds),
        _kind(links.record),
        _gpu(links),
        seen(Sign.RECORD_AGE, *_age(links), thresholds),
        seen(Sign.RECORD_COVER, *_cover(links), thresholds),
    )


def _verdict(links: Links) -> Seen:
    verdict = links.verdict
    if verdict is None:
        return said(Sign.LINK_VERDICT, Level.UNKNOWN, _why_silent(links))
    who = say("joint.basis.run") if links.hosts is None else say("joint.basis.named", n=len(links.hosts))
    return said(Sign.LINK_VERDICT, _LEVELS.get(verdict, Level.UNKNOWN), who, verdict.name)


def _why_silent(links: Links) -> Message:
    if links.record is None:
        return say("joint.basis.no_record")
    if _same_gpu(links.record, links.training.printed_gpus) is False:
        return say("joint.basis.other_gpu")
    return say("joint.basis.other_nodes")


def _busbw(links: Links) -> Seen:
    """Of the jobs that stand for the training the one that is worst beside its own limit; of those alike the one over
    most nodes."""
    found = [] if links.record is None or not links.speaks else list(_judged(links.record, links))
    if not found:
        why = _why_silent(links) if not links.speaks else say("joint.basis.no_busbw")
        return said(Sign.BUSBW, Level.UNKNOWN, why)
    return min(found, key=lambda one: (_ORDER[one[1].level], -one[0], one[1].value or 0.0))[1]


def _judged(record: RunRecord, links: Links) -> Iterable[tuple[int, Seen]]:
    """(nodes of the job, its share of peak)."""
    jobs = {job.id: job for job in _jobs_of(record, links)}
    for check in record.checks:
        job = jobs.get(check.job)
        if check.check == BUSBW_CHECK and job is not None:
            told = _of_peak(check)
            if told is not None:
                yield len(job.hosts), _share(record, job, *told)


def _of_peak(check: CheckResult) -> tuple[float, float] | None:
    """(measured, peak) in GB/s: of the rule about the peak where another one decided; None where one is missing."""
    rule = next((rule for rule in check.rules if rule.rule == "peak"), None)
    observed, peak = (check.observed, check.expected) if rule is None else (rule.observed, rule.expected)
    return (observed, peak) if observed is not None and peak else None


def _share(record: RunRecord, job: JobRecord, gbyte_s: float, peak: float) -> Seen:
    limits = [limit for limit in record.provenance.limits if limit.check == BUSBW_CHECK and limit.stage == job.stage]
    limit = next((one for one in limits if one.collective in (job.collective, "")), None)
    low = DEFAULT_THRESHOLDS.broken if limit is None else limit.broken
    high = DEFAULT_THRESHOLDS.healthy if limit is None else limit.healthy
    basis = say(
        "joint.basis.busbw",
        stage=job.stage,
        collective=job.collective,
        n=len(job.hosts),
        gbyte_s=round(gbyte_s, 1),
        peak=round(peak, 1),
    )
    share = gbyte_s / peak
    return Seen(Sign.BUSBW, share, level_of(share, low, high), low, high, basis)


def _jobs_of(record: RunRecord, links: Links) -> list[JobRecord]:
    """The jobs that stand for the training: inside one node where it fits into one, else between nodes, too."""
    judged = [job for job in record.jobs if job.verdict is not None]
    alone = [job for job in judged if len(job.hosts) == 1]
    together = [job for job in judged if len(job.hosts) > 1]
    if links.hosts is not None:
        named = set(links.hosts)
        return [job for job in alone if job.hosts[0] in named] + list(_closest(record, links.hosts))
    gpus = links.training.gpus
    fits = gpus is not None and any(job.n_ranks >= gpus for job in alone)
    return alone if fits else alone + together


def _closest(record: RunRecord, hosts: Sequence[str]) -> tuple[JobRecord, ...]:
    """The joint job that holds most of these nodes and fewest others, the last of them; none for one node alone."""
    named = set(hosts)
    together = [job for job in record.jobs if job.verdict is not None and len(job.hosts) > 1]
    together = [job for job in together if len(named) > 1 and named & set(job.hosts)]
    if not together:
        return ()
    return (max(reversed(together), key=lambda job: (len(named & set(job.hosts)), -len(set(job.hosts) - named))),)


def _effective(links: Links) -> Number:
    """Of the collectives over all ranks the one that takes most time and that the check-up measured over as many and of
    that size: the bandwidth it got in the training beside the one it could.

    Of a smaller group nobody knows whether it lies inside a node or across all of them.
    """
    trace, gpus = links.training.trace, links.training.gpus
    if trace is None:
        return None, say("joint.basis.no_trace")
    if links.record is None or not links.speaks:
        return None, _why_silent(links)
    known = [use for use in trace.collectives if use.busbw_gbyte_s and use.size_bytes]
    whole = [use for use in known if use.group_size and use.group_size == gpus]
    for use in sorted(whole, key=lambda use: -use.total_s):
        measured = _measured_alike(links.record, use)
        if measured is not None and use.busbw_gbyte_s is not None:
            basis = say(
                "joint.basis.effective",
                collective=use.name,
                size=binary(use.size_bytes or 0),
                ranks=use.group_size or 0,
                got=round(use.busbw_gbyte_s, 1),
                could=round(measured, 1),
            )
            if use.ranks < (use.group_size or 0):
                basis = say("joint.basis.effective_part", basis=basis, seen=use.ranks, ranks=use.group_size or 0)
            return use.busbw_gbyte_s / measured, basis
    return None, say("joint.basis.none_alike" if known else "joint.basis.no_sizes")


def _measured_alike(record: RunRecord, use: CollectiveUse) -> float | None:
    """GB/s of the nearest size that was measured of that collective over that many ranks."""
    rows: list[CollectiveRow] = [
        row
        for job in record.jobs
        if job.verdict is not None and job.collective == use.name and job.n_ranks == use.group_size
        for row in job.rows
    ]
    size = use.size_bytes or 0
    near = [row for row in rows if row.size_bytes and 1 / _SAME_SIZE <= size / row.size_bytes <= _SAME_SIZE]
    if not near and rows and size >= max(row.size_bytes for row in rows):
        near = list(counted_rows(rows))
    values = [half.busbw_gbyte_s for row in near for _, half in row.placements if half.busbw_gbyte_s]
    return max(values, default=None)


def _kind(record: RunRecord | None) -> Seen:
    if record is None:
        return said(Sign.RECORD_KIND, Level.UNKNOWN, say("joint.basis.no_record"))
    name = say("joint.basis.record", run_id=record.run_id)
    if record.simulated:
        return said(Sign.RECORD_KIND, Level.LOW, name, "simulated")
    return said(Sign.RECORD_KIND, Level.HIGH if record.state == "complete" else Level.MIDDLE, name, record.state)


def _same_gpu(record: RunRecord, printed: Sequence[str]) -> bool | None:
    """False for another model of GPU; None where one of them does not say which it is, or only its model
    (`A100`); where log and trace name it, the one that does is enough."""
    platform = record.platform
    if platform is None or not printed:
        return None
    meant = [platform.gpu.means(name) for name in printed]
    ours, theirs = models_of(platform.gpu.names), models_of(printed)
    if ours and theirs - ours:
        return all(meant)
    return True if all(meant) or (ours and any(meant)) else None


def _gpu(links: Links) -> Seen:
    record, printed = links.record, links.training.printed_gpus
    same = None if record is None else _same_gpu(record, printed)
    if record is None or record.platform is None or same is None:
        return said(Sign.RECORD_GPU, Level.UNKNOWN, _why_no_gpu(record, printed))
    basis = say("joint.basis.gpu", trained=", ".join(printed), measured=record.platform.gpu.names[0])
    level, shown = (Level.HIGH, "same") if same else (Level.LOW, "another")
    return said(Sign.RECORD_GPU, level, basis, shown)


def _why_no_gpu(record: RunRecord | None, printed: Sequence[str]) -> Message:
    if record is None:
        return say("joint.basis.no_record")
    if record.platform is None:
        return say("joint.basis.no_platform")
    if not printed:
        return say("joint.basis.gpu_unprinted")
    return say("joint.basis.gpu_model_only", trained=", ".join(printed), measured=record.platform.gpu.names[0])


def _age(links: Links) -> Number:
    """Days between the record and the training; 0 where they overlap."""
    record, window = links.record, links.training.window
    if record is None:
        return None, say("joint.basis.no_record")
    begun, ended = _seconds(record.started_at), _seconds(record.finished_at or record.started_at)
    if window is None or begun is None or ended is None:
        return None, say("joint.basis.no_clock")
    if ended < window[0]:
        return (window[0] - ended) / _DAY_S, say("joint.basis.before", at=record.started_at)
    if begun > window[1]:
        return (begun - window[1]) / _DAY_S, say("joint.basis.after", at=record.started_at)
    return 0.0, say("joint.basis.during", at=record.started_at)


def _seconds(iso: str) -> float | None:
    try:
        at = datetime.fromisoformat(iso)
    except ValueError:
        return None
    return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()


def _cover(links: Links) -> Number:
    record = links.record
    if record is None:
        return None, say("joint.basis.no_record")
    measured = [job for job in record.jobs if job.rows]
    if links.hosts is not None:
        known = {name for job in measured for name in job.hosts}
        count = len(known & set(links.hosts))
        return count / len(links.hosts), say("joint.basis.cover_hosts", n=count, of=len(links.hosts))
    gpus = links.training.gpus
    if gpus is None:
        return None, say("joint.basis.gpus_unknown")
    most = max((job.n_ranks for job in measured), default=0)
    return min(1.0, most / gpus), say("joint.basis.cover_gpus", n=most, of=gpus)
