"""What a chart holds its numbers against, as the record has it: peak, its two limits, known-good, the other nodes."""

from __future__ import annotations

from msgspec import Struct

from healthcheck.evaluation.known_good import KNOWN_GOOD_FRACTION
from healthcheck.evaluation.limits import BUSBW_CHECK
from healthcheck.evaluation.peers import SURE_FRACTION, peers_of
from healthcheck.evaluation.rules import KNOWN_GOOD, PEERS
from healthcheck.model.finding import CheckResult
from healthcheck.model.message import Message, say
from healthcheck.model.record import RunRecord
from healthcheck.model.verdict import Verdict
from healthcheck.reporting.bandwidth import limit_of
from healthcheck.reporting.figures import number


class Yardstick(Struct, frozen=True):
    """Of one stage and collective, in GB/s; None where the record has none. `healthy` and `broken` as fractions.

    `peers` is how low a node may read before it no longer belongs to the others.
    """

    peak: float | None = None
    healthy: float = 0.0
    broken: float = 0.0
    known_good: float | None = None
    peers: float | None = None

    @property
    def healthy_gbyte_s(self) -> float | None:
        """From here on PASS."""
        return None if self.peak is None else self.peak * self.healthy

    @property
    def broken_gbyte_s(self) -> float | None:
        """Below this FAIL."""
        return None if self.peak is None else self.peak * self.broken

    def limits(self) -> tuple[tuple[float, Message], ...]:
        """(GB/s, what a chart writes beside it) of each bound that a reading can miss."""
        found: list[tuple[float, Message]] = []
        if self.peak is not None:
            for fraction in (self.broken, self.healthy):
                value = self.peak * fraction
                found.append((value, say("report.plots.of_peak", percent=f"{100 * fraction:g}", value=number(value))))
        if self.known_good is not None:
            value = round(self.known_good * KNOWN_GOOD_FRACTION, 1)
            percent = f"{100 * KNOWN_GOOD_FRACTION:g}"
            found.append((value, say("report.plots.of_known_good", percent=percent, value=number(value))))
        if self.peers is not None:
            found.append((self.peers, say("report.plots.peers", value=f"{self.peers:.1f}")))
        return tuple(found)


def yardsticks(record: RunRecord) -> dict[tuple[str, str], Yardstick]:
    """By (stage, collective) of the jobs of a record."""
    collective = {job.id: job.collective for job in record.jobs}
    checks: dict[tuple[str, str], list[CheckResult]] = {
        (job.stage, job.collective): [] for job in record.jobs if job.stage != "localise"
    }
    for check in record.checks:
        key = (check.stage, collective.get(check.job, ""))
        if check.check == BUSBW_CHECK and key in checks:
            checks[key].append(check)
    return {key: _yardstick(record, *key, found) for key, found in checks.items()}


def _yardstick(record: RunRecord, stage: str, collective: str, checks: list[CheckResult]) -> Yardstick:
    limit = limit_of(record, stage, collective)
    rules = [rule for check in checks for rule in check.rules if rule.verdict is not Verdict.SKIPPED]
    known = next((rule.expected for rule in rules if rule.rule == KNOWN_GOOD and rule.expected is not None), None)
    read = [rule.observed for rule in rules if rule.rule == PEERS and rule.observed is not None]
    peers = peers_of(read)
    floor = None
    if peers is not None:
        floor = max(peers.median - peers.bar * peers.scatter, (1 - SURE_FRACTION) * peers.median)
    if limit is None or limit.peak <= 0:
        return Yardstick(known_good=known, peers=floor)
    return Yardstick(limit.peak, limit.healthy, limit.broken, known, floor)


class Bullet(Struct, frozen=True):
    """A bar of a table, all in per cent of its length: how long it is and where the marks stand.

    `full` says how much of the peak the whole length is, so that a value above peak is drawn above it.
    """

    value: float
    peak: float
    healthy: float
    broken: float
    known_good: float | None
    full: float


def bullet(gbyte_s: float, yardstick: Yardstick, largest_share: float = 1.0) -> Bullet | None:
    """The bar of one number; `largest_share` of peak that any bar of the table shows, so that all have one scale.

    None without a peak.
    """
    if yardstick.peak is None:
        return None
    share = gbyte_s / yardstick.peak
    known = None if yardstick.known_good is None else yardstick.known_good / yardstick.peak
    full = max(1.0, largest_share, share, known or 0.0)

    def place(part: float) -> float:
        return round(100 * part / full, 1)

    return Bullet(
        value=place(max(0.0, share)),
        peak=place(1.0),
        healthy=place(yardstick.healthy),
        broken=place(yardstick.broken),
        known_good=None if known is None else place(known),
        full=round(100 * full, 1),
    )
