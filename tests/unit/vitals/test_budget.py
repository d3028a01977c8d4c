"""What reducing gradients costs: the factor of a collective is applied once, a number says whence it comes."""

from __future__ import annotations

import pytest

from healthcheck.model.digest import DigestHost, DigestJob, DigestPlaybook, RunDigest
from healthcheck.model.measurement import CollectiveRow, Placement
from healthcheck.model.message import Message
from healthcheck.model.vitals_mfu import BudgetQuestion, CollectiveBudget, Dtype, MeasuredBusbw
from healthcheck.vitals.budget import budget, gradient_bytes, traffic_bytes
from healthcheck.vitals.link_bandwidth import measured_busbw

GIB = 1 << 30
PLAIN = BudgetQuestion(ranks=128, params=13e9, busbw_gbyte_s=200, step_time_s=2.4)


def codes(found: CollectiveBudget) -> set[str]:
    return {note.code for note in found.notes}


def test_13b_over_128_gpus_at_200_gbyte_s() -> None:
    found = budget(PLAIN)
    assert found.gradient_bytes == 26e9
    assert found.collective_s == pytest.approx(0.2580, abs=0.00005)
    assert found.share == pytest.approx(0.107, abs=0.0005)
    assert found.needed_busbw_gbyte_s == pytest.approx(143.3, abs=0.05)
    assert found.exit_code == 0 and not found.notes


def test_the_needed_busbw_keeps_the_target() -> None:
    needed = budget(PLAIN).needed_busbw_gbyte_s
    assert needed is not None
    again = BudgetQuestion(ranks=128, params=13e9, busbw_gbyte_s=needed, step_time_s=2.4)
    assert budget(again).share == pytest.approx(0.15)


def test_the_factor_is_that_of_nccl_tests_and_applied_once() -> None:
    """A table of nccl-tests: size / time x 2(n-1)/n is its busbw, so a busbw gives the time of that size back."""
    size, time_s, ranks = 8 * GIB, 0.0893, 16
    busbw = size / time_s / 1e9 * 2 * (ranks - 1) / ranks
    found = budget(BudgetQuestion(ranks=ranks, gradient_bytes=size, busbw_gbyte_s=busbw))
    assert found.collective_s == pytest.approx(time_s)


@pytest.mark.parametrize(
    ("stage", "gradients", "parameters", "times"),
    [(0, 1, 1, 1), (1, 1, 1, 1), (2, 1, 1, 1), (3, 1, 1, 1.5), (1, 2, 1, 1.5), (3, 2, 1, 2)],
)
def test_zero_stages_against_one_all_reduce(stage: int, gradients: float, parameters: float, times: float) -> None:
    assert traffic_bytes(gradients, parameters, 128, stage) == pytest.approx(times * traffic_bytes(1, 1, 128, 0))


def test_fp32_gradients_double_it_and_parallel_ranks_divide_it() -> None:
    assert gradient_bytes(13e9, 1, 1, Dtype.FP32) == 52e9
    assert gradient_bytes(13e9, 4, 2, Dtype.BF16) == 26e9 / 8


def test_a_time_from_a_trace_has_an_effective_busbw_and_a_share() -> None:
    found = budget(BudgetQuestion(ranks=128, params=13e9, collective_s=0.452, step_time_s=0.960))
    assert found.share == pytest.approx(0.471, abs=0.0005)
    assert found.busbw_gbyte_s == pytest.approx(26 * 2 * 127 / 128 / 0.452)


def test_the_51_percent_task_of_the_article_is_47_percent_by_its_own_table() -> None:
    """452 of 960 ms."""
    found = budget(BudgetQuestion(collective_s=0.452, step_time_s=0.960, claimed_share=0.51))
    assert found.share is not None and round(100 * found.share) == 47
    assert codes(found) == {"mfu.note.does_not_follow"}
    assert codes(budget(BudgetQuestion(collective_s=0.452, step_time_s=0.960, claimed_share=0.47))) == {
        "mfu.note.follows"
    }


def test_without_a_busbw_it_says_which_one_is_needed() -> None:
    found = budget(BudgetQuestion(ranks=128, params=13e9, step_time_s=2.4))
    assert (found.collective_s, found.share, found.busbw_gbyte_s) == (None, None, None)
    assert found.needed_busbw_gbyte_s == pytest.approx(143.3, abs=0.05)


def test_one_gpu_has_nobody_to_reduce_with() -> None:
    found = budget(BudgetQuestion(ranks=1, params=13e9, busbw_gbyte_s=200, step_time_s=2.4))
    assert (found.collective_s, found.share) == (0, 0)
    assert found.needed_busbw_gbyte_s is None
    assert "budget.note.nothing" in codes(found)
    assert budget(BudgetQuestion(ranks=1, params=13e9, collective_s=1, step_time_s=2)).busbw_gbyte_s is None


