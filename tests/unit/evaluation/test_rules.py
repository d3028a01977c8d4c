"""Every bandwidth runs through all rules: the worst decides, and who was not asked says why."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from healthcheck.evaluation.known_good import least_bytes
from healthcheck.evaluation.rules import RULES, reads_low
from healthcheck.evaluation.stage import judge_jobs
from healthcheck.model.verdict import Verdict
from tests.unit.evaluation.builders import job, outcome, row, sweep
from tests.unit.evaluation.fleets import (
    A100,
    ALONE,
    BOOK,
    TOGETHER,
    baseline,
    busbw,
    fleet,
    judged,
    judged_jobs,
    on,
    rules,
)


def test_a_healthy_node_names_every_rule_and_why_three_were_not_asked() -> None:
    check = judged(fleet([231.0]))["node001"]
    assert tuple(rule.rule for rule in check.rules) == RULES
    assert (check.verdict, check.rule) == (Verdict.PASS, "peak.healthy")
    said = rules(check)
    assert said["peak"].verdict is said["known_good"].verdict is Verdict.PASS
    assert {name: str(said[name].message) for name in ("peers", "history", "transport")} == {
        "peers": "fewer than 5 peers: 0 other nodes with the same job",
        "history": "no baseline",
        "transport": "NCCL said nothing of its network",
    }
    assert all(said[name].verdict is Verdict.SKIPPED for name in ("peers", "history", "transport"))


def test_what_decided_is_what_the_result_shows() -> None:
    # 205 of 300 is 68 % of peak, and 89 % of 231: the first of two equal answers decides.
    check = judged(fleet([205.0]))["node001"]
    assert (check.verdict, check.rule, check.expected) == (Verdict.DEGRADED, "peak.below_healthy", 300)
    assert rules(check)["known_good"].verdict is Verdict.DEGRADED
    # A fabric at 87.5 % of its peak passes that, and not what such fabrics read.
    of = job(hosts=4)
    (one,) = judged_jobs([outcome(sweep(168.0, n_ranks=32), of=of, n_ranks=32)])
    found = busbw(one)
    assert (found.verdict, found.rule, found.observed, found.expected) == (
        Verdict.DEGRADED,
        "known_good.below",
        168.0,
        192.0,
    )
    assert "88 % of the 192" in str(found.message)
    assert one.verdict is Verdict.DEGRADED
    assert one.limit is not None and "known good: 192 GB/s (https://" in one.limit.source


@pytest.mark.parametrize(("value", "verdict"), [(0.9 * 192.0, Verdict.PASS), (0.8999 * 192.0, Verdict.DEGRADED)])
def test_the_known_good_rule_at_its_edge(value: float, verdict: Verdict) -> None:
    found = busbw(judged_jobs([outcome(sweep(value, n_ranks=16), of=job(hosts=2), n_ranks=16)])[0])
    assert rules(found)["known_good"].verdict is found.verdict is verdict


def test_a_number_of_another_job_is_no_known_good_number() -> None:
    half = busbw(judged_jobs([on("node01", sweep(231.0, n_ranks=4), ranks=4)])[0])
    assert str(rules(half)["known_good"].message) == "no known-good number for 4 of 8 GPUs"
    forced = replace(job(), env=(("NCCL_ALGO", "Tree"),))
    tree = busbw(judged_jobs([outcome(sweep(215.0), of=forced)])[0])
    assert str(rules(tree)["known_good"].message) == "no known-good number for tree, which this job forces"
    small = replace(ALONE, unsaturated_ok=True)
    done = outcome((row(512 << 20, 215.0, 215.0),), of=job(sizes=(512 << 20, 512 << 20)))
    opted_in = busbw(judge_jobs(small, [done], BOOK, A100)[0])
    assert str(rules(opted_in)["known_good"].message) == "over 1 node known-good numbers hold from 1 GiB"
    assert opted_in.verdict is Verdict.PASS


def test_over_many_nodes_the_curve_rises_late_so_the_largest_size_is_compared() -> None:
    """What 512 healthy nodes read from 1 to 8 GiB; half way up it is no lost rail."""
    of = job(hosts=512, sizes=(1 << 30, 8 << 30))
    ranks = 512 * 8
    curve = tuple(row((1 << 30) << n, value, value, ranks) for n, value in enumerate((144.0, 164.0, 180.0, 186.0)))
    whole = busbw(judged_jobs([outcome(curve, of=of, n_ranks=ranks)])[0])
    assert rules(whole)["known_good"].verdict is whole.verdict is Verdict.PASS
    assert rules(whole)["known_good"].observed == 186.0
    lost = tuple(
        row((1 << 30) << n, 0.875 * value, 0.875 * value, ranks) for n, value in enumerate((144, 164, 180, 186))
    )
    assert busbw(judged_jobs([outcome(lost, of=of, n_ranks=ranks)])[0]).rule == "known_good.below"
    short = replace(of, max_bytes=4 << 30)
    told = rules(busbw(judged_jobs([outcome(curve[:3], of=short, n_ranks=ranks)])[0]))["known_good"]
    assert (told.verdict, str(told.message)) == (
        Verdict.SKIPPED,
        "over 512 nodes known-good numbers hold from 8 GiB",
    )
    assert least_bytes(1) == least_bytes(4) == 1 << 30 and least_bytes(64) == 4 << 30


@pytest.mark.parametrize("rows", [(row(512 << 20, 215.0, 215.0),), sweep(400.0)])
def test_a_reading_that_cannot_be_judged_stops_the_other_rules(rows: tuple[object, ...]) -> None:
    done = fleet([231.0] * 8)
    sizes = (512 << 20, 512 << 20) if len(rows) == 1 else (1 << 30, 8 << 30)
    odd = outcome(rows, of=replace(job(sizes=sizes), id="odd", hosts=("odd",)))  # type: ignore[arg-type]
    check = judged([*done, odd], baseline("odd", 231.0))["odd"]
    assert check.verdict is Verdict.INCONCLUSIVE and check.rule.startswith("peak.")
    assert {rule.verdict for rule in check.rules[1:]} == {Verdict.SKIPPED}
    assert not reads_low(check)


def test_without_a_machine_type_nobody_is_green_and_every_rule_says_why() -> None:
    check = busbw(judge_jobs(ALONE, fleet([231.0]), BOOK, None)[0])
    assert (check.verdict, check.rule) == (Verdict.INCONCLUSIVE, "limits.unknown_platform")
    assert tuple(rule.rule for rule in check.rules) == RULES


def test_the_worst_rule_wins_over_an_earlier_one() -> None:
    """Known good and its past call a node DEGRADED that is FAIL by its peak; the peak is told."""
    check = judged(fleet([140.0]), baseline("node001", 231.0))["node001"]
    assert (check.verdict, check.rule) == (Verdict.FAIL, "peak.below_broken")
    assert [rule.verdict for rule in check.rules[:4]] == [
        Verdict.FAIL,
        Verdict.DEGRADED,
        Verdict.SKIPPED,
        Verdict.DEGRADED,
    ]


def test_a_job_over_several_nodes_has_no_peers() -> None:
    done = [outcome(sweep(191.0, n_ranks=16), of=job(hosts=2), n_ranks=16)]
    found = busbw(judge_jobs(TOGETHER, done, BOOK, A100)[0])
    assert str(rules(found)["peers"].message) == "a job over several nodes has no peers"
