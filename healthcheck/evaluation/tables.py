"""A saved table against a platform, without the job that made it: what `parse --platform` says."""

from __future__ import annotations

from collections import Counter

from msgspec import Struct

from healthcheck.evaluation.integrity import DID_NOT_RUN
from healthcheck.evaluation.known_good import KNOWN_GOOD_FRACTION, least_bytes, lowest_reference
from healthcheck.evaluation.limits import DEFAULT_THRESHOLDS, verdict_of_fraction
from healthcheck.evaluation.peaks import ceiling_gbyte_s, peak
from healthcheck.evaluation.reading import slower_at_largest, tenths
from healthcheck.model.collective import Collective
from healthcheck.model.judged import judged_rows, slower_placement
from healthcheck.model.measurement import CollectiveTable, FailureKind, OutputState, ParsedOutput
from healthcheck.model.message import Message, say
from healthcheck.model.platform import Platform
from healthcheck.model.verdict import Verdict, worst
from healthcheck.parsing.nccl_tests.consistency import CONTRADICTS, find_contradictions

_KNOWN = frozenset(collective.value for collective in Collective)


class TableJudgement(Struct, frozen=True):
    """One table against the peak and what is known good. `percent_of_peak` is of bus bandwidth, None where it cannot be
    said; `busbw_gbyte_s` is what was judged."""

    verdict: Verdict
    percent_of_peak: float | None
    reason: Message
    peak_gbyte_s: float | None = None
    busbw_gbyte_s: float | None = None


def judge_table(table: CollectiveTable, platform: Platform) -> TableJudgement:
    """The slower placement's median over the saturated sizes, against the ring peak of so many hosts and GPUs, then
    against what healthy machines read."""
    wrong = _wrong_values(table)
    if wrong is not None:
        return TableJudgement(Verdict.FAIL, None, wrong)
    missing = _what_is_missing(table) or _what_is_of_another_machine(table, platform)
    if missing is not None or table.collective is None:
        return TableJudgement(Verdict.INCONCLUSIVE, None, missing or say("parse.not_judged.unnamed"))
    slower = slower_placement(judged_rows(table.rows), lambda half: half.busbw_gbyte_s)
    if slower is None:
        return TableJudgement(Verdict.INCONCLUSIVE, None, say("parse.not_judged.small"))
    _, busbw = slower
    collective, nodes, gpus = Collective(table.collective), len(table.hosts), gpus_a_host(table)
    bound = peak(platform, nodes, collective, gpus=gpus)
    if bound is None:
        return TableJudgement(Verdict.INCONCLUSIVE, None, say("parse.not_judged.no_peak", collective=table.collective))
    top = bound.busbw_gbyte_s
    stage = "single_node" if nodes == 1 else "multi_node"
    limits = platform.thresholds.get(stage, DEFAULT_THRESHOLDS)
    verdict, _ = verdict_of_fraction(busbw / top, limits.healthy, limits.broken)
    percent = tenths(busbw / top, limits.healthy, limits.broken)
    reason = say(
        "parse.judged", busbw_gbyte_s=round(busbw, 2), percent=percent, peak_gbyte_s=round(top, 2), name=platform.name
    )
    ceiling = ceiling_gbyte_s(platform, nodes, collective, gpus=gpus)
    known = None
    largest = slower_at_largest(table.rows)
    assert largest is not None  # there are judged rows
    if gpus is not None and max(row.size_bytes for row in table.rows) >= least_bytes(nodes):
        known = lowest_reference(platform, nodes, collective, gpus=gpus, ring_peak_gbyte_s=top)
    if ceiling is not None and busbw > ceiling:
        verdict = Verdict.INCONCLUSIVE
        reason = say(
            "parse.above", busbw_gbyte_s=round(busbw, 2), ceiling_gbyte_s=round(ceiling, 1), name=platform.name
        )
    elif verdict is Verdict.PASS and known is not None and largest[1] < KNOWN_GOOD_FRACTION * known.value:
        verdict = Verdict.DEGRADED
        share = tenths(largest[1] / known.value, KNOWN_GOOD_FRACTION)
        reason = say(
            "parse.below_known_good",
            busbw_gbyte_s=round(busbw, 2),
            percent=percent,
            peak_gbyte_s=round(top, 2),
            name=platform.name,
            largest_gbyte_s=round(largest[1], 2),
            share=share,
            expected_gbyte_s=known.value,
        )
    return TableJudgement(verdict, percent, reason, top, busbw)


