"""What `platform show` says: what a machine has, and how each of its peaks comes about, line by line."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from healthcheck.evaluation.known_good import KNOWN_GOOD_FRACTION, applying, reference
from healthcheck.evaluation.limits import DEFAULT_THRESHOLDS
from healthcheck.evaluation.peaks import ceiling_gbyte_s, peak
from healthcheck.model.algorithm import Algorithm
from healthcheck.model.collective import Collective
from healthcheck.model.message import Message, english_of, say
from healthcheck.model.platform import KnownGood, Platform

_WIDTH = 12


class AskedJob(Struct, frozen=True):
    """Whose peaks are wanted; `gpus` and `nics` of a node, None for all; `algorithm` None for what NCCL chooses."""

    nodes: int
    gpus: int | None = None
    nics: int | None = None
    collective: Collective = Collective.ALL_REDUCE
    algorithm: Algorithm | None = None


class StagePeak(Struct, frozen=True):
    """The limits of one stage: bus bandwidths in GB/s.

    `peak_busbw_gbyte_s` is that of `algorithm`, `judged_peak_gbyte_s` that of a ring, of which `healthy` and `broken`
    are fractions; None where no bound is published. `known_good_gbyte_s` is what such a job is held against,
    `known_good` all that is published about its nodes, collective and GPUs.
    """

    stage: str
    nodes: int
    gpus: int
    collective: Collective
    algorithm: Algorithm
    peak_basis: str
    peak_busbw_gbyte_s: float | None
    judged_peak_gbyte_s: float | None
    line_rate_gbyte_s: float | None
    steps: tuple[str, ...]
    derivation: str
    source: str
    healthy: float
    broken: float
    ceiling_gbyte_s: float | None
    known_good_gbyte_s: float | None
    known_good_source: str | None
    known_good: tuple[KnownGood, ...]


def stage_peaks(platform: Platform, asked: AskedJob) -> tuple[StagePeak, ...]:
    """Of one node, and of the nodes that were asked about; on one node there is nothing between nodes."""
    stages = (("single_node", 1), ("multi_node", asked.nodes))
    return tuple(_stage(platform, asked, stage, nodes) for stage, nodes in stages if stage != "multi_node" or nodes > 1)


def _stage(platform: Platform, asked: AskedJob, stage: str, nodes: int) -> StagePeak:
    algorithm = asked.algorithm or Algorithm.RING
    top = peak(platform, nodes, asked.collective, gpus=asked.gpus, nics=asked.nics, algorithm=algorithm)
    ring = peak(platform, nodes, asked.collective, gpus=asked.gpus, nics=asked.nics)
    if nodes * (asked.gpus or platform.gpu.count) == 1:
        top = ring = None  # of one rank there is no bus bandwidth to hold against a peak
    fractions = platform.thresholds.get(stage, DEFAULT_THRESHOLDS)
    known = reference(platform, nodes, asked.collective, gpus=asked.gpus, algorithm=asked.algorithm)
    raw = platform.line_rate_gbyte_s
    return StagePeak(
        stage=stage,
        nodes=nodes,
        gpus=asked.gpus or platform.gpu.count,
        collective=asked.collective,
        algorithm=algorithm,
        peak_basis=platform.peak_basis,
        peak_busbw_gbyte_s=None if top is None else top.busbw_gbyte_s,
        judged_peak_gbyte_s=None if ring is None else ring.busbw_gbyte_s,
        line_rate_gbyte_s=None if raw is None else raw.value,
        steps=() if top is None else tuple(step.english for step in top.steps),
        derivation="" if top is None else english_of(top.derivation),
        source="" if top is None else english_of(top.source),
        healthy=fractions.healthy,
        broken=fractions.broken,
        ceiling_gbyte_s=None
        if ring is None
        else ceiling_gbyte_s(
            platform, nodes, asked.collective, gpus=asked.gpus, nics=asked.nics, algorithm=asked.algorithm
        ),
        known_good_gbyte_s=None if known is None else known.value,
        known_good_source=None if known is None else known.source,
        known_good=applying(platform, nodes, asked.collective, gpus=asked.gpus),
    )


def described(platform: Platform, asked: AskedJob) -> list[str]:
    """The machine, then each stage: its peak step by step, its limits, and what healthy machines read."""
    nics = platform.nics
    have = say("platform.nics.none")
    if nics.count:
        have = say("platform.nics", count=nics.count, rate_gbit_s=nics.rate_gbit_s, link_layer=nics.link_layer)
    lines = [
        f"{platform.name}: {platform.title}",
        _line("GPUs", f"{platform.gpu.count} x {' or '.join(platform.gpu.names)}"),
        _line("NICs", f"{have}  [{nics.source}]"),
    ]
    for view in stage_peaks(platform, asked):
        lines += _stage_lines(platform, view, asked)
    return lines


def _stage_lines(platform: Platform, view: StagePeak, asked: AskedJob) -> Iterator[str]:
    yield str(
        say(
            "platform.stage",
            stage=view.stage,
            nodes=view.nodes,
            gpus=view.gpus,
            collective=view.collective.value,
            algorithm=view.algorithm.value,
        )
    )
    top, judged = view.peak_busbw_gbyte_s, view.judged_peak_gbyte_s
    if top is None or judged is None:
        alone = view.nodes * view.gpus == 1
        yield _line("peak", str(say("platform.peak.one_rank" if alone else "platform.peak.none")))
        return
    yield from (_line("" if number else "derived", step) for number, step in enumerate(view.steps))
    yield _line("", f"[{view.source}]")
    yield _line("peak", str(_peak(view, top)))
    if platform.peak_basis == "effective" and platform.line_rate_gbyte_s is not None:
        yield _line("", f"[{platform.line_rate_gbyte_s.source}]")
    if view.algorithm is not Algorithm.RING:
        yield _line("judged", str(say("platform.judged", gbyte_s=judged)))
    healthy, broken = view.healthy, view.broken
    yield _line("healthy at", str(say("platform.healthy", gbyte_s=healthy * judged, percent=100 * healthy)))
    yield _line("broken at", str(say("platform.broken", gbyte_s=broken * judged, percent=100 * broken)))
    if view.ceiling_gbyte_s is not None:
        yield _line("ceiling", str(say("platform.ceiling", gbyte_s=view.ceiling_gbyte_s)))
    if not view.known_good:
        yield _line("known good", str(say("platform.known.none")))
    for known in view.known_good:
        yield _line("known good", f"{_known(known, judged, asked)}  [{known.source}]")
    if view.nodes == 2 and asked.algorithm is None:
        yield _line("note", str(say("platform.two_nodes")))


def _peak(view: StagePeak, top: float) -> Message:
    if view.peak_basis == "effective" and view.line_rate_gbyte_s is not None:
        return say("platform.peak.effective", gbyte_s=top, line_rate_gbyte_s=view.line_rate_gbyte_s)
    return say("platform.peak.raw", gbyte_s=top)


def _known(known: KnownGood, judged: float, asked: AskedJob) -> Message:
    """The one such a job is held against says from where on it is DEGRADED."""
    how = say("platform.known.chosen")
    if known.algorithm is not None:
        how = say("platform.known.forced", algorithm=known.algorithm.value)
    percent = round(100 * known.value / judged)
    if known.algorithm is not asked.algorithm:
        return say("platform.known.other", gbyte_s=known.value, percent=percent, how=str(how))
    least = KNOWN_GOOD_FRACTION * known.value
    return say("platform.known", gbyte_s=known.value, percent=percent, how=str(how), least_gbyte_s=least)


def _line(label: str, text: str) -> str:
    return f"  {label:<{_WIDTH}}{text}"
