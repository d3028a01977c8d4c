"""What another judgement of a stored run changed: one line a node, or for several with the same change."""

from __future__ import annotations

from collections.abc import Iterator

from healthcheck.model.component import natural
from healthcheck.model.message import say
from healthcheck.model.record import HostRecord, RunRecord
from healthcheck.parsing.nodeset import fold
from healthcheck.reporting.figures import one_line
from healthcheck.reporting.joining import in_a_row, pair

MOST_LINES = 24


def changes(before: RunRecord, after: RunRecord) -> list[str]:
    """`node05: PASS -> DEGRADED, because ...`, worst first; then the run itself. Empty where no verdict changed."""
    then = {host.name: host for host in before.hosts}
    alike: dict[tuple[int, str, str], list[str]] = {}
    for host in after.hosts:
        old = then.get(host.name)
        if old is not None and old.verdict is not host.verdict:
            change = f"{old.verdict.name} -> {host.verdict.name}"
            alike.setdefault((-host.verdict, change, _why(host)), []).append(host.name)
    ordered = sorted(alike.items(), key=lambda item: (item[0][0], natural(item[1][0])))
    shown = [
        pair(one_line(fold(names)), in_a_row((change, why), "text.comma"))
        for (_, change, why), names in ordered[:MOST_LINES]
    ]
    left = sum(len(names) for _, names in ordered[MOST_LINES:])
    if left:
        shown.append(str(say("rejudge.more", n=left)))
    if before.verdict is not after.verdict:
        shown.append(str(say("rejudge.run", before=before.verdict.name, after=after.verdict.name)))
    return [*shown, *_jobs(before, after)]


def _why(host: HostRecord) -> str:
    if not host.reasons:
        return str(say("rejudge.nothing_against"))
    return str(say("rejudge.because", why=one_line(str(host.reasons[0]))))


def _jobs(before: RunRecord, after: RunRecord) -> Iterator[str]:
    """Jobs over several nodes: no node says what becomes of them."""
    then = {job.id: job.verdict for job in before.jobs}
    for job in after.jobs:
        old = then.get(job.id)
        if old is not None and job.verdict is not None and old is not job.verdict and len(job.hosts) > 1:
            why = str(say("rejudge.because", why=one_line(str(job.reasons[0])))) if job.reasons else ""
            yield pair(one_line(job.id), in_a_row((f"{old.name} -> {job.verdict.name}", why), "text.comma"))
