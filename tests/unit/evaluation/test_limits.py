"""The 70/50 rule, what is judged, and what is not."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from healthcheck.edge.shipped import shipped_platforms
from healthcheck.evaluation.limits import (
    BUSBW_CHECK,
    judge_bandwidth,
    limit_for,
    thresholds,
    verdict_of_fraction,
)
from healthcheck.evaluation.peaks import peak
from healthcheck.evaluation.reading import percent, tenths
from healthcheck.model.collective import Collective
from healthcheck.model.command import CollectiveJob
from healthcheck.model.judged import judged_rows
from healthcheck.model.measurement import CollectiveRow
from healthcheck.model.message import say
from healthcheck.model.platform import Limit, Thresholds
from healthcheck.model.playbook import Playbook, Stage
from healthcheck.model.thresholds import AskedThresholds
from healthcheck.model.verdict import Verdict
from tests.unit.evaluation.builders import GIB, job, outcome, row, sweep

A100 = shipped_platforms()["a100-sxm4-8gpu-8x200"]
ALONE = Stage(name="single_node")
TOGETHER = Stage(name="multi_node")
BOOK = Playbook(name="x", stages=(ALONE, TOGETHER))


def _limit(of: CollectiveJob, stage: Stage) -> Limit:
    limit = limit_for(of, stage, BOOK, A100)
    assert limit is not None
    return limit


def _verdicts(*rows: tuple[CollectiveRow, ...], hosts: int = 1, n_ranks: int = 8) -> dict[str, Verdict]:
    stage = ALONE if hosts == 1 else TOGETHER
    done = [outcome(r, of=job(hosts), n_ranks=n_ranks) for r in rows]
    found = judge_bandwidth(done, _limit(done[0].job, stage), unsaturated_ok=False)
    return {check.check: check.verdict for check in found}


@pytest.mark.parametrize(
    ("fraction", "verdict"),
    [
        (0.70, Verdict.PASS),
        (0.6999, Verdict.DEGRADED),
        (0.50, Verdict.DEGRADED),
        (0.4999, Verdict.FAIL),
        (1.2, Verdict.PASS),
    ],
)
def test_the_rule_at_its_edges(fraction: float, verdict: Verdict) -> None:
    assert verdict_of_fraction(fraction, 0.70, 0.50)[0] is verdict


def _peak(name: str, nodes: int, collective: Collective = Collective.ALL_REDUCE) -> float:
    found = peak(shipped_platforms()[name], nodes, collective)
    assert found is not None
    return found.busbw_gbyte_s


def test_peaks_of_an_a100_node_and_of_its_fabric() -> None:
    assert _peak("a100-sxm4-8gpu-8x200", 1) == 300
    assert _peak("a100-sxm4-8gpu-8x200", 16) == 200
    assert _peak("a100-sxm4-8gpu-1x200", 16) == 25
    derived = peak(A100, 2)
    assert derived is not None and "8 NICs x 200 Gb/s" in str(derived.derivation)


def test_collectives_that_cannot_add_up_nics_are_held_against_what_they_can_reach() -> None:
    # 25 GB/s of NIC a GPU; two nodes keep half of the exchange inside, many nodes nearly nothing.
    assert _peak("a100-sxm4-8gpu-8x200", 2, Collective.ALLTOALL) == pytest.approx(25 * 15 / 8)
    assert _peak("a100-sxm4-8gpu-8x200", 512, Collective.ALLTOALL) == pytest.approx(25, rel=0.01)
    assert _peak("a100-sxm4-8gpu-8x200", 2, Collective.SENDRECV) == 25
    assert _peak("a100-sxm4-8gpu-8x200", 2, Collective.ALL_GATHER) == 200
    assert _peak("a100-sxm4-8gpu-8x200", 1, Collective.ALLTOALL) == 300
    assert peak(A100, 2, Collective.HYPERCUBE) is None


def test_a_percentage_is_never_rounded_up_to_a_limit_that_was_missed() -> None:
    assert percent(0.6999, 0.7, 0.5) == 69
    assert percent(0.7, 0.7, 0.5) == 70
    assert percent(0.766, 0.7, 0.5) == 77
    assert percent(0.4996, 0.7, 0.5) == 49


def test_a_healthy_a100_passes_and_a_slow_one_does_not() -> None:
    assert set(_verdicts(sweep(231.0)).values()) == {Verdict.PASS}
    assert set(_verdicts(sweep(180.0)).values()) == {Verdict.DEGRADED}
    assert set(_verdicts(sweep(140.0)).values()) == {Verdict.FAIL}


def test_the_worse_placement_decides() -> None:
    assert _verdicts(sweep(231.0, in_place=140.0))[BUSBW_CHECK] is Verdict.FAIL
    assert _verdicts(sweep(140.0, in_place=231.0))[BUSBW_CHECK] is Verdict.FAIL


def test_the_first_passing_repeat_does_not_win() -> None:
    assert _verdicts(sweep(231.0), sweep(140.0), sweep(140.0))[BUSBW_CHECK] is Verdict.FAIL


def test_small_sizes_do_not_drag_a_healthy_node_down() -> None:
    small = tuple(row(1 << n, 5.0, 5.0) for n in range(10, 30))
    assert [r.size_bytes for r in judged_rows((*small, *sweep(231.0)))] == [GIB << n for n in range(4)]
    assert _verdicts((*small, *sweep(231.0)))[BUSBW_CHECK] is Verdict.PASS


def test_only_sizes_within_a_factor_of_eight_of_the_largest_are_judged() -> None:
    assert [r.size_bytes for r in judged_rows([row(GIB << n, 1.0) for n in range(6)])] == [
        GIB << n for n in (2, 3, 4, 5)
    ]


def test_a_sweep_that_ends_below_one_gib_is_not_called_slow() -> None:
    small = (row(512 << 20, 100.0, 100.0),)
    assert set(_verdicts(small).values()) == {Verdict.INCONCLUSIVE}
    done = [outcome(small, of=job(sizes=(512 << 20, 512 << 20)))]
    opted_in = judge_bandwidth(done, _limit(done[0].job, ALONE), unsaturated_ok=True)
    assert {check.verdict for check in opted_in} == {Verdict.FAIL}


def test_the_fabric_is_held_against_the_sum_of_its_nics() -> None:
    assert _verdicts(sweep(191.0, n_ranks=16), hosts=2, n_ranks=16)[BUSBW_CHECK] is Verdict.PASS
    assert _verdicts(sweep(96.8, n_ranks=16), hosts=2, n_ranks=16)[BUSBW_CHECK] is Verdict.FAIL


def test_who_set_the_threshold_is_known_and_the_nearest_wins() -> None:
    strict, mild = Thresholds(0.9, 0.8), Thresholds(0.6, 0.4)
    book = Playbook(name="b", stages=(), thresholds=mild)
    staged = Stage(name="single_node", thresholds=strict)
    asked, who = thresholds(staged, book, A100, AskedThresholds(0.5, 0.1))
    assert (asked, str(who)) == (Thresholds(0.5, 0.1), "command line")
    assert thresholds(staged, book, A100, None) == (
        strict,
        say("source.playbook_stage", playbook="b", stage=staged.name),
    )
    assert thresholds(ALONE, book, A100, None) == (mild, say("source.playbook", playbook="b"))
    assert thresholds(ALONE, BOOK, A100, None)[0] == Thresholds(0.7, 0.5)


def test_faster_than_the_machine_type_can_be_is_no_pass() -> None:
    # 400 of 200 GB/s between two nodes: no tree can do that, so it is another machine.
    assert _verdicts(sweep(400.0, n_ranks=16), hosts=2, n_ranks=16)[BUSBW_CHECK] is Verdict.INCONCLUSIVE
    # What a tree may carry over three nodes is more than the NICs of one (44 %), and still within NVLink.
    assert _verdicts(sweep(270.0, n_ranks=24), hosts=3, n_ranks=24)[BUSBW_CHECK] is Verdict.PASS


def test_a_forced_ring_is_held_against_what_a_ring_can() -> None:
    """190 GB/s over four ports of 200 Gb/s: a tree between two nodes could, a ring reads it on another machine only."""
    few = shipped_platforms()["a100-sxm4-8gpu-4x200"]
    for env, verdict, rule in (
        ((), Verdict.PASS, "peak.healthy"),
        ((("NCCL_ALGO", "Ring"),), Verdict.INCONCLUSIVE, "peak.above"),
    ):
        of = replace(job(2), env=env)
        limit = limit_for(of, TOGETHER, BOOK, few)
        assert limit is not None
        busbw, _ = judge_bandwidth([outcome(sweep(190.0, n_ranks=16), of=of, n_ranks=16)], limit, unsaturated_ok=False)
        assert (busbw.verdict, busbw.rule) == (verdict, rule)


def test_a_missed_limit_is_never_rounded_up_to() -> None:
    assert (tenths(209.9 / 300, 0.7, 0.5), tenths(0.7, 0.7), tenths(0.7555, 0.7)) == (69.9, 70.0, 75.5)
    assert tenths(0.49999, 0.7, 0.5) == 49.9
