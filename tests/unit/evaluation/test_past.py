"""A node against what it used to read: by 5 % and its own spread, at the same sizes, of the same nodes."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from healthcheck.model.verdict import Verdict
from tests.unit.evaluation.builders import GIB, job, outcome, row, sweep
from tests.unit.evaluation.fleets import baseline, busbw, fleet, judged, judged_jobs, on, rules


@pytest.mark.parametrize(
    ("now", "spread", "verdict"),
    [
        (219.5, 0.0, Verdict.PASS),  # 95 % of 231 is 219.45
        (219.4, 0.0, Verdict.DEGRADED),
        (217.5, 2.0, Verdict.PASS),
        (217.4, 2.0, Verdict.DEGRADED),
        (260.0, 2.0, Verdict.PASS),
    ],
)
def test_worse_is_five_percent_and_the_own_spread_below(now: float, spread: float, verdict: Verdict) -> None:
    check = judged(fleet([now]), baseline("node001", 231.0, spread))["node001"]
    assert rules(check)["history"].verdict is check.verdict is verdict


def test_the_sentence_names_both_numbers_and_where_the_past_comes_from() -> None:
    check = judged(fleet([215.0]), baseline("node001", 231.0, 0.5))["node001"]
    assert (check.rule, check.observed, check.expected) == ("history.worse", 215.0, 231.0)
    for part in ("215.0 GB/s", "6.9 % under its own 231.0 GB/s in 6 healthy runs", "0.5", "six runs"):
        assert part in str(check.message)


@pytest.mark.parametrize(
    ("past", "why"),
    [
        (baseline("node002", 231.0), "no baseline of this node"),
        (baseline("node001", 231.0, ranks=4), "no baseline of this node"),
        (baseline("node001", 231.0, stage="multi_node"), "no baseline of this node"),
        (baseline("node001", 231.0, n=2), "the baseline has 2 healthy runs of it, fewer than 3"),
        (replace(baseline("node001", 231.0), platform="h100-sxm5-8gpu-8x400"), "and this is judged as a100"),
    ],
)
def test_another_past_is_none(past: object, why: str) -> None:
    check = judged(fleet([211.0]), past)["node001"]  # type: ignore[arg-type]
    assert rules(check)["history"].verdict is Verdict.SKIPPED
    assert why in str(rules(check)["history"].message)
    assert check.verdict is Verdict.PASS


def test_only_sizes_that_were_measured_before_count() -> None:
    done = on("node001", tuple(row(size, 211.0, 211.0) for size in (3 * GIB // 2, 3 * GIB, 6 * GIB)))
    odd = replace(done, job=replace(done.job, min_bytes=3 * GIB // 2, max_bytes=6 * GIB))
    check = judged([odd], baseline("node001", 231.0))["node001"]
    assert str(rules(check)["history"].message) == "no baseline of these sizes"


def test_a_dip_at_one_size_is_no_loss_and_the_worse_placement_counts() -> None:
    dip = tuple(row(GIB << n, 190.0 if n == 1 else 231.0, 231.0) for n in range(4))
    assert judged([on("node001", dip)], baseline("node001", 231.0))["node001"].verdict is Verdict.PASS
    inside = tuple(row(GIB << n, 231.0, 215.0) for n in range(4))
    found = judged([on("node001", inside)], baseline("node001", 231.0))["node001"]
    assert found.rule == "history.worse" and "(in-place," in str(found.message)


def test_all_repeats_speak_together() -> None:
    """The middle one of three repeats is what the node reads."""
    low, fair = on("node001", sweep(215.0)), on("node001", sweep(230.0))
    once = [low, *(replace(fair, job=replace(fair.job, id=f"r{n}", repeat=n)) for n in (1, 2))]
    assert judged(once, baseline("node001", 231.0))["node001"].verdict is Verdict.PASS


def test_a_joint_job_is_held_against_the_same_set_of_nodes_only() -> None:
    """In whichever order they stand in the job."""
    of = job(hosts=4)
    turned = replace(of, hosts=(*of.hosts[1:], of.hosts[0]))
    for each in (of, turned):
        done = [outcome(sweep(178.0, n_ranks=32), of=each, n_ranks=32)]
        worse = busbw(judged_jobs(done, baseline("node[01-04]", 191.0, stage="multi_node", ranks=32))[0])
        assert (worse.verdict, worse.rule) == (Verdict.DEGRADED, "history.worse")
        other = busbw(judged_jobs(done, baseline("node[01-03,05]", 191.0, stage="multi_node", ranks=32))[0])
        assert str(rules(other)["history"].message) == "no baseline of this set of nodes"
