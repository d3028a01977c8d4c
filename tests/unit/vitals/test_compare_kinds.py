"""Two calculations of MFU, and documents of two kinds: what may not be held together at all."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from healthcheck.model.vitals_mfu import Formula, ModelShape
from tests.unit.vitals.comparing import SAME, WORSE, by_name, held, told, ways
from tests.vitals_documents import a_log, an_answer


def test_mfu_of_two_formulas_or_peaks_is_never_compared() -> None:
    assert ways(held(an_answer(0.42), an_answer(0.38)))["mfu"] is WORSE
    assert ways(held(an_answer(0.420), an_answer(0.415)))["mfu"] is SAME
    for other in (an_answer(0.38, formula=Formula.SIX_N), an_answer(0.38, peak=989.0)):
        assert "mfu" not in by_name(held(an_answer(0.42), other))
    assert held(an_answer(0.42), an_answer(0.38, peak=989.0)).exit_code == 3


def test_mfu_of_two_models_is_compared_and_their_speed_is_not() -> None:
    found = held(an_answer(0.42), an_answer(0.38, params=70e9))
    assert set(by_name(found)) == {"mfu"} and "parameters: 1.3e+10 before, 7e+10 now" in told(found)


def test_speed_over_other_numbers_of_gpus_is_told_per_gpu() -> None:
    found = held(an_answer(0.42), an_answer(0.42, gpus=64, tokens_per_s=150_000.0))
    assert ways(found)["tokens_per_gpu"] is WORSE and "number of GPUs: 32 before, 64 now" in told(found)


UNSAID: dict[str, tuple[dict[str, object], str, str]] = {
    "peak": ({"peak": None}, "peak: one of them does not say it", "MFU: not both have a peak"),
    "gpus": ({"gpus": None}, "number of GPUs: one of them does not say it", "what a step is of (number of GPUs)"),
    "batch": ({"tokens_per_step": None}, "tokens of a step: one of them does not say", "what a step is of (tokens of"),
    "params": (
        {"shape": ModelShape(seq_len=4096)},
        "parameters: one of them does not say it",
        "not both say which model and which GPU",
    ),
    "layers": (
        {"shape": ModelShape(params=13e9, seq_len=4096, layers=40)},
        "shape of the model: one of them does not say it",
        "not both say which model and which GPU",
    ),
}


@pytest.mark.parametrize(("other", "unsaid", "not_compared"), UNSAID.values(), ids=UNSAID)
def test_what_one_calculation_does_not_say_is_no_change(
    other: dict[str, object], unsaid: str, not_compared: str
) -> None:
    full = replace(an_answer(0.42), step_time_s=2.0, tokens_per_step=2e6)
    less = replace(full, **other)
    for found in (held(full, less), held(less, full)):
        assert unsaid in told(found) and not_compared in told(found)
        assert " before, " not in told(found) and "another" not in " ".join(map(str, found.differs))
        assert "step_time" not in by_name(found)


def test_the_step_of_other_work_is_not_compared_and_says_so() -> None:
    full = replace(an_answer(0.42), step_time_s=2.0, tokens_per_step=2e6)
    found = held(full, replace(full, tokens_per_step=4e6))
    assert "step_time" not in by_name(found) and "another amount of work (tokens of a step)" in told(found)
    assert ways(held(full, full))["step_time"] is SAME


def test_calculations_without_a_gpu_are_not_called_of_two_gpus() -> None:
    blind = replace(an_answer(0.42), peak=None, mfu=None)
    assert "another GPU" not in told(held(blind, blind)) and "two peaks" not in told(held(blind, blind))


def test_a_refused_mfu_is_not_compared_and_the_reason_stands_there() -> None:
    found = held(an_answer(0.42), an_answer(None))
    assert "mfu" not in by_name(found) and "MFU of AFTER: an MFU above 1 cannot be" in told(found)


def test_two_kinds_are_refused() -> None:
    with pytest.raises(ValueError, match="two kinds"):
        held(a_log(), an_answer())
