"""Two documents side by side: what moved beyond noise, and what may not be held together at all."""

from __future__ import annotations

import numpy as np
import pytest
from msgspec.structs import replace

from healthcheck.model.comparison import Answer
from healthcheck.model.message import phrase, say
from healthcheck.model.training import Framework
from healthcheck.model.vitals_document import VitalsDocument
from healthcheck.model.vitals_log import LogVitals, Loss, LossKind, Printed
from healthcheck.model.vitals_trace import GRAPHS, RankTrace
from tests.unit.vitals.comparing import BETTER, SAME, WORSE, by_name, held, told, ways
from tests.vitals_documents import DAY_S, a_collective, a_log, a_rank, a_trace

# Logs.


def test_a_slower_step_is_worse_and_the_mirror_of_it_better() -> None:
    before, after = a_log(), a_log(median_s=2.2, tokens_per_s=910_000.0)
    found = held(before, after)
    assert (found.answer, found.exit_code) == (Answer.WORSE, 4)
    assert ways(found) == {"step_time": WORSE, "tokens_per_s": WORSE, "goodput": SAME, "spread": SAME}
    assert by_name(found)["step_time"].change == pytest.approx(0.10)
    back = held(after, before)
    assert (back.answer, back.exit_code) == (Answer.BETTER, 0) and ways(back)["step_time"] is BETTER


def test_the_same_document_twice_is_the_same_and_is_said_to_be() -> None:
    found = held(a_log(), a_log())
    assert (found.answer, found.exit_code) == (Answer.SAME, 0) and "same document" in told(found)


def bars(spread: float, reports: int) -> dict[str, float]:
    """From where on a change of two logs that scatter alike counts."""
    found = held(a_log(spread=spread, reports=reports), a_log(spread=spread, reports=reports))
    return {name: one.noise.bar for name, one in by_name(found).items()}


def test_the_bar_of_step_time_is_three_times_what_two_logs_of_one_training_differ_by() -> None:
    reports, logs, sigma = 200, 4000, 0.1
    steps = np.sort(np.random.default_rng(5).normal(2.0, 2.0 * sigma, (2, logs, reports)), axis=2)
    medians, p95s = np.median(steps, axis=2), steps[:, :, int(0.95 * reports) - 1]
    spreads = (p95s - medians) / medians
    found = bars(float(np.median(spreads)), reports)
    assert found["step_time"] == pytest.approx(3 * np.std((medians[1] - medians[0]) / medians[0]), rel=0.05)
    assert found["spread"] == pytest.approx(3 * np.std(spreads[1] - spreads[0]), rel=0.05)


def test_noise_grows_with_the_spread_and_shrinks_with_the_reports_down_to_a_floor() -> None:
    assert bars(0.02, 1000)["step_time"] == 0.02
    assert bars(0.2, 10)["step_time"] > bars(0.2, 100)["step_time"] > bars(0.1, 100)["step_time"]
    few = held(a_log(spread=0.2, reports=10), a_log(spread=0.2, reports=10, median_s=2.2, tokens_per_s=910_000.0))
    assert few.answer is Answer.SAME


def test_the_floor_can_be_set() -> None:
    before, after = a_log(), a_log(median_s=2.03, tokens_per_s=985_000.0)
    assert held(before, after).answer is Answer.SAME
    assert held(before, after, 0.01).answer is Answer.WORSE


def test_a_few_slow_steps_in_both_hide_no_step_that_became_slower() -> None:
    # One step in twelve takes six times as long, so p95 is 500 % above the median; all others are alike.
    def log(median_s: float, reports: int = 60) -> LogVitals:
        found = a_log(spread=5.0, reports=reports, median_s=median_s, tokens_per_s=2e6 / median_s)
        assert found.step_time is not None
        return replace(found, step_time=replace(found.step_time, p10_s=0.99 * median_s))

    assert ways(held(log(2.0), log(2.9)))["step_time"] is WORSE
    assert by_name(held(log(2.0), log(2.0)))["step_time"].noise.bar == 0.02
    assert (
        by_name(held(log(2.0, 5), log(2.0, 5)))["step_time"].noise.bar > 1
    )  # too few to say on which side they scatter


def test_other_gpus_leave_numbers_per_gpu_and_no_step_time() -> None:
    found = held(a_log(), a_log(gpus=64, tokens_per_s=1_900_000.0))
    assert {"step_time", "tokens_per_s"}.isdisjoint(by_name(found))
    assert by_name(found)["tokens_per_gpu"].change == pytest.approx(-0.05) and found.exit_code == 4
    assert "number of GPUs: 32 before, 64 now" in told(found)


