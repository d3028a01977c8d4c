"""The bandwidth table: per stage who was measured, how fast, against which limit, and which rule fired."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from healthcheck.evaluation.limits import BUSBW_CHECK
from healthcheck.model.finding import CheckResult
from healthcheck.model.measurement import CollectiveRow, Placement
from healthcheck.model.message import Message, say
from healthcheck.model.platform import Limit
from healthcheck.model.playbook import STAGES
from healthcheck.model.record import JobRecord, RunRecord
from healthcheck.model.verdict import Verdict
from healthcheck.reporting.figures import gbyte_s, not_measured, number, one_line, percent, size
from healthcheck.reporting.measured import Measured, measured, middle, together
from healthcheck.reporting.names import folded
from healthcheck.reporting.other_rules import other_rules

SHOWN_ROWS = 12
"""Jobs that are not PASS shown one by one in a stage. Of more, those that read alike share a row, and who stands out
keeps its own; what is left even then is folded into one line."""
_ALIKE, _FEWEST_ALIKE = 0.05, 4
"""Nodes share a row within this part of the median of those that one rule found; fewer nodes do not."""


class SizeRow(Struct, frozen=True):
    """One size of the sweep, as text."""

    size: str
    time: str
    algbw: str
    out_of_place: str
    in_place: str
    wrong: str


class BandwidthRow(Struct, frozen=True):
    """One line of the table, as text. `judged` is the slower placement, which decides.

    `why` and `others`, what the other rules said, are empty for what is PASS. `percent` is None without number or
    limit. `value` is that of the slower placement in GB/s and `of` its stage and collective, for what is drawn of it.
    """

    stage: str
    who: str
    hosts: str
    collective: str
    at: str
    judged: str
    out_of_place: str
    in_place: str
    algbw: str
    of_peak: str
    percent: int | None
    verdict: Verdict
    is_median: bool
    who_is_name: bool
    rule: str
    why: str
    others: str
    sizes: tuple[SizeRow, ...]
    value: float | None
    of: tuple[str, str]
    peak: str

    @property
    def bar_percent(self) -> int:
        """Length of the bar; the number beside it is never clamped."""
        return max(0, min(100, self.percent or 0))


class Bandwidth(Struct, frozen=True):
    """All rows in the order of the run, what had to be folded away, and of each stage and collective how many nodes
    are not PASS alone."""

    rows: tuple[BandwidthRow, ...]
    rest: tuple[Message, ...]
    below: tuple[tuple[tuple[str, str], int], ...] = ()


def stage_text(stage: str) -> str:
    """The name of a stage in the words of the report; a stage this version does not know names itself."""
    return str(say(f"report.stage.{stage}")) if stage in STAGES else one_line(stage)


def bandwidth(record: RunRecord) -> Bandwidth:
    """The table. Jobs on one node that PASS share one line, their median; every other job has its own."""
    groups: dict[tuple[str, str], list[JobRecord]] = {}
    for job in together(record):
        groups.setdefault((job.stage, job.collective), []).append(job)
    checks = _Checks(record)
    rows: list[BandwidthRow] = []
    rest: list[Message] = []
    below: list[tuple[tuple[str, str], int]] = []
    for (stage, _), jobs in groups.items():
        alike = [job for job in jobs if len(job.hosts) == 1 and job.verdict is Verdict.PASS]
        alone = jobs
        if len(alike) > 1:
            rows.append(_median_row(record, alike, checks))
            alone = [job for job in jobs if len(job.hosts) != 1 or job.verdict is not Verdict.PASS]
        if stage == "single_node":
            alone = sorted(alone, key=lambda job: -job.judged_as)
        bad = [job for job in alone if len(job.hosts) == 1 and job.verdict is not Verdict.PASS]
        below.append(((stage, jobs[0].collective), len(bad)))
        if len(bad) > SHOWN_ROWS:
            for many in _alike(bad, checks):
                rows.append(_median_row(record, many, checks))
                folded_up = set(map(id, many))
                alone = [job for job in alone if id(job) not in folded_up]
        rows.extend(_job_row(record, job, jobs[0], checks) for job in alone[:SHOWN_ROWS])
        left = alone[SHOWN_ROWS:]
        if left:
            hosts = folded(host for job in left for host in job.hosts)
            rest.append(say("report.bandwidth.rest", n=len(left), hosts=hosts))
    return Bandwidth(tuple(rows), tuple(rest), tuple(below))


def limit_of(record: RunRecord, stage: str, collective: str) -> Limit | None:
    """The recorded limit of a stage and collective; None when none was recorded."""
    fits = [limit for limit in record.provenance.limits if limit.stage == stage]
    return next((limit for limit in fits if limit.collective in (collective, "")), None)


class _Checks:
    """Which results judged which job."""

    def __init__(self, record: RunRecord) -> None:
        self._of: dict[str, list[CheckResult]] = {}
        for check in record.checks:
            self._of.setdefault(check.job, []).append(check)

    def deciding(self, job: JobRecord) -> CheckResult | None:
        """The result that made the verdict of the job; of several, the one on bus bandwidth, which has the number."""
        alike = [check for check in self._of.get(job.id, ()) if check.verdict is job.verdict]
        return next((check for check in alike if check.check == BUSBW_CHECK), alike[0] if alike else None)


def _job_row(record: RunRecord, job: JobRecord, first: JobRecord, checks: _Checks) -> BandwidthRow:
    found = measured(job)
    check = checks.deciding(job)
    why = check.message if check is not None else job.reasons[0] if job.reasons else None
    return _row(
        record,
        job,
        found,
        who=who_ran(job, first, len(record.hosts)),
        hosts=folded(job.hosts),
        check=check,
        why="" if job.verdict is Verdict.PASS or why is None else one_line(str(why)),
        others="" if job.verdict is Verdict.PASS else other_rules(check),
        sizes=_sizes([job]),
    )


def _alike(jobs: Sequence[JobRecord], checks: _Checks) -> list[list[JobRecord]]:
    """Jobs that one rule found and that read about the same, in the order of the first of each."""
    found: dict[object, list[JobRecord]] = {}
    for job in jobs:
        check, value = checks.deciding(job), measured(job).slower
        found.setdefault((job.verdict, check and check.rule, value is None), []).append(job)
    alike: list[list[JobRecord]] = []
    for members in found.values():
        values = [measured(job).slower for job in members]
        level = middle(values)
        near = [
            job
            for job, value in zip(members, values, strict=True)
            if value is None or level is None or abs(value - level) <= _ALIKE * level
        ]
        if len(near) >= _FEWEST_ALIKE:
            alike.append(near)
    return alike


def _median_row(record: RunRecord, jobs: Sequence[JobRecord], checks: _Checks) -> BandwidthRow:
    each = [measured(job) for job in jobs]
    found = Measured(
        out_of_place=middle(one.out_of_place for one in each),
        in_place=middle(one.in_place for one in each),
        algbw=middle(one.algbw for one in each),
        smallest=min(one.smallest for one in each),
        largest=max(one.largest for one in each),
    )
    hosts, check = folded(host for job in jobs for host in job.hosts), checks.deciding(jobs[0])
    passed = jobs[0].verdict is Verdict.PASS
    # Nobody who is not PASS is only counted: a folded row names its nodes.
    return _row(
        record,
        jobs[0],
        found,
        who=say("report.who.median", n=len(jobs)) if passed else say("report.who.alike", hosts=hosts, n=len(jobs)),
        hosts=hosts,
        check=check,
        # The number of one of them beside the median of all would read as a contradiction.
        why="" if passed or check is None or found.slower is not None else one_line(str(check.message)),
        others="",
        sizes=_sizes(jobs),
        is_median=True,
    )


def _row(
    record: RunRecord,
    job: JobRecord,
    found: Measured,
    *,
    who: Message,
    hosts: str,
    check: CheckResult | None,
    why: str,
    others: str,
    sizes: tuple[SizeRow, ...],
    is_median: bool = False,
) -> BandwidthRow:
    limit = limit_of(record, job.stage, job.collective)
    value = found.slower
    share = None if limit is None or value is None else percent(value, limit)
    if value is None:
        of_peak = not_measured()
    elif limit is None:
        of_peak = str(say("report.bandwidth.no_peak"))
    else:
        of_peak = str(say("report.bandwidth.of_peak", percent=share or 0, peak=number(limit.peak)))
    no_rule = "" if why else str(say("report.bandwidth.no_rule"))
    return BandwidthRow(
        stage=stage_text(job.stage),
        who=str(who),
        hosts=hosts,
        collective=one_line(job.collective),
        at=_span(found),
        judged=gbyte_s(value),
        out_of_place=gbyte_s(found.out_of_place),
        in_place=gbyte_s(found.in_place),
        algbw=gbyte_s(found.algbw),
        of_peak=of_peak,
        percent=share,
        verdict=job.judged_as,
        is_median=is_median,
        who_is_name=not is_median and len(job.hosts) == 1,
        rule=one_line(check.rule) if check is not None else no_rule,
        why=why,
        others=others,
        sizes=sizes,
        value=value,
        of=(job.stage, job.collective),
        peak=number(limit.peak) if limit is not None else "",
    )


def _span(found: Measured) -> str:
    """The sizes behind the numbers."""
    if not found.largest:
        return not_measured()
    if found.smallest == found.largest:
        return size(found.largest)
    return str(say("report.bandwidth.span", smallest=size(found.smallest), largest=size(found.largest)))


def who_ran(job: JobRecord, first: JobRecord, named: int) -> Message:
    """Who took part in a job: how many of `named` nodes, or who of those of the `first` job of its stage did not.

    The same nodes in another rank order say so: that is what made the difference.
    """
    missing = [host for host in first.hosts if host not in set(job.hosts)]
    if len(job.hosts) > 1 and missing and len(missing) < len(job.hosts) and job.stage == first.stage:
        return say("report.who.without", n=len(job.hosts), names=folded(missing))
    if job.hosts != first.hosts and sorted(job.hosts) == sorted(first.hosts):
        return say("report.who.reordered", n=len(job.hosts))
    if 1 < len(job.hosts) < named:
        return say("report.who.some", n=len(job.hosts), named=named)
    return say("report.who.nodes", n=len(job.hosts))


def _sizes(jobs: Sequence[JobRecord]) -> tuple[SizeRow, ...]:
    """Each size once; over several jobs the median, and the sum of the wrong values."""
    by_size: dict[int, list[CollectiveRow]] = {}
    for job in jobs:
        for row in job.rows:
            by_size.setdefault(row.size_bytes, []).append(row)
    return tuple(_size_row(size_bytes, rows) for size_bytes, rows in sorted(by_size.items()))


def _size_row(size_bytes: int, rows: Sequence[CollectiveRow]) -> SizeRow:
    outer = [row.out_of_place for row in rows if row.out_of_place is not None]
    inner = [row.in_place for row in rows if row.in_place is not None]
    time_us = middle(half.time_us for half in outer)
    return SizeRow(
        size=size(size_bytes),
        time=not_measured() if time_us is None else str(say("report.unit.us", value=f"{time_us:.0f}")),
        algbw=gbyte_s(middle(half.algbw_gbyte_s for half in outer)),
        out_of_place=gbyte_s(middle(half.busbw_gbyte_s for half in outer)),
        in_place=gbyte_s(middle(half.busbw_gbyte_s for half in inner)),
        wrong=_wrong([half for row in rows for _, half in row.placements]),
    )


def _wrong(halves: Sequence[Placement]) -> str:
    counts = [half.wrong for half in halves if half.wrong is not None]
    return f"{sum(counts):.0f}" if counts else str(say("report.wrong.unchecked"))
