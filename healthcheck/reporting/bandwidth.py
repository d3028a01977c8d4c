"""The bandwidth table: per stage who was measured, how fast, against which limit, and which rule fired."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import median

from msgspec import Struct

from healthcheck.model.finding import CheckResult
from healthcheck.model.measurement import CollectiveRow, Placement
from healthcheck.model.message import Message, say
from healthcheck.model.platform import Limit
from healthcheck.model.record import JobRecord, RunRecord
from healthcheck.model.verdict import Verdict
from healthcheck.reporting.figures import gbyte_s, not_measured, number, one_line, percent, size
from healthcheck.reporting.names import folded

BUSBW_CHECK = "bandwidth.busbw"
SHOWN_ROWS = 12
"""Jobs that are not PASS shown one by one in a stage; the rest is folded into one line."""


class SizeRow(Struct, frozen=True):
    """One size of the sweep, as text."""

    size: str
    time: str
    algbw: str
    out_of_place: str
    in_place: str
    wrong: str


class BandwidthRow(Struct, frozen=True):
    """One line of the table, as text. `percent` is None without number or limit; it only draws the bar."""

    stage: str
    who: str
    hosts: str
    collective: str
    at: str
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
    sizes: tuple[SizeRow, ...]

    @property
    def bar_percent(self) -> int:
        """Length of the bar; the number beside it is never clamped."""
        return max(0, min(100, self.percent or 0))


class Bandwidth(Struct, frozen=True):
    """All rows in the order of the run, and what had to be folded away."""

    rows: tuple[BandwidthRow, ...]
    rest: tuple[Message, ...]


def stage_text(stage: str) -> str:
    """The name of a stage in the words of the report; a stage this version does not know names itself."""
    known = ("probe", "single_node", "multi_node", "localise")
    return str(say(f"report.stage.{stage}")) if stage in known else one_line(stage)


def judged(job: JobRecord) -> CollectiveRow | None:
    """The row that stands for a job: its largest size. None when it measured nothing."""
    return max(job.rows, key=lambda row: row.size_bytes, default=None)


def busbw(row: CollectiveRow | None, in_place: bool = False) -> float | None:
    """Bus bandwidth in GB/s of one half of a row; None when it was not printed."""
    half = None if row is None else (row.in_place if in_place else row.out_of_place)
    return None if half is None else half.busbw_gbyte_s


def bandwidth(record: RunRecord) -> Bandwidth:
    """The table. Jobs on one node that PASS share one line, their median; every other job has its own."""
    groups: dict[tuple[str, str], list[JobRecord]] = {}
    for job in record.jobs:
        groups.setdefault((job.stage, job.collective), []).append(job)
    checks = _Checks(record)
    rows: list[BandwidthRow] = []
    rest: list[Message] = []
    for (stage, _), jobs in groups.items():
        alike = [job for job in jobs if len(job.hosts) == 1 and job.verdict is Verdict.PASS]
        alone = jobs
        if len(alike) > 1:
            rows.append(_median_row(record, alike, checks))
            alone = [job for job in jobs if len(job.hosts) != 1 or job.verdict is not Verdict.PASS]
        if stage == "single_node":
            alone = sorted(alone, key=lambda job: -job.verdict)
        rows.extend(_job_row(record, job, jobs[0], checks) for job in alone[:SHOWN_ROWS])
        left = alone[SHOWN_ROWS:]
        if left:
            hosts = folded(host for job in left for host in job.hosts)
            rest.append(plural("report.bandwidth.rest", len(left), hosts=hosts))
    return Bandwidth(tuple(rows), tuple(rest))


def plural(code: str, n: int, **args: str | int) -> Message:
    """`code.one` or `code.other`: a plural is a choice of the catalogue, never a glued letter."""
    return say(f"{code}.one" if n == 1 else f"{code}.other", n=n, **args)


def limit_of(record: RunRecord, stage: str, collective: str) -> Limit | None:
    """The recorded limit of a stage and collective; None when none was recorded."""
    fits = [limit for limit in record.provenance.limits if limit.stage == stage]
    return next((limit for limit in fits if limit.collective in (collective, "")), None)


class _Checks:
    """Which results belong to which job: those of its stage about its node, or about what lies between its nodes."""

    def __init__(self, record: RunRecord) -> None:
        self._of: dict[tuple[str, str | None], list[CheckResult]] = {}
        for check in record.checks:
            self._of.setdefault((check.stage, check.component.host), []).append(check)

    def deciding(self, job: JobRecord) -> CheckResult | None:
        """The result that made the verdict of the job; of several alike, the one nearest to its own number."""
        about = self._of.get((job.stage, job.hosts[0] if len(job.hosts) == 1 else None), [])
        alike = [check for check in about if check.verdict is job.verdict] or [
            check for check in about if check.verdict < job.verdict
        ]
        numbers = [check for check in alike if check.check == BUSBW_CHECK] if job.verdict is Verdict.PASS else []
        value = busbw(judged(job)) or 0.0
        return min(numbers or alike, key=lambda check: abs((check.observed or 0.0) - value), default=None)

    def observed(self, job: JobRecord) -> float | None:
        """The bus bandwidth that was judged, in GB/s; None when the verdict came from something else."""
        check = self.deciding(job)
        return check.observed if check is not None and check.check == BUSBW_CHECK else None


def _job_row(record: RunRecord, job: JobRecord, first: JobRecord, checks: _Checks) -> BandwidthRow:
    row = judged(job)
    check = checks.deciding(job)
    why = job.reasons[0] if job.reasons else (check.message if check is not None else None)
    return _row(
        record,
        job,
        who=_who(job, first),
        hosts=folded(job.hosts),
        check=check,
        counted=checks.observed(job),
        at=size(row.size_bytes) if row is not None else not_measured(),
        out_of_place=busbw(row),
        in_place=busbw(row, in_place=True),
        algbw=row.out_of_place.algbw_gbyte_s if row is not None and row.out_of_place is not None else None,
        why="" if job.verdict is Verdict.PASS or why is None else one_line(str(why)),
        sizes=_sizes([job]),
    )


def _median_row(record: RunRecord, jobs: Sequence[JobRecord], checks: _Checks) -> BandwidthRow:
    judged_rows = [row for row in map(judged, jobs) if row is not None]
    halves = [row.out_of_place for row in judged_rows if row.out_of_place is not None]
    nodes = dict.fromkeys(host for job in jobs for host in job.hosts)
    who = say("report.who.median", n=len(jobs))
    if len(nodes) != len(jobs):
        who = say("report.who.runs_median", n=len(jobs), nodes=len(nodes))
    return _row(
        record,
        jobs[0],
        who=who,
        hosts=folded(nodes),
        check=checks.deciding(jobs[0]),
        counted=_median(checks.observed(job) for job in jobs),
        at=size(max(row.size_bytes for row in judged_rows)) if judged_rows else not_measured(),
        out_of_place=_median(busbw(row) for row in judged_rows),
        in_place=_median(busbw(row, in_place=True) for row in judged_rows),
        algbw=_median(half.algbw_gbyte_s for half in halves),
        why="",
        sizes=_sizes(jobs),
        is_median=True,
    )


def _row(
    record: RunRecord,
    job: JobRecord,
    *,
    who: Message,
    hosts: str,
    check: CheckResult | None,
    counted: float | None,
    at: str,
    out_of_place: float | None,
    in_place: float | None,
    algbw: float | None,
    why: str,
    sizes: tuple[SizeRow, ...],
    is_median: bool = False,
) -> BandwidthRow:
    limit = limit_of(record, job.stage, job.collective)
    value = out_of_place if counted is None else counted
    share = None if limit is None or value is None else percent(value, limit)
    if value is None:
        of_peak = not_measured()
    elif limit is None:
        of_peak = str(say("report.bandwidth.no_peak"))
    else:
        of_peak = str(say("report.bandwidth.of_peak", percent=share or 0, peak=number(limit.peak)))
    return BandwidthRow(
        stage=stage_text(job.stage),
        who=str(who),
        hosts=hosts,
        collective=one_line(job.collective),
        at=at,
        out_of_place=gbyte_s(out_of_place),
        in_place=gbyte_s(in_place),
        algbw=gbyte_s(algbw),
        of_peak=of_peak,
        percent=share,
        verdict=job.verdict,
        is_median=is_median,
        who_is_name=not is_median and len(job.hosts) == 1,
        rule=one_line(check.rule) if check is not None else ("" if why else str(say("report.bandwidth.no_rule"))),
        why=why,
        sizes=sizes,
    )


def _who(job: JobRecord, first: JobRecord) -> Message:
    missing = [host for host in first.hosts if host not in set(job.hosts)]
    if len(job.hosts) > 1 and missing and len(missing) < len(job.hosts) and job.stage == first.stage:
        return say("report.who.without", n=len(job.hosts), names=folded(missing))
    return plural("report.who.nodes", len(job.hosts))


def _median(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) if known else None


def _sizes(jobs: Sequence[JobRecord]) -> tuple[SizeRow, ...]:
    """Each size once; over several jobs the median, and the sum of the wrong values."""
    by_size: dict[int, list[CollectiveRow]] = {}
    for job in jobs:
        for row in job.rows:
            by_size.setdefault(row.size_bytes, []).append(row)
    return tuple(_size_row(size_bytes, rows) for size_bytes, rows in sorted(by_size.items()))


def _size_row(size_bytes: int, rows: Sequence[CollectiveRow]) -> SizeRow:
    outer = [row.out_of_place for row in rows if row.out_of_place is not None]
    time_us = _median(half.time_us for half in outer)
    return SizeRow(
        size=size(size_bytes),
        time=not_measured() if time_us is None else str(say("report.unit.us", value=f"{time_us:.0f}")),
        algbw=gbyte_s(_median(half.algbw_gbyte_s for half in outer)),
        out_of_place=gbyte_s(_median(busbw(row) for row in rows)),
        in_place=gbyte_s(_median(busbw(row, in_place=True) for row in rows)),
        wrong=_wrong([half for row in rows for _, half in row.placements]),
    )


def _wrong(halves: Sequence[Placement]) -> str:
    counts = [half.wrong for half in halves if half.wrong is not None]
    return f"{sum(counts):.0f}" if counts else str(say("report.wrong.unchecked"))