def gpus_a_host(table: CollectiveTable) -> int | None:
    """How many GPUs each host uses; None where they differ."""
    ranks, hosts = table.n_ranks or 0, len(table.hosts)
    return ranks // hosts if hosts and ranks % hosts == 0 else None


def judge_output(output: ParsedOutput, judgements: tuple[TableJudgement, ...]) -> Verdict:
    """The verdict of a whole output: what broke in it, what is missing from it, and the worst of its tables."""
    if output.state is OutputState.FAILED:
        primary = next((failure for failure in output.failures if not failure.secondary), output.failures[0])
        # What the launcher says is a fault only where the benchmark had begun.
        ran = bool(output.tables) if primary.kind is FailureKind.LAUNCHER else primary.kind not in DID_NOT_RUN
        return Verdict.FAIL if ran else Verdict.INCONCLUSIVE
    if output.state is not OutputState.COMPLETE or output.verified is not True:
        return worst([Verdict.INCONCLUSIVE, *(judgement.verdict for judgement in judgements)])
    return worst(judgement.verdict for judgement in judgements)


def _wrong_values(table: CollectiveTable) -> Message | None:
    """What is wrong with the results themselves; None where nothing is. Half of some collectives is never checked."""
    checked = table.collective in _KNOWN and Collective(table.collective or "").in_place_is_checked
    halves = [half for row in table.rows for name, half in row.placements if checked or name == "out_of_place"]
    wrong = sum(half.wrong or 0 for half in halves)
    if wrong > 0:
        return say("parse.wrong", wrong=wrong)
    failed = checked and table.out_of_bounds_ok is False and (table.out_of_bounds_count or 0) > 0
    return say("parse.out_of_bounds", count=table.out_of_bounds_count or 0) if failed else None


def _what_is_of_another_machine(table: CollectiveTable, platform: Platform) -> Message | None:
    """Why the table cannot be from such a machine; None where it can."""
    others = [model for model in table.gpu_models if model and not platform.gpu.means(model)]
    if others:
        return say("parse.not_judged.other_gpu", models=", ".join(dict.fromkeys(others)), name=platform.name)
    hosts, has = len(table.hosts), platform.gpu.count
    most = max((*Counter(rank.host for rank in table.ranks).values(), -(-(table.n_ranks or 0) // max(hosts, 1))))
    if most <= has:
        return None
    return say("parse.not_judged.too_many_ranks", most=most, has=has, name=platform.name)


def _what_is_missing(table: CollectiveTable) -> Message | None:
    if not table.complete:
        return say("parse.not_judged.incomplete")
    if table.collective is not None and table.collective not in _KNOWN:
        return say("parse.not_judged.no_peak", collective=table.collective)
    if table.n_ranks is None or not _names_every_host(table, table.n_ranks):
        return say("parse.not_judged.ranks")
    if table.n_ranks == 1:
        return say("parse.not_judged.one_rank")
    odd = find_contradictions(table)
    return say("parse.not_judged.contradicts") if odd is not None and odd.code == CONTRADICTS else None


def _names_every_host(table: CollectiveTable, n_ranks: int) -> bool:
    """False where the device list is cut: then nobody knows over how many hosts it ran.

    The JSON of nccl-tests lists the first GPU of each process, which is every host all the same.
    """
    first = next((rank for rank in table.ranks if rank.rank == 0), None)
    listed = sorted(rank.rank for rank in table.ranks if first is not None and rank.group == first.group)
    if len(listed) >= n_ranks:
        return True
    return bool(listed) and n_ranks % len(listed) == 0 and listed == list(range(0, n_ranks, n_ranks // len(listed)))
