"""Rule 3: does a job read what healthy machines of this kind read? It sees what a percentage of peak cannot.

NVLS silently off leaves 76 % of what such machines read, one lost rail of eight 87.5 %: both pass the 70/50 rule.
"""

from __future__ import annotations

from healthcheck.evaluation.known_good import KNOWN_GOOD_FRACTION, least_bytes, reference
from healthcheck.evaluation.reading import JudgedReading, percent, size_gib, spelled
from healthcheck.evaluation.rules import KNOWN_GOOD, Answer, not_asked
from healthcheck.model.algorithm import forced
from healthcheck.model.command import CollectiveJob
from healthcheck.model.finding import RuleResult
from healthcheck.model.message import Message, say
from healthcheck.model.platform import KnownGood, Platform
from healthcheck.model.verdict import Verdict

BELOW = "known_good.below"


def ask_known_good(reading: JudgedReading, job: CollectiveJob, platform: Platform) -> Answer:
    """DEGRADED below 90 % of the number that stands for such a job; SKIPPED where none does.

    Such numbers were read at large sizes, so the largest size is held against them and not the median.
    """
    known = known_good_of(job, platform)
    if known is None:
        return not_asked(KNOWN_GOOD, _none(job, platform))
    nodes = len(job.hosts)
    if reading.size_bytes < least_bytes(nodes):
        return not_asked(KNOWN_GOOD, say("rules.known_good.small", least_gib=size_gib(least_bytes(nodes)), nodes=nodes))
    placement, value = reading.at_largest
    fraction = value / known.value
    shown, expected = percent(fraction, KNOWN_GOOD_FRACTION), round(known.value, 2)
    if fraction >= KNOWN_GOOD_FRACTION:
        message = say("rules.known_good.passed", percent=shown, expected_gbyte_s=expected)
        return Answer(RuleResult(KNOWN_GOOD, Verdict.PASS, message, value, known.value))
    message = say(
        "rules.known_good.below",
        observed_gbyte_s=round(value, 2),
        placement=spelled(placement),
        size_gib=size_gib(reading.size_bytes),
        percent=shown,
        expected_gbyte_s=expected,
        least_percent=round(100 * KNOWN_GOOD_FRACTION),
    )
    return Answer(RuleResult(KNOWN_GOOD, Verdict.DEGRADED, message, value, known.value), BELOW)


def known_good_of(job: CollectiveJob, platform: Platform) -> KnownGood | None:
    """The number for just such a job; None where there is none, or where its nodes use different numbers of GPUs."""
    if len(set(job.ranks_per_host)) != 1 or job.groups != 1:
        return None
    gpus = job.ranks_per_host[0]
    return reference(platform, len(job.hosts), job.collective, gpus=gpus, algorithm=forced(job.env))


def _none(job: CollectiveJob, platform: Platform) -> Message:
    gpus = set(job.ranks_per_host)
    algorithm = forced(job.env)
    if len(gpus) != 1:
        return say("rules.known_good.uneven")
    if algorithm is not None and reference(platform, len(job.hosts), job.collective) is not None:
        return say("rules.known_good.none_of_algorithm", algorithm=algorithm.value)
    if gpus != {platform.gpu.count}:
        return say("rules.known_good.none_of_fewer", gpus=job.ranks_per_host[0], count=platform.gpu.count)
    return say("rules.known_good.none", collective=job.collective.value, nodes=len(job.hosts))