@pytest.mark.parametrize(
    ("other", "why"),
    [
        (a_log(params=70e9), "another model"),
        (a_log(seq_len=8192), "another sequence length"),
        (a_log(gpu="NVIDIA H100 80GB HBM3"), "another GPU"),
    ],
    ids=("model", "sequence", "gpu"),
)
def test_another_model_sequence_or_gpu_leaves_nothing_of_the_speed(other: LogVitals, why: str) -> None:
    found = held(a_log(gpu="NVIDIA A100-SXM4-80GB"), other)
    assert {"step_time", "tokens_per_s", "tokens_per_gpu"}.isdisjoint(by_name(found))
    assert (found.answer, found.exit_code) == (Answer.INCOMPLETE, 3) and why in told(found)


def test_another_batch_is_another_step_and_the_same_tokens() -> None:
    found = held(a_log(), a_log(global_batch=1024, median_s=4.0))
    assert "step_time" not in by_name(found) and ways(found)["tokens_per_s"] is SAME
    assert "global batch: 512 before, 1024 now" in told(found)


def test_a_fact_that_one_does_not_say_is_taken_for_the_same_and_told() -> None:
    found = held(a_log(), a_log(global_batch=None))
    assert "global batch: one of them does not say it" in told(found) and "step_time" in by_name(found)
    found = held(a_log(gpu="H100"), a_log())
    assert "GPU: one of them does not say it" in told(found) and ways(found)["step_time"] is SAME


@pytest.mark.parametrize(
    ("versions", "frameworks", "compared"),
    [
        (("0.12", "0.12"), (Framework.MEGATRON, Framework.MEGATRON), True),
        (("0.8", "0.12"), (Framework.MEGATRON, Framework.MEGATRON), False),
        ((None, None), (Framework.MEGATRON, Framework.MEGATRON), False),
        (("1", "1"), (Framework.MEGATRON, Framework.TORCHTITAN), False),
    ],
    ids=("same version", "two versions", "not said", "two frameworks"),
)
def test_printed_tflops_are_compared_of_one_version_only(
    versions: tuple[str | None, str | None], frameworks: tuple[Framework, Framework], compared: bool
) -> None:
    sides = [
        replace(a_log(version=version, framework=framework), printed=Printed(tflops, 0.4, None, None))
        for version, framework, tflops in zip(versions, frameworks, (140.0, 100.0), strict=True)
    ]
    found = held(sides[0], sides[1])
    assert ("printed" in by_name(found)) is compared
    assert (found.answer is Answer.WORSE) is compared
    assert compared or "TFLOP/s and MFU as printed" in told(found)


def test_mfu_of_another_basis_is_not_compared() -> None:
    same = held(a_log(mfu=0.42), a_log(mfu=0.38))
    assert ways(same)["mfu"] is WORSE
    other = held(a_log(mfu=0.42), replace(a_log(mfu=0.38), mfu_basis=phrase("formula 6n, A100, bf16")))
    assert "mfu" not in by_name(other) and "MFU: by another formula" in told(other)


def lost(share: float, count: int, kind: LossKind = LossKind.RESTART) -> LogVitals:
    log = a_log(goodput=1 - share)
    assert log.goodput is not None
    return replace(log, goodput=replace(log.goodput, losses=(Loss(kind, share * DAY_S, count),)))


def test_one_restart_more_or_less_is_luck_and_many_are_not() -> None:
    assert ways(held(lost(0.05, 1), lost(0.10, 1)))["goodput"] is SAME
    many = held(lost(0.05, 40), lost(0.20, 160))
    assert ways(many)["goodput"] is WORSE and ways(many)["loss"] is WORSE
    assert str(by_name(many)["loss"].of) and many.answer is Answer.WORSE


def test_goodput_without_a_clock_is_not_compared() -> None:
    log = a_log()
    assert log.goodput is not None
    found = held(log, replace(log, goodput=replace(log.goodput, wall_clock=False)))
    assert "goodput" not in by_name(found) and "goodput: one of them has none" in told(found)


def test_means_of_several_steps_are_no_spread() -> None:
    found = held(a_log(), a_log(interval_means=True, spread=0.5))
    assert "spread" not in by_name(found) and "means of several steps" in told(found)


def test_logs_the_wrong_way_round_are_told() -> None:
    assert "other way round" in told(held(a_log(began_s=2e9), a_log(began_s=1e9)))


def test_a_log_without_steady_steps_says_nothing_of_the_speed() -> None:
    found = held(a_log(), replace(a_log(), step_time=None, rate=None))
    assert found.exit_code == 3 and "AFTER has no steady steps" in told(found)
    few = held(replace(a_log(), exit_code=3), a_log(median_s=2.2))  # of so few that vitals log said nothing
    assert few.exit_code == 3 and "BEFORE has no steady steps" in told(few)


# Profiles.


