"""Is it fast enough? The 70/50 rule: percent of peak, AlgBW and BusBW, both placements."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from healthcheck.evaluation.integrity import component_of
from healthcheck.evaluation.known_good_rule import known_good_of
from healthcheck.evaluation.peaks import Peak, ceiling_gbyte_s, peak
from healthcheck.evaluation.reading import all_rows, percent, slower_at_largest
from healthcheck.model.algorithm import forced
from healthcheck.model.collective import Collective
from healthcheck.model.command import CollectiveJob, JobOutcome
from healthcheck.model.finding import CheckResult
from healthcheck.model.judged import judged_rows, slower_placement
from healthcheck.model.message import Message, phrase, say
from healthcheck.model.platform import Limit, Platform, Thresholds
from healthcheck.model.playbook import Playbook, Stage
from healthcheck.model.thresholds import AskedThresholds
from healthcheck.model.verdict import Verdict

ABOVE_PEAK = "peak.above"
BUSBW_CHECK = "bandwidth.busbw"
ALGBW_CHECK = "bandwidth.algbw"
DEFAULT_THRESHOLDS = Thresholds(healthy=0.70, broken=0.50)


def thresholds(
    stage: Stage, playbook: Playbook, platform: Platform | None, override: AskedThresholds | None
) -> tuple[Thresholds, Message]:
    """The fractions that hold and who set them: command line, playbook stage, playbook, platform, 0.70/0.50.

    Where the command line gives one of them, the other one stays with whoever wins without it, and yields to it where
    both together would make no sense.
    """
    below, who = _without_override(stage, playbook, platform)
    if override is None or (override.healthy is None and override.broken is None):
        return below, who
    asked = override.over(below)
    if override.broken is None:
        return replace(asked, broken=min(asked.broken, asked.healthy)), say("source.command_line_healthy", other=who)
    if override.healthy is None:
        return replace(asked, healthy=max(asked.broken, asked.healthy)), say("source.command_line_broken", other=who)
    return asked, say("source.command_line")


def _without_override(stage: Stage, playbook: Playbook, platform: Platform | None) -> tuple[Thresholds, Message]:
    if stage.thresholds is not None:
        return stage.thresholds, say("source.playbook_stage", playbook=playbook.name, stage=stage.name)
    if playbook.thresholds is not None:
        return playbook.thresholds, say("source.playbook", playbook=playbook.name)
    if platform is not None and stage.name in platform.thresholds:
        return platform.thresholds[stage.name], say("source.platform", platform=platform.name)
    return DEFAULT_THRESHOLDS, say("source.default")


def limit_for(
    job: CollectiveJob, stage: Stage, playbook: Playbook, platform: Platform, override: AskedThresholds | None = None
) -> Limit | None:
    """What the bus bandwidth of `job` is held against, in GB/s; None where no limit is known for its collective."""
    gpus = gpus_a_node(job, platform)
    top = peak(platform, len(job.hosts), job.collective, gpus=gpus)
    if top is None:
        return None
    fractions, who = thresholds(stage, playbook, platform, override)
    origin = _origin(job, platform, top, who)
    return Limit(
        check=BUSBW_CHECK,
        stage=stage.name,
        collective=job.collective.value,
        peak=top.busbw_gbyte_s,
        healthy=fractions.healthy,
        broken=fractions.broken,
        unit="GB/s",
        source=origin.english,
        ceiling=ceiling_gbyte_s(platform, len(job.hosts), job.collective, gpus=gpus, algorithm=forced(job.env)),
        origin=origin,
    )


def _origin(job: CollectiveJob, platform: Platform, top: Peak, fractions: Message) -> Message:
    limit = say(
        "source.limit", derivation=top.derivation, platform=platform.name, source=top.source, fractions=fractions
    )
    known = known_good_of(job, platform)
    if known is None:
        return limit
    return say("source.known_good", limit=limit, gbyte_s=known.value, source=phrase(known.source))


def gpus_a_node(job: CollectiveJob, platform: Platform) -> int | None:
    """How many GPUs of every node a job uses; None for all of them, or where its nodes differ."""
    counts = set(job.ranks_per_host)
    return None if len(counts) != 1 or platform.gpu.count in counts else counts.pop()


def judge_bandwidth(outcomes: Sequence[JobOutcome], limit: Limit, unsaturated_ok: bool) -> tuple[CheckResult, ...]:
    """BusBW and AlgBW of all repeats of one job against `limit`: two results, each of the worse placement.

    `outcomes` have passed `judge_integrity` and differ in nothing but the repeat. A sweep that ends below 1 GiB is
    not saturated: INCONCLUSIVE, unless the playbook opts in.
    """
    first = outcomes[0]
    rows = all_rows(outcomes)
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
    return (
        _judge(first, BUSBW_CHECK, busbw, limit, 1.0, size),
        _judge(first, ALGBW_CHECK, algbw, limit, factor, size),
    )


def largest_busbw_gbyte_s(outcome: JobOutcome) -> float | None:
    """Bus bandwidth at the largest size, of the slower placement; None where none was printed.

    The search compares jobs of many and of few nodes, and over many nodes a curve rises later: the largest size is the
    one at which they differ least.
    """
    found = slower_at_largest(all_rows([outcome]))
    return None if found is None else found[1]


def _judge(
    outcome: JobOutcome, check: str, reading: tuple[str, float], limit: Limit, factor: float, size: int
) -> CheckResult:
    """`factor` divides the bounds of bus bandwidth; 0 where there is none to hold the reading against."""
    placement, value = reading
    top = limit.peak / factor if factor else 0.0
    fraction = value / top if top > 0 else 0.0
    verdict, rule = verdict_of_fraction(fraction, limit.healthy, limit.broken)
    if limit.ceiling is not None and value * factor > limit.ceiling:
        verdict, rule = Verdict.INCONCLUSIVE, ABOVE_PEAK
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


def verdict_of_fraction(fraction: float, healthy: float, broken: float) -> tuple[Verdict, str]:
    """The 70/50 rule itself: (verdict, rule that fired)."""
    if fraction >= healthy:
        return Verdict.PASS, "peak.healthy"
    if fraction >= broken:
        return Verdict.DEGRADED, "peak.below_healthy"
    return Verdict.FAIL, "peak.below_broken"


def expectation_gbyte_s(platform: Platform | None, collective: Collective, nodes: int) -> float:
    """A bus bandwidth to plan with, in GB/s; 100 where the platform or the bound is not known."""
    top = peak(platform, nodes, collective) if platform is not None else None
    return top.busbw_gbyte_s if top is not None else 100.0
