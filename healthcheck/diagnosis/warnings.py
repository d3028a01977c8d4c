"""The WARN lines of a job, over all its ranks: which came first, where, and what it means.

When one rank fails, all the others say so too. What only follows (a closed connection, a flushed transfer) is never
the answer as long as anything else was written, and what good runs write too never is. Of the rest the earliest line
counts whose cause breaks a job, else the earliest one that slows it, else one that nobody knows: that names a node only
where other nodes do not say the same. The clocks of two nodes need not agree: hosts whose first lines lie within
`CLOCKS_AGREE_S` are all named, and none of them is more than suspected.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime

from msgspec import Struct

from healthcheck.diagnosis.cause import Cause, Severity
from healthcheck.diagnosis.causes import BY_CODE, UNKNOWN_LINE, WARN, cause_of_line
from healthcheck.model.command import CollectiveJob
from healthcheck.model.component import FABRIC, Component, hca, node
from healthcheck.model.finding import CheckResult
from healthcheck.model.measurement import Failure
from healthcheck.model.message import Arg, Message, say
from healthcheck.model.nccl import NcclRankLog, NcclWarning
from healthcheck.model.reading import Evidence, noted
from healthcheck.model.verdict import Verdict
from healthcheck.parsing.nccl_remarks import is_remark

CHECK = "nccl.warning"
CLOCKS_AGREE_S = 2.0
"""Times are printed in whole seconds, and a node kept by NTP is well within one."""
MOST_RESULTS = 3
NOT_ALONE = frozenset({"nccl.warning.together", "nccl.warning.undated"})
"""Messages that say the order of the hosts is not certain."""

_QUOTED_CHARS = 300
_NUMBERS = re.compile(r"\b(?:0x)?[0-9a-f]*\d[0-9a-f]*")
_DEVICE = re.compile(r"(?:\bhca |NET/IB ?: |\b(?:on dev|device|HCA) )(?P<device>[A-Za-z][\w-]*\d\w*)(?::\d+)?(?![\w.])")


class _Line(Struct, frozen=True):
    """A WARN line that may be what came first. `at` in seconds by the clock of its node, None where none is printed."""

    cause: Cause
    host: str
    rank: int | None
    warning: NcclWarning
    at: float | None

    @property
    def component(self) -> Component:
        """The card that the line names, else the node."""
        named = _DEVICE.search(self.warning.text)
        return hca(self.host, named["device"]) if named else node(self.host)


def warning_checks(
    job: CollectiveJob,
    verdict: Verdict,
    logs: Sequence[NcclRankLog],
    failures: Sequence[Failure] = (),
    offsets_s: Mapping[str, float] | None = None,
) -> tuple[CheckResult, ...]:
    """Up to 3 results of a job that is not well, the likeliest first; none for a good job, whatever was written.

    `verdict` is that of the job, `failures` what its output says. `host` of a log is the name in the hostfile; only
    hosts of the job count. `offsets_s`: how far the clock of a host is ahead of ours, where it is known.
    """
    if verdict in (Verdict.PASS, Verdict.SKIPPED):
        return ()
    lines = list(_lines(job, logs, offsets_s or {}))
    known = [line for line in lines if line.cause is not _UNKNOWN]
    fatal = [line for line in known if line.cause.severity is Severity.FATAL]
    unknown = _not_common(job, logs, lines) if verdict is Verdict.FAIL else []
    firsts = _first_of_each_host(fatal or known or unknown)
    if not firsts:
        return tuple(_printed(job, verdict, failures))
    earliest = min((line.at for line in firsts if line.at is not None), default=None)
    suspects = [line for line in firsts if earliest is None or line.at is None or line.at - earliest <= CLOCKS_AGREE_S]
    followers = sum(bool(log.warnings) for log in logs) - len(suspects)
    shown = suspects[:MOST_RESULTS]
    return tuple(
        _result(job, verdict, line.cause, line.component, _message(line, suspects, followers), _quote(line))
        for line in shown
    )


_UNKNOWN = BY_CODE[UNKNOWN_LINE]


def _lines(job: CollectiveJob, logs: Iterable[NcclRankLog], offsets_s: Mapping[str, float]) -> Iterator[_Line]:
    """Every WARN line that is neither a mere consequence nor a remark; `_UNKNOWN` where the catalogue has no cause."""
    of_job = frozenset(job.hosts)
    for log in logs:
        host = log.host
        if host not in of_job:
            continue
        for warning in log.warnings:
            text = f"{warning.source_file or ''} {warning.text}"
            if is_remark(text):
                continue
            cause = cause_of_line(text) or _UNKNOWN
            if not (warning.secondary or cause.secondary or cause.severity is Severity.INFO):
                rank = warning.rank if warning.rank is not None else log.rank
                yield _Line(cause, host, rank, warning, _seconds(warning.at, offsets_s.get(host, 0.0)))


def _not_common(job: CollectiveJob, logs: Sequence[NcclRankLog], lines: Sequence[_Line]) -> list[_Line]:
    """Those that not every host with a log wrote, whatever numbers and hosts stand in them; of one host alone, all."""
    writers = {log.host for log in logs} & set(job.hosts)
    hosts: dict[str, set[str]] = {}
    for line in lines:
        hosts.setdefault(_alike(line, job), set()).add(line.host)
    return [line for line in lines if len(writers) < 2 or hosts[_alike(line, job)] < writers]


def _alike(line: _Line, job: CollectiveJob) -> str:
    text = line.warning.text.replace(line.host, "")
    return _NUMBERS.sub("#", " ".join(word for word in text.split() if word not in job.hosts))


def _first_of_each_host(lines: Sequence[_Line]) -> list[_Line]:
    """The earliest line of each host, the earliest host first; hosts without times last, as they came."""
    first: dict[str, _Line] = {}
    for line in lines:
        known = first.get(line.host)
        if known is None or _when(line) < _when(known):
            first[line.host] = line
    return sorted(first.values(), key=_when)


def _when(line: _Line) -> float:
    return float("inf") if line.at is None else line.at


def _seconds(text: str | None, offset_s: float) -> float | None:
    """Seconds since 1970 of a printed time, by our clock; None for none and for one that cannot be read."""
    try:
        return datetime.fromisoformat(text or "").replace(tzinfo=UTC).timestamp() - offset_s
    except ValueError:
        return None


def _message(line: _Line, suspects: Sequence[_Line], followers: int) -> Message:
    rank = "unknown" if line.rank is None else str(line.rank)
    text = line.warning.text[:_QUOTED_CHARS]
    others = ", ".join(other.host for other in suspects if other.host != line.host)
    if not others:
        at = line.warning.at or "time not printed"
        return say("nccl.warning.first", host=line.host, rank=rank, at=at, followers=followers, line=text)
    if line.at is None:
        return say("nccl.warning.undated", host=line.host, rank=rank, others=others, followers=followers, line=text)
    return say(
        "nccl.warning.together",
        host=line.host,
        rank=rank,
        at=line.warning.at or "",
        others=others,
        tolerance=CLOCKS_AGREE_S,
        followers=followers,
        line=text,
    )


def _quote(line: _Line) -> Evidence:
    rank: Arg = say("evidence.rank_unknown") if line.rank is None else line.rank
    place = say("evidence.nccl_log_of", host=line.host, rank=rank)
    if line.warning.at:
        place = say("text.comma", first=place, other=line.warning.at)
    return noted(place, line.warning.text[:_QUOTED_CHARS])


def _printed(job: CollectiveJob, verdict: Verdict, failures: Sequence[Failure]) -> Iterator[CheckResult]:
    """Where no log says anything: the first line of the output that shows a cause of the catalogue."""
    for failure in failures:
        cause = None if is_remark(failure.message) else cause_of_line(failure.message)
        if failure.secondary or cause is None or cause.secondary or cause.severity is Severity.INFO:
            continue
        host = failure.host if failure.host in job.hosts else job.hosts[0] if len(job.hosts) == 1 else None
        where = say("evidence.output") if failure.line is None else say("evidence.output_line", line=failure.line)
        place = say("evidence.on_host", host=host, place=where) if host else where
        quote = noted(place, failure.message[:_QUOTED_CHARS])
        message = say("nccl.warning.printed", line=failure.message[:_QUOTED_CHARS])
        yield _result(job, verdict, cause, node(host) if host else FABRIC, message, quote)
        return


def _result(
    job: CollectiveJob, verdict: Verdict, cause: Cause, component: Component, message: Message, quote: Evidence
) -> CheckResult:
    """A cause that only warns makes nothing worse than DEGRADED, nor does a line that nobody knows."""
    proves = cause.severity is Severity.FATAL and cause is not _UNKNOWN
    bad = verdict if proves else min(verdict, Verdict.DEGRADED)
    rule = WARN + cause.code
    return CheckResult(CHECK, component, bad, message, rule, job.stage, evidence=(quote,), job=job.id)