def test_more_than_the_step_is_said() -> None:
    assert "budget.note.above" in codes(budget(BudgetQuestion(ranks=8, params=13e9, busbw_gbyte_s=1, step_time_s=1)))
    assert "budget.note.above.measured" in codes(budget(BudgetQuestion(collective_s=2, step_time_s=1)))


def test_tensor_parallel_ranks_of_a_node_share_its_nics() -> None:
    found = budget(BudgetQuestion(ranks=16, tp=8, params=13e9, busbw_gbyte_s=200))
    assert "budget.note.tensor" in codes(found)


# --- the busbw of a check-up ---


def row(size: int, busbw: float | None) -> CollectiveRow:
    half = Placement(1.0, busbw, busbw)
    return CollectiveRow(size, None, "float", "sum", -1, half, half)


def job(name: str, stage: str, hosts: tuple[str, ...], busbw: float | None, verdict: str | None = "PASS") -> DigestJob:
    rows = (row(GIB, busbw), row(8 * GIB, busbw), row(64, 0.1))
    return DigestJob(name, stage, "all_reduce", hosts, 8 * len(hosts), verdict, rows)


def run(*jobs: DigestJob, hosts: tuple[str, ...] = ("a", "b", "c"), simulated: bool = False) -> RunDigest:
    return RunDigest(
        "20260314T021503Z-abcd",
        "complete",
        "PASS",
        simulated,
        "2026-03-14T02:15:03Z",
        None,
        DigestPlaybook("quick"),
        hosts=tuple(DigestHost(host, "PASS") for host in hosts),
        jobs=jobs,
        healthy_hosts=hosts,
    )


ALONE = tuple(job(f"single.{host}", "single_node", (host,), busbw) for host, busbw in (("a", 230.0), ("b", 220.0)))


def found_in(digest: RunDigest, gpus: int) -> MeasuredBusbw:
    found = measured_busbw(digest, gpus)
    assert isinstance(found, MeasuredBusbw)
    return found


def test_a_check_up_gives_the_busbw_between_nodes_of_its_last_set() -> None:
    slow = job("multi", "multi_node", ("a", "b", "c"), 90.0, "FAIL")
    proven = job("verify", "multi_node", ("a", "b"), 190.0)
    found = found_in(run(*ALONE, slow, job("pair", "localise", ("a", "c"), 40.0, None), proven), 128)
    assert (found.job, found.gbyte_s, found.hosts, found.ranks) == ("verify", 190.0, 2, 16)
    assert found.sizes_bytes == (GIB, 8 * GIB)
    assert found_in(run(*ALONE, slow), 128).verdict == "FAIL"


def test_repeats_are_one_job_and_its_worst_verdict() -> None:
    jobs = [
        job(f"multi.{n}", "multi_node", ("a", "b"), busbw, verdict)
        for n, (busbw, verdict) in enumerate([(100.0, "PASS"), (200.0, "DEGRADED"), (120.0, "PASS")])
    ]
    found = found_in(run(*jobs), 128)
    assert (found.gbyte_s, found.verdict) == (120.0, "DEGRADED")


def test_a_training_inside_one_node_takes_the_slowest_healthy_node() -> None:
    proven = job("multi", "multi_node", ("a", "b"), 190.0)
    assert found_in(run(*ALONE, proven), 8).job == "single.b"
    assert found_in(run(*ALONE, proven), 9).job == "multi"
    sick = job("single.c", "single_node", ("c",), 20.0, "FAIL")
    healthy = run(*ALONE, sick, proven, hosts=("a", "b"))
    assert found_in(healthy, 8).job == "single.b"


@pytest.mark.parametrize(
    ("digest", "code"),
    [
        (run(), "budget.unmeasured.none"),
        (run(*ALONE), "budget.unmeasured.between"),
        (run(job("multi", "multi_node", ("a", "b"), None, "FAIL")), "budget.unmeasured.none"),
        (run(job("pair", "localise", ("a", "b"), 100.0, None)), "budget.unmeasured.none"),
    ],
)
def test_a_check_up_that_measured_nothing_between_nodes_gives_none(digest: RunDigest, code: str) -> None:
    why = measured_busbw(digest, 128)
    assert isinstance(why, Message) and why.code == code
    found = budget(BudgetQuestion(ranks=128, params=13e9, unmeasured=why, step_time_s=2.4))
    assert found.exit_code == 3 and found.collective_s is None
    assert found.needed_busbw_gbyte_s is not None


def test_what_was_measured_is_said_with_job_size_and_caveats() -> None:
    slow = job("multi", "multi_node", ("a", "b"), 90.0, "FAIL")
    measured = found_in(run(slow, simulated=True), 128)
    found = budget(BudgetQuestion(ranks=128, params=13e9, measured=measured))
    assert found.simulated
    said = str(found.source)
    assert "job multi of run 20260314T021503Z-abcd" in said and "median of 1 GiB to 8 GiB" in said
    assert {"budget.note.simulated", "budget.note.verdict", "budget.note.ranks"} <= codes(found)
