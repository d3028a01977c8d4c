"""Documents that contradict each other are never called well: each is right by itself, but of another training."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from healthcheck.diagnosis.joint.answer import EXIT_UNKNOWN, EXIT_WELL, diagnose
from healthcheck.diagnosis.joint.given import Given
from healthcheck.diagnosis.joint.training_signs import TrainingDocuments
from healthcheck.model.joint import Joint, Level, Question, Seen, Sign
from healthcheck.model.message import say
from healthcheck.model.vitals_log import LogVitals
from healthcheck.model.vitals_mfu import MfuAnswer
from healthcheck.model.vitals_trace import TraceVitals
from healthcheck.reporting.joint import joint_line
from tests.golden.records import healthy
from tests.unit.diagnosis.joint.test_signs import RECORDED
from tests.vitals_documents import DAY_S, a_log, a_rank, a_trace, an_answer


def a_good_log(gpus: int = 32, gpu: str | None = None) -> LogVitals:
    return a_log(gpus=gpus, gpu=gpu, began_s=RECORDED - DAY_S)


def told(log: LogVitals | None, mfu: MfuAnswer | None, trace: TraceVitals | None = None) -> Joint:
    return diagnose(Given(TrainingDocuments(log=log, mfu=mfu, trace=trace), record=replace(healthy(), simulated=False)))


def sign(joint: Joint) -> Seen:
    return next(one for one in joint.seen if one.sign is Sign.DOCUMENTS)


def rule(joint: Joint) -> str:
    return next(match.rule for match in joint.matches if match.question is Question.DOCUMENTS)


def test_documents_that_agree_are_well() -> None:
    joint = told(a_good_log(), an_answer(0.42))
    assert (joint.exit_code, rule(joint)) == (EXIT_WELL, "documents_agree")


A_MODEL = an_answer(0.42)
CONTRADICTING = (
    (a_good_log(), an_answer(0.42, gpus=64), None, "GPUs (log 32, mfu 64)"),
    (a_good_log(), A_MODEL, a_trace(a_rank(0), a_rank(1), world_size=8), "GPUs (log 32, mfu 32, trace 8)"),
    (a_good_log(), an_answer(0.42, tokens_per_s=2.8e6), None, "tokens/s (log 1,000,000, mfu 2,800,000)"),
    (a_good_log(), replace(A_MODEL, step_time_s=1.0), None, "Step Time in s (log 2, mfu 1)"),
    (a_good_log(), an_answer(0.42, params=70e9), None, "parameters (log 13,000,000,000, mfu 70,000,000,000)"),
    (a_good_log(), an_answer(0.42, seq_len=8192), None, "sequence length (log 4,096, mfu 8,192)"),
    (a_good_log(), None, a_trace(a_rank(0, step_s=0.9)), "the step in s (log 2, trace 0.9)"),
    (a_good_log(), None, a_trace(a_rank(0, step_s=4.2)), "the step in s (log 2, trace 4.2)"),
    (a_good_log(gpu="NVIDIA H100 80GB HBM3"), an_answer(0.42, gpu="A100"), None, "model of GPU (log H100, mfu A100)"),
)


@pytest.mark.parametrize(("log", "mfu", "trace", "what"), CONTRADICTING, ids=[one[3] for one in CONTRADICTING])
def test_documents_of_two_trainings_are_not_called_well(
    log: LogVitals, mfu: MfuAnswer | None, trace: TraceVitals | None, what: str
) -> None:
    joint = told(log, mfu, trace)
    assert joint.exit_code == EXIT_UNKNOWN and rule(joint) == "documents_contradict"
    assert what in str(sign(joint).basis)


def test_a_pace_within_a_tenth_and_the_active_parameters_of_a_mixture_are_no_contradiction() -> None:
    near = an_answer(0.42, tokens_per_s=0.95e6, params=3e9)
    assert rule(told(a_good_log(), near)) == "documents_agree"


@pytest.mark.parametrize(
    ("step_s", "agree", "says"),
    [(1.9, True, ""), (2.1, True, ""), (1.5, False, "1.500 s, 25.0 % less than"), (2.6, False, "2.600 s, 30.0 % more")],
)
def test_what_a_profiler_may_cost_is_told_and_is_no_contradiction(step_s: float, agree: bool, says: str) -> None:
    joint = told(a_good_log(), None, a_trace(a_rank(0, step_s=step_s), world_size=None))
    assert rule(joint) == ("documents_agree" if agree else "documents_share_nothing")
    notes = [str(note) for note in joint.notes if note.code.startswith("joint.note.profile")]
    assert len(notes) == bool(says) and all(says in note for note in notes)


def test_the_time_of_everything_in_a_profile_is_no_step() -> None:
    whole = replace(a_rank(0, step_s=30.0), whole=True)
    joint = told(a_good_log(), None, a_trace(whole, world_size=None))
    assert rule(joint) == "documents_share_nothing"
    assert not [note for note in joint.notes if note.code.startswith("joint.note.profile")]


def test_a_rule_that_rests_on_documents_that_contradict_says_so_beside_its_numbers_and_on_the_line() -> None:
    joint = told(a_good_log(), an_answer(0.2), a_trace(a_rank(0, exposed=0.4, step_s=0.9)))
    step = next(match for match in joint.matches if match.question is Question.STEP)
    assert {Sign.MFU, Sign.EXPOSED, Sign.DOCUMENTS} <= {one.sign for one in step.because}
    idle = next(match for match in joint.matches if match.question is Question.WAITING)
    assert Sign.DOCUMENTS not in {one.sign for one in idle.because}
    assert joint_line(joint).startswith("SUSPECT ") and joint_line(joint).endswith("; documents differ")


def test_the_gpu_of_the_calculator_is_held_against_the_record_where_the_training_prints_none() -> None:
    joint = told(a_good_log(), an_answer(0.42, gpu="NVIDIA B200"))
    assert joint.exit_code == EXIT_UNKNOWN
    assert "record_other_gpu" in {match.rule for match in joint.matches}


def test_an_mfu_that_was_doubted_is_doubted_here_too() -> None:
    doubt = say("mfu.note.high", percent=80.0, limit=70.0)
    joint = told(a_good_log(), replace(an_answer(0.8), notes=(doubt,)))
    assert any("80.0 % is above 70 %" in str(note) for note in joint.notes)
    assert not [note for note in told(a_good_log(), an_answer(0.42)).notes if note.code == "joint.note.doubted"]


def test_one_document_alone_contradicts_nothing() -> None:
    joint = told(a_good_log(), None)
    assert (sign(joint).level, rule(joint)) == (Level.UNKNOWN, "documents_share_nothing")


def test_a_share_that_cannot_be_one_is_unknown() -> None:
    joint = told(a_log(goodput=1.5, began_s=RECORDED - DAY_S), an_answer(0.42), a_trace(a_rank(0, exposed=-0.5)))
    seen = {one.sign: one for one in joint.seen}
    assert seen[Sign.GOODPUT].level is seen[Sign.EXPOSED].level is Level.UNKNOWN
    assert "150.0 % cannot be" in str(seen[Sign.GOODPUT].basis) and joint.exit_code != EXIT_WELL
