"""Whose number a sign is, and when there is none: what is not known stays unknown, with the reason."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from msgspec.structs import replace

from healthcheck.diagnosis.joint.answer import diagnose
from healthcheck.diagnosis.joint.given import Given
from healthcheck.diagnosis.joint.training_signs import TrainingDocuments
from healthcheck.model.joint import Joint, Level, Match, Question, Seen, Sign
from healthcheck.model.message import say
from healthcheck.model.record import RunRecord
from healthcheck.model.training import Framework, LogRemark
from healthcheck.model.verdict import Verdict
from healthcheck.model.vitals_log import Loss, LossKind, Printed
from healthcheck.model.vitals_trace import GRAPHS
from tests.golden.records import healthy, interrupted, sick
from tests.vitals_documents import DAY_S, a_collective, a_log, a_rank, a_trace, an_answer

RECORDED = datetime(2026, 3, 14, 2, 15, 3, tzinfo=UTC).timestamp()


def told(training: TrainingDocuments, record: RunRecord | None = None, hosts: tuple[str, ...] | None = None) -> Joint:
    return diagnose(Given(training, record=record, record_named="reports/run", hosts=hosts))


def sign(joint: Joint, which: Sign) -> Seen:
    return next(one for one in joint.seen if one.sign is which)


def answer(joint: Joint, question: Question) -> Match:
    return next(match for match in joint.matches if match.question is question)


def test_the_calculator_is_believed_before_the_log_and_the_log_before_what_the_framework_prints() -> None:
    log = a_log(mfu=0.31, printed_mfu=0.5)
    assert sign(told(TrainingDocuments(log=log, mfu=an_answer(0.42))), Sign.MFU).value == 0.42
    assert sign(told(TrainingDocuments(log=log)), Sign.MFU).value == 0.31
    printed = sign(told(TrainingDocuments(log=replace(log, mfu=None))), Sign.MFU)
    assert printed.value == 0.5 and "as the framework prints it" in str(printed.basis)


def test_a_refused_mfu_is_unknown_though_the_log_prints_one() -> None:
    found = sign(told(TrainingDocuments(log=a_log(printed_mfu=0.5), mfu=an_answer(None))), Sign.MFU)
    assert (found.value, found.level) == (None, Level.UNKNOWN) and "above 1 cannot be" in str(found.basis)


def test_a_printed_mfu_over_the_peak_of_another_gpu_is_unknown() -> None:
    # torchtitan on a GPU it does not know: 150 TFLOP/s are 48 % of 312, and 15 % of what an H100 can do.
    log = a_log(printed_mfu=0.48)
    over = {peak: replace(log, printed=Printed(150.0, 0.48, 312.0, None, peak)) for peak in (312.0, 989.0, None)}
    found = {peak: sign(told(TrainingDocuments(log=each)), Sign.MFU) for peak, each in over.items()}
    assert found[312.0].value == 0.48 and found[None].value == 0.48
    assert found[989.0].level is Level.UNKNOWN and "a peak of 312 TFLOP/s" in str(found[989.0].basis)


def test_the_mfu_of_nanogpt_counts_only_where_the_gpu_is_known_to_be_an_a100() -> None:
    log = a_log(printed_mfu=0.48, framework=Framework.NANOGPT)
    unnamed = sign(told(TrainingDocuments(log=replace(log, printed=Printed(None, 0.48, 312.0, None)))), Sign.MFU)
    assert unnamed.level is Level.UNKNOWN and "--gpu" in str(unnamed.basis)
    on_a100 = replace(log, printed=Printed(None, 0.48, 312.0, None, 312.0))
    assert sign(told(TrainingDocuments(log=on_a100)), Sign.MFU).value == 0.48


def test_a_printed_mfu_beside_inputs_that_cannot_be_is_unknown() -> None:
    refused = say("mfu.refused.above", tflops=2_000.0, dtype="BF16", gpu="A100", peak=312.0, mfu=6.4)
    log = replace(a_log(printed_mfu=0.5), remarks=(LogRemark(refused, 0),))
    found = sign(told(TrainingDocuments(log=log)), Sign.MFU)
    assert found.level is Level.UNKNOWN and "inconsistent" in str(found.basis)


def test_an_impossible_printed_mfu_is_unknown() -> None:
    found = sign(told(TrainingDocuments(log=a_log(printed_mfu=5.63))), Sign.MFU)
    assert found.level is Level.UNKNOWN and "563.0 %" in str(found.basis)


def test_the_30_percent_rule_is_applied_to_what_nothing_hides() -> None:
    # HTA's control trace: 34.6 % collective, of which 18.3 % exposed, is not bound by communication.
    joint = told(
        TrainingDocuments(trace=a_trace(a_rank(0, exposed=0.183, collective=0.346)), mfu=an_answer(0.2)), healthy()
    )
    assert answer(joint, Question.STEP).rule == "mixed"
    assert {one.sign for one in answer(joint, Question.STEP).because} >= {Sign.EXPOSED, Sign.COLLECTIVE}


def test_a_share_that_misses_communication_says_something_only_where_it_is_high_already() -> None:
    little = told(TrainingDocuments(trace=a_trace(a_rank(0, exposed=0.1), lower_bound=True), mfu=an_answer(0.2)))
    assert sign(little, Sign.EXPOSED).level is Level.UNKNOWN
    assert "at least 10.0 %" in str(sign(little, Sign.EXPOSED).basis)
    assert answer(little, Question.STEP).rule == "low_mfu_alone"
    much = told(TrainingDocuments(trace=a_trace(a_rank(0, exposed=0.4), lower_bound=True)))
    assert sign(much, Sign.EXPOSED).level is Level.HIGH and "or more" in str(sign(much, Sign.EXPOSED).basis)
    assert sign(little, Sign.IDLE).level is Level.LOW


def test_the_rank_that_waits_least_is_named_as_the_late_one() -> None:
    ranks = [a_rank(number, exposed=0.30) for number in range(7)] + [a_rank(7, exposed=0.05)]
    joint = told(TrainingDocuments(trace=a_trace(*ranks)))
    found = sign(joint, Sign.RANK_SPREAD)
    assert found.value == pytest.approx(0.95 / 0.70 - 1) and "rank 7 " in str(found.basis)
    assert answer(joint, Question.EVENNESS).rule == "straggler"
    assert sign(told(TrainingDocuments(trace=a_trace(a_rank(0)))), Sign.RANK_SPREAD).level is Level.UNKNOWN


def test_goodput_names_what_it_was_lost_to_and_without_a_clock_it_is_unknown() -> None:
    log = a_log(goodput=0.7)
    assert log.goodput is not None
    losses = (Loss(LossKind.REDONE, 0.2 * DAY_S, 3, 400), Loss(LossKind.RESTART, 0.1 * DAY_S, 3))
    lost = replace(log, goodput=replace(log.goodput, losses=losses))
    redone, restart = say("training.loss.redone"), say("training.loss.restart")
    assert f"over 24 h 00 min; lost most to {redone} 20.0 % (3 times), {restart} 10.0 % (3 times)" in str(
        sign(told(TrainingDocuments(log=lost)), Sign.GOODPUT).basis
    )
    piece = replace(log, goodput=replace(log.goodput, share=0.99, window_s=46.0))
    short = sign(told(TrainingDocuments(log=piece)), Sign.GOODPUT)
    assert short.level is Level.UNKNOWN and "the log shows 46 s only (99 %" in str(short.basis)
    blind = replace(log, goodput=replace(log.goodput, wall_clock=False))
    found = sign(told(TrainingDocuments(log=blind)), Sign.GOODPUT)
    assert found.level is Level.UNKNOWN and "time of day" in str(found.basis)


def test_a_log_of_too_few_steps_says_nothing() -> None:
    log = a_log(mfu=0.4)
    found = told(TrainingDocuments(log=replace(log, exit_code=3)))
    for which in (Sign.MFU, Sign.GOODPUT, Sign.STEP_SPREAD):
        assert sign(found, which).level is Level.UNKNOWN
        assert sign(told(TrainingDocuments(log=log)), which).level is not Level.UNKNOWN


def test_steps_that_became_slow_for_good_are_not_even() -> None:
    log = a_log(spread=0.0, median_s=2.0)
    assert log.step_time is not None
    slowed = replace(log, step_time=replace(log.step_time, p10_s=1.0))
    found = sign(told(TrainingDocuments(log=slowed)), Sign.STEP_SPREAD)
    assert (found.value, found.level) == (1.0, Level.HIGH) and "faster at times" in str(found.basis)
    steady = replace(log, step_time=replace(log.step_time, p10_s=1.99))
    assert sign(told(TrainingDocuments(log=steady)), Sign.STEP_SPREAD).level is Level.LOW


def test_a_profile_that_slows_the_training_is_told() -> None:
    notes = told(TrainingDocuments(log=a_log(median_s=1.0), trace=a_trace(a_rank(0, step_s=1.3)))).notes
    assert any("30.0 % more" in str(note) for note in notes)
    assert not told(TrainingDocuments(log=a_log(median_s=1.0), trace=a_trace(a_rank(0, step_s=1.05)))).notes


def test_a_profile_whose_kernels_graphs_hide_is_not_called_one_without_kernels() -> None:
    refused = replace(a_trace(), step_s=2.0, missing=(say(GRAPHS, percent=60.0),))
    for trace, why in ((refused, "CUDA graphs as one block each"), (a_trace(), "holds no kernel")):
        found = sign(told(TrainingDocuments(trace=trace)), Sign.EXPOSED)
        assert found.level is Level.UNKNOWN and why in str(found.basis)


def test_a_recording_without_marked_steps_slows_none() -> None:
    recording = replace(a_rank(0, step_s=9.0), whole=True)
    assert not told(TrainingDocuments(log=a_log(median_s=1.0), trace=a_trace(recording))).notes


def test_without_a_record_the_links_are_not_known_and_nobody_asks_how_old_it_is() -> None:
    joint = told(TrainingDocuments(mfu=an_answer(0.2)))
    assert answer(joint, Question.LINKS).rule == "links_unmeasured" and joint.link_verdict is None
    assert not [match for match in joint.matches if match.question.value.startswith("record_")]


def test_the_record_gives_verdict_bandwidth_and_their_thresholds() -> None:
    joint = told(TrainingDocuments(log=a_log(gpus=64)), healthy())
    busbw = sign(joint, Sign.BUSBW)
    assert busbw.value == pytest.approx(191.8 / 200, abs=0.006) and (busbw.low, busbw.high) == (0.5, 0.7)
    assert joint.link_verdict == "PASS" and sign(joint, Sign.RECORD_COVER).value == 1.0


def test_a_training_that_fits_into_a_node_is_held_against_nodes_alone() -> None:
    busbw = sign(told(TrainingDocuments(log=a_log(gpus=8)), healthy()), Sign.BUSBW)
    assert busbw.value == pytest.approx(231.5 / 300, abs=0.006) and "single_node" in str(busbw.basis)


def test_named_nodes_are_read_alone() -> None:
    whole = told(TrainingDocuments(), sick())
    assert (whole.link_verdict, whole.exit_code) == ("FAIL", 1)
    assert answer(whole, Question.LINKS).rule == "links_failed"
    proven = told(TrainingDocuments(), sick(), ("node01", "node02", "node04", "node06"))
    assert proven.link_verdict == "PASS" and proven.exit_code != 1
    assert sign(proven, Sign.BUSBW).value == pytest.approx(191.9 / 200, abs=0.006)
    with_it = told(TrainingDocuments(), sick(), ("node01", "node05"))
    assert (with_it.link_verdict, sign(with_it, Sign.BUSBW).level) == ("FAIL", Level.LOW)
    open_end = told(TrainingDocuments(), sick(), ("node01", "node99"))
    assert open_end.link_verdict == "INCONCLUSIVE" and sign(open_end, Sign.RECORD_COVER).value == 0.5


def test_a_record_of_other_nodes_or_another_gpu_says_nothing_whatever_its_verdict() -> None:
    others = told(TrainingDocuments(), sick(), ("gpu001", "gpu002"))
    another = told(TrainingDocuments(log=a_log(gpu="NVIDIA H100 80GB HBM3")), sick())
    for joint in (others, another):
        assert joint.link_verdict is None and joint.exit_code != 1
        assert sign(joint, Sign.BUSBW).level is sign(joint, Sign.LINK_VERDICT).level is Level.UNKNOWN
    assert answer(others, Question.RECORD_COVER).rule == "record_of_others"
    assert answer(another, Question.RECORD_GPU).rule == "record_other_gpu"
    short = told(TrainingDocuments(log=a_log(gpu="A100")), sick())
    assert answer(short, Question.RECORD_GPU).rule == "record_gpu_unknown" and short.exit_code == 1
    same = told(TrainingDocuments(log=a_log(gpu="NVIDIA A100-SXM4-80GB")), sick())
    assert answer(same, Question.RECORD_GPU).rule == "record_same_gpu" and same.exit_code == 1


@pytest.mark.parametrize(
    ("began_s", "rule"),
    [
        (RECORDED + 2 * DAY_S, "record_recent"),
        (RECORDED - 0.5 * DAY_S, "record_recent"),
        (RECORDED + 15 * DAY_S, "record_weeks_apart"),
        (RECORDED + 40 * DAY_S, "record_old"),
        (RECORDED - 40 * DAY_S, "record_old"),
        (None, "record_age_unknown"),
    ],
)
def test_how_long_before_or_after_the_training_the_links_were_measured(began_s: float | None, rule: str) -> None:
    joint = told(TrainingDocuments(log=a_log(began_s=began_s)), healthy())
    assert answer(joint, Question.RECORD_AGE).rule == rule


def test_an_interrupted_record_and_one_of_fewer_gpus_keep_it_from_being_called_well() -> None:
    well = TrainingDocuments(log=a_log(gpus=64, began_s=RECORDED), mfu=an_answer(0.42, gpus=64))
    assert told(well, healthy()).exit_code == 0
    cut = told(well, interrupted())
    assert answer(cut, Question.RECORD_KIND).rule == "record_incomplete" and cut.exit_code == 3
    larger = told(TrainingDocuments(log=a_log(gpus=256, began_s=RECORDED), mfu=an_answer(0.42, gpus=256)), healthy())
    assert answer(larger, Question.RECORD_COVER).rule == "record_of_others" and larger.exit_code == 3


def test_a_collective_of_the_training_is_held_against_the_same_one_of_the_check_up() -> None:
    def of(*uses: object) -> Joint:
        return told(TrainingDocuments(trace=a_trace(a_rank(0), world_size=64, collectives=uses)), healthy())  # type: ignore[arg-type]

    slow = of(a_collective(70.0, group_size=64, size_bytes=8 << 30, ranks=4))
    assert sign(slow, Sign.EFFECTIVE).value == pytest.approx(70 / 192, abs=0.01)
    assert "at least that, for 4 of the 64 were profiled" in str(sign(slow, Sign.EFFECTIVE).basis)
    all_seen = of(a_collective(70.0, group_size=64, size_bytes=8 << 30, ranks=64))
    assert "at least" not in str(sign(all_seen, Sign.EFFECTIVE).basis)
    assert answer(slow, Question.EFFECTIVE).rule == "collectives_below_the_links"
    assert sign(of(a_collective(185.0, group_size=64, size_bytes=8 << 30)), Sign.EFFECTIVE).level is Level.HIGH
    for other in (
        a_collective(70.0, group_size=8),
        a_collective(70.0, group_size=64, size_bytes=1 << 20),
        a_collective(None, group_size=64),
        a_collective(70.0, group_size=64, name="all_gather"),
    ):
        assert sign(of(other), Sign.EFFECTIVE).level is Level.UNKNOWN


def test_exit_codes_follow_the_links_then_the_rules_then_what_is_not_known() -> None:
    well = TrainingDocuments(log=a_log(gpus=64, began_s=RECORDED), mfu=an_answer(0.42, gpus=64))
    assert told(well, replace(healthy(), verdict=Verdict.FAIL)).exit_code == 1
    assert told(replace(well, mfu=an_answer(0.2, gpus=64)), healthy()).exit_code == 4
    assert told(replace(well, log=a_log(goodput=None, gpus=64, began_s=RECORDED)), healthy()).exit_code == 3
    assert told(well, replace(healthy(), verdict=Verdict.DEGRADED)).exit_code == 4


def test_thresholds_that_were_asked_for_move_a_level_and_are_kept() -> None:
    given = Given(
        TrainingDocuments(mfu=an_answer(0.28)), thresholds={**Given(TrainingDocuments()).thresholds, "mfu.low": 0.3}
    )
    joint = diagnose(given)
    assert sign(joint, Sign.MFU).level is Level.LOW and sign(joint, Sign.MFU).low == 0.3
    assert joint.changed == ("mfu.low",) and joint.thresholds["mfu.low"] == 0.3
