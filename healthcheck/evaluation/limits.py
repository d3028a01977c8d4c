"""Is it fast enough? The 70/50 rule: percent of peak, AlgBW and BusBW, both placements."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence

from msgspec import Struct

from healthcheck.evaluation.integrity import component_of
from healthcheck.model.collective import Collective
from healthcheck.model.command import CollectiveJob, JobOutcome
from healthcheck.model.finding import CheckResult
from healthcheck.model.measurement import CollectiveRow, Placement
from healthcheck.model.message import say
from healthcheck.model.platform import Limit, Platform, Thresholds
from healthcheck.model.playbook import Playbook, Stage
from healthcheck.model.verdict import Verdict

ABOVE_PEAK = "peak.above"
BUSBW_CHECK = "bandwidth.busbw"
ALGBW_CHECK = "bandwidth.algbw"
DEFAULT_THRESHOLDS = Thresholds(healthy=0.70, broken=0.50)

# Below 1 GiB the start-up of each message still shows, and a healthy machine reads low.
SATURATED_BYTES = 1 << 30
WITHIN_FACTOR = 8
# A tree may exceed the sum of the NICs by up to 44 % (three nodes of 8 GPUs). What lies above this
# was not measured on the machine that the platform describes, and a limit for another machine proves nothing.
IMPOSSIBLE = 1.5


class Peak(Struct, frozen=True):
    """An upper bound in GB/s (bus bandwidth, one direction) with the line that derives it."""

    busbw_gbyte_s: float
    derivation: str
    source: str


# Collectives whose data flows around a ring, so that all NICs of a node add up.
_RING = frozenset(
    {
        Collective.ALL_REDUCE,
        Collective.ALL_GATHER,
        Collective.REDUCE_SCATTER,
        Collective.BROADCAST,
        Collective.REDUCE,
    }
)


def peak(platform: Platform, nodes: int, collective: Collective = Collective.ALL_REDUCE) -> Peak | None:
    """The peak bus bandwidth of a job over `nodes` whole nodes with a ring; None where no bound is published.

    Inside a node the rate of one GPU's NVLinks bounds every collective. Between
    nodes a ring crosses each node boundary once, so the sum of the compute NICs of a node bounds it too; an exchange
    of everybody with everybody is bound by the NIC share of one GPU, a neighbour exchange by one NIC.
    """
    inside = platform.intra_busbw_gbyte_s
    if collective is Collective.HYPERCUBE:
        return None
    if nodes <= 1:
        return Peak(inside.value, f"inside a node: {inside.value:g} GB/s a GPU and direction", inside.source)
    nics, total, gpus = platform.nics, platform.nic_sum_gbyte_s, platform.gpu.count
    rate = f"{nics.count} NICs x {nics.rate_gbit_s:g} Gb/s / 8 = {total:g}"
    if collective in _RING:
        bound, words = total, rate
    elif collective is Collective.SENDRECV:
        bound = nics.rate_gbit_s / 8
        words = f"one NIC x {nics.rate_gbit_s:g} Gb/s / 8 = {bound:g}"
    else:
        ranks = gpus * nodes
        bound = total / gpus * (ranks - 1) / (ranks - gpus)
        words = f"({rate}) / {gpus} GPUs x {ranks - 1} of {ranks - gpus} ranks elsewhere = {bound:.1f}"
    line = f"between nodes: min({inside.value:g}, {words}) GB/s"
    return Peak(min(inside.value, bound), line, f"{inside.source}; {nics.source}")


def thresholds(
    stage: Stage, playbook: Playbook, platform: Platform, override: Thresholds | None
) -> tuple[Thresholds, str]:
    """The fractions that hold and who set them: command line, playbook stage, playbook, platform, 0.70/0.50."""
    if override is not None:
        return override, "command line"
    if stage.thresholds is not None:
        return stage.thresholds, f"playbook {playbook.name}, stage {stage.name}"
    if playbook.thresholds is not None:
        return playbook.thresholds, f"playbook {playbook.name}"
    if stage.name in platform.thresholds:
        return platform.thresholds[stage.name], f"platform {platform.name}"
    return DEFAULT_THRESHOLDS, "default"


def limit_for(
    job: CollectiveJob, stage: Stage, playbook: Playbook, platform: Platform, override: Thresholds | None = None
) -> Limit | None:
    """What the bus bandwidth of `job` is held against, in GB/s; None where no limit is known for its collective."""
    top = peak(platform, len(job.hosts), job.collective)
    if top is None:
        return None
    fractions, who = thresholds(stage, playbook, platform, override)
    return Limit(
        check=BUSBW_CHECK,
        stage=stage.name,
        collective=job.collective.value,
        peak=top.busbw_gbyte_s,
        healthy=fractions.healthy,
        broken=fractions.broken,
        unit="GB/s",
        source=f"peak: {top.derivation} (platform {platform.name}: {top.source}); fractions: {who}",
    )


def judged_rows(rows: Sequence[CollectiveRow]) -> tuple[CollectiveRow, ...]:
    """The rows that count: at least 1 GiB and within a factor 8 of the largest. The footer average never counts."""
    largest = max((row.size_bytes for row in rows), default=0)
    return tuple(row for row in rows if row.size_bytes >= SATURATED_BYTES and row.size_bytes * WITHIN_FACTOR >= largest)


def judge_bandwidth(outcomes: Sequence[JobOutcome], limit: Limit, unsaturated_ok: bool) -> tuple[CheckResult, ...]:
    """BusBW and AlgBW of all repeats of one job against `limit`: two results, each of the worse placement.

    `outcomes` have passed `judge_integrity` and differ in nothing but the repeat. A sweep that ends below 1 GiB is
    not saturated: INCONCLUSIVE, unless the playbook opts in.
    """
    first = outcomes[0]
    rows = [row for outcome in outcomes for table in outcome.output.tables for row in table.rows]
    counted = judged_rows(rows)
    if not counted:
        largest = max((row.size_bytes for row in rows), default=0)
        if not unsaturated_ok:
            message = say("bandwidth.not_saturated", largest_bytes=largest)
            return (
                CheckResult(
                    BUSBW_CHECK,
                    component_of(first),
                    Verdict.INCONCLUSIVE,
                    message,
                    "peak.not_saturated",
                    limit.stage,
                    job=first.job.id,
                ),
            )
        counted = tuple(row for row in rows if row.size_bytes == largest)
    factor = first.job.collective.factor(first.job.communicator_ranks)
    size = max(row.size_bytes for row in counted)
    busbw = slower_placement(counted, lambda half: half.busbw_gbyte_s)
    algbw = slower_placement(counted, lambda half: half.algbw_gbyte_s)
    assert busbw is not None and algbw is not None  # no row without both passes `judge_integrity`
    # A factor of 0 (one rank) has no bus bandwidth and no peak to hold it against.
    peaks = ((BUSBW_CHECK, busbw, limit.peak), (ALGBW_CHECK, algbw, limit.peak / factor if factor else 0.0))
    return tuple(_judge(first, check, reading, top, limit, size) for check, reading, top in peaks)


def largest_busbw_gbyte_s(outcome: JobOutcome) -> float | None:
    """Bus bandwidth at the largest size, of the slower placement; None where none was printed.

    The search compares jobs of many and of few nodes, and over many nodes a curve rises later: the largest size is the
    one at which they differ least.
    """
    rows = [row for table in outcome.output.tables for row in table.rows]
    largest = max((row.size_bytes for row in rows), default=0)
    found = slower_placement([row for row in rows if row.size_bytes == largest], lambda half: half.busbw_gbyte_s)
    return None if found is None else found[1]


def slower_placement(
    rows: Sequence[CollectiveRow], of: Callable[[Placement], float | None]
) -> tuple[str, float] | None:
    """(placement, median over `rows`) of the half where `of` is lower; None where it was printed nowhere."""
    values: dict[str, list[float]] = {}
    for row in rows:
        for name, half in row.placements:
            value = of(half)
            if value is not None:
                values.setdefault(name, []).append(value)
    medians = {name: statistics.median(found) for name, found in values.items()}
    return min(medians.items(), key=lambda item: item[1], default=None)


def _judge(
    outcome: JobOutcome, check: str, reading: tuple[str, float], top: float, limit: Limit, size: int
) -> CheckResult:
    placement, value = reading
    fraction = value / top if top > 0 else 0.0
    verdict, rule = verdict_of_fraction(fraction, limit.healthy, limit.broken)
    if top <= 0:
        verdict, rule = Verdict.INCONCLUSIVE, "peak.none"
    message = say(
        "bandwidth.above_peak" if rule == ABOVE_PEAK else "bandwidth.of_peak",
        observed_gbyte_s=round(value, 2),
        percent=percent(fraction, limit.healthy, limit.broken),
        peak_gbyte_s=round(top, 2),
        placement=placement.replace("_", "-"),
        what="busbw" if check == BUSBW_CHECK else "algbw",
        size_bytes=size,
        healthy_percent=round(100 * limit.healthy),
        broken_percent=round(100 * limit.broken),
    )
    return CheckResult(
        check=check,
        component=component_of(outcome),
        verdict=verdict,
        message=message,
        rule=rule,
        stage=limit.stage,
        observed=value,
        expected=top,
        unit="GB/s",
        job=outcome.job.id,
    )


def percent(fraction: float, healthy: float, broken: float) -> int:
    """Whole percent as it is shown: rounded, but never up to a limit that was missed (69.8 % stays 69 %)."""
    exact = 100 * fraction
    near = round(exact)
    return near - 1 if any(exact < 100 * limit <= near for limit in (healthy, broken)) else near


def verdict_of_fraction(fraction: float, healthy: float, broken: float) -> tuple[Verdict, str]:
    """The 70/50 rule itself: (verdict, rule that fired)."""
    if fraction > IMPOSSIBLE:
        return Verdict.INCONCLUSIVE, ABOVE_PEAK
    if fraction >= healthy:
        return Verdict.PASS, "peak.healthy"
    if fraction >= broken:
        return Verdict.DEGRADED, "peak.below_healthy"
    return Verdict.FAIL, "peak.below_broken"


def expectation_gbyte_s(platform: Platform | None, collective: Collective, nodes: int) -> float:
    """A bus bandwidth to plan with, in GB/s; 100 where the platform or the bound is not known."""
    top = peak(platform, nodes, collective) if platform is not None else None
    return top.busbw_gbyte_s if top is not None else 100.0