def four(exposed: float, step_s: float = 2.0) -> tuple[RankTrace, ...]:
    return tuple(a_rank(number, exposed=exposed, step_s=step_s, jitter=0.005) for number in range(4))


def test_time_that_waits_for_communication_is_judged_in_seconds_of_a_step() -> None:
    found = held(a_trace(*four(0.1)), a_trace(*four(0.2, 2.2)))
    assert ways(found)["step_time"] is WORSE and ways(found)["exposed"] is WORSE
    assert by_name(found)["exposed"].change == pytest.approx((0.2 * 2.2 - 0.1 * 2.0) / 2.0, rel=0.02)


def test_a_share_that_rises_because_all_else_got_faster_is_not_worse() -> None:
    before, after = a_trace(*four(0.20, 2.0)), a_trace(*four(0.25, 1.6))
    found = held(before, after)
    assert (ways(found)["exposed"], found.answer) == (SAME, Answer.BETTER)


def test_profiles_of_another_number_of_gpus_are_compared_by_shares() -> None:
    before, after = a_trace(*four(0.1)), a_trace(*four(0.3), world_size=64)
    found = held(before, after)
    assert "step_time" not in by_name(found) and ways(found)["exposed"] is WORSE
    assert by_name(found)["exposed"].change == pytest.approx(0.2) and "another number of GPUs" in told(found)


def test_a_number_of_gpus_that_one_profile_does_not_say_is_no_other_number() -> None:
    for worlds in ((None, 32), (32, None)):
        before, after = (a_trace(*four(0.1), world_size=world) for world in worlds)
        found = held(before, after)
        assert "step_time" not in by_name(found) and ways(found)["exposed"] is SAME
        assert "number of GPUs: one of them does not say it" in told(found)
        assert "another number of GPUs" not in told(found)
    assert ways(held(a_trace(*four(0.1), world_size=None), a_trace(*four(0.1), world_size=None)))["step_time"] is SAME


def test_a_part_that_one_profile_does_not_show_is_told() -> None:
    found = held(a_trace(a_rank(0, data_loading=0.01)), a_trace(a_rank(0, data_loading=None)))
    assert "data_loading" not in by_name(found) and "waiting for data: known in one of them only" in told(found)


def test_profiles_of_two_profilers_are_compared_by_their_collectives_alone() -> None:
    uses = (a_collective(180.0),), (a_collective(120.0),)
    before = a_trace(*four(0.1), collectives=uses[0])
    found = held(before, a_trace(*four(0.3), collectives=uses[1], source="nsys"))
    assert ways(found) == {"busbw": WORSE} and "two profilers" in told(found)


def test_profiles_of_other_gpus_are_not_compared() -> None:
    found = held(a_trace(a_rank(0, gpu="A100")), a_trace(a_rank(0, gpu="H100")))
    assert (found.answer, found.exit_code, found.metrics) == (Answer.INCOMPARABLE, 3, ())


def test_one_profiled_step_shows_no_scatter() -> None:
    found = held(a_trace(a_rank(0, steps=1)), a_trace(a_rank(0, steps=1, step_s=2.08)))
    assert (ways(found)["step_time"], by_name(found)["step_time"].noise.bar) == (SAME, 0.05)


def test_busbw_with_the_waiting_inside_is_not_compared() -> None:
    def of(busbw: float, **other: object) -> VitalsDocument:
        return a_trace(a_rank(0), collectives=(a_collective(busbw, **other),))

    assert ways(held(of(180.0), of(150.0)))["busbw"] is WORSE
    assert ways(held(of(180.0), of(175.0)))["busbw"] is SAME
    for some in (of(90.0, ranks=1), of(90.0, ranks=8)):
        assert "busbw" not in by_name(held(of(180.0), some)) and "busbw" not in by_name(held(some, some))
        assert "lack ranks of the group" in told(held(some, some))
    assert "all_reduce (1): not in AFTER" in told(held(of(180.0), of(180.0, size_bytes=1 << 28)))
    few = held(of(180.0, calls=3), of(166.0, calls=3))
    assert (by_name(few)["busbw"].noise.bar, ways(few)["busbw"]) == (0.10, SAME)


def test_communication_that_one_does_not_count_is_not_held_against_the_other() -> None:
    found = held(a_trace(*four(0.1)), a_trace(*four(0.3), lower_bound=True))
    assert "exposed" not in by_name(found) and "not NCCL" in told(found)


def test_a_profile_without_a_kernel_is_not_comparable() -> None:
    found = held(a_trace(a_rank(0)), a_trace())
    assert found.answer is Answer.INCOMPARABLE and "AFTER holds no kernel" in told(found)
    hidden = replace(a_trace(), missing=(say(GRAPHS, percent=60.0),))
    assert "AFTER holds CUDA graphs as one block each" in told(held(a_trace(a_rank(0)), hidden))
