"""What `vitals mfu` says where inputs contradict each other, are incomplete, or were printed by somebody."""

from __future__ import annotations

import pytest

from healthcheck.edge.gpu_peaks import shipped_peaks
from healthcheck.model.vitals_mfu import (
    MFU_SCHEMA,
    Dtype,
    Formula,
    MfuAnswer,
    MfuQuestion,
    ModelShape,
    Recompute,
)
from healthcheck.parsing.record_codec import decode_document, encode_document
from healthcheck.vitals.formulas import choose, missing, token_flops
from healthcheck.vitals.mfu import answer, later_mfu

ARTICLE = MfuQuestion(shape=ModelShape(params=13e9), gpus=100, gpu="A100", tokens_per_step=4e6, step_time_s=2.4)
LLAMA = ModelShape(params=8e9, layers=32, hidden=4096, seq_len=8192)


def answered(asked: MfuQuestion) -> MfuAnswer:
    return answer(asked, shipped_peaks())


def of_article(**changed: float) -> MfuAnswer:
    return answered(MfuQuestion(**{**{f: getattr(ARTICLE, f) for f in ARTICLE.__struct_fields__}, **changed}))


def codes(found: MfuAnswer) -> set[str]:
    return {note.code for note in found.notes}


def test_the_13b_example_of_the_article_is_refused() -> None:
    found = answered(ARTICLE)
    assert (found.mfu, found.hfu, found.exit_code) == (None, None, 2)
    assert found.achieved_tflops == pytest.approx(1300)
    why = str(found.refused)
    assert "1,300 TFLOP/s per GPU" in why and "above the dense BF16 peak of A100, 312" in why and "4.17" in why
    fits = [str(one) for one in found.would_fit]
    assert "at 40 % MFU a step takes 25.0 s" in fits
    assert "at 40 % MFU this pace needs 1,042 GPUs" in fits


@pytest.mark.parametrize(
    ("tokens", "peak", "mfu"), [(4e6, 312, "4.17"), (4 * 2**20, 312, "4.37"), (4e6, 990, "1.31"), (4e6, 1299, "1.00")]
)
def test_no_peak_of_an_a100_makes_it_fit(tokens: float, peak: float, mfu: str) -> None:
    found = of_article(tokens_per_step=tokens, peak_tflops=peak)
    assert found.exit_code == 2 and f"an MFU of {mfu}" in str(found.refused)


def test_what_would_fit_fits() -> None:
    assert of_article(step_time_s=25.0).mfu == pytest.approx(0.40, abs=0.0005)
    assert of_article(gpus=1042).mfu == pytest.approx(0.40, abs=0.0005)


def test_the_34b_case_of_the_article_becomes_33_and_not_41_percent() -> None:
    """Its model, GPUs and tokens are stated nowhere; the ratio of its step times is enough, for they did not change."""
    assert later_mfu(0.22, 3.6, 2.4) == pytest.approx(0.33)
    found = answered(MfuQuestion(was_mfu=0.22, was_step_time_s=3.6, step_time_s=2.4, claimed_mfu=0.41))
    assert found.mfu == pytest.approx(0.33)
    assert found.exit_code == 0
    assert codes(found) == {"mfu.note.does_not_follow.step"}
    assert "41 %" in str(found.notes[0]) and "1.93 s" in str(found.notes[0])
    assert codes(answered(MfuQuestion(was_mfu=0.22, was_step_time_s=3.6, step_time_s=2.4, claimed_mfu=0.33))) == {
        "mfu.note.follows"
    }


def test_a_whole_answer_says_what_the_mfu_was_before() -> None:
    found = of_article(step_time_s=25.0, was_step_time_s=50.0)
    assert found.mfu is not None and found.was_mfu == pytest.approx(found.mfu / 2)


def test_an_earlier_step_that_was_impossible_is_refused() -> None:
    found = of_article(step_time_s=25.0, was_step_time_s=5.0)
    assert found.refused is not None and found.refused.code == "mfu.refused.before"
    assert (found.mfu, found.was_mfu, found.exit_code) == (None, None, 2)


def test_an_impossible_pace_has_no_training_time() -> None:
    assert of_article(tokens_total=300e9).training_s is None
    assert of_article(tokens_total=300e9, step_time_s=25.0).training_s == pytest.approx(300e9 / 4e6 * 25)


def test_the_largest_shapes_stay_numbers_of_json() -> None:
    shape = ModelShape(layers=10**7, hidden=10**7, seq_len=10**9, vocab=10**7, heads=1, ffn_hidden=10**7)
    for formula in (Formula.MEGATRON, Formula.MEGATRON_GQA, Formula.MEGATRON_LOG):
        assert isinstance(token_flops(shape, formula).model, float)


def test_documents_are_read_back_as_they_were() -> None:
    for asked in (ARTICLE, MfuQuestion(model_tflops=200, gpu="H20", claimed_mfu=0.3)):
        found = answered(asked)
        data = encode_document(MFU_SCHEMA, found).encode()
        assert decode_document(data, "x", MfuAnswer, MFU_SCHEMA, "answer") == found


def test_a_ratio_above_1_is_refused_too() -> None:
    found = answered(MfuQuestion(was_mfu=0.5, was_step_time_s=10, step_time_s=1))
    assert found.mfu is None and found.exit_code == 2 and "5.00" in str(found.refused)


@pytest.mark.parametrize(
    ("gpu", "dtype", "code"),
    [
        ("NVIDIA L40", Dtype.BF16, "mfu.refused.gpu"),
        (None, Dtype.BF16, "mfu.refused.no_gpu"),
        ("A100", Dtype.FP8, "mfu.refused.lacks"),
        ("A100", Dtype.TF32, "mfu.refused.dtype"),
        ("V100-SXM2-32GB", Dtype.BF16, "mfu.refused.lacks"),
    ],
)
def test_without_a_known_peak_there_is_no_mfu_and_still_what_was_achieved(
    gpu: str | None, dtype: Dtype, code: str
) -> None:
    found = answered(MfuQuestion(shape=LLAMA, gpus=8, gpu=gpu, dtype=dtype, tokens_per_s=40_000))
    assert found.refused is not None and found.refused.code == code
    assert (found.mfu, found.peak, found.exit_code) == (None, None, 2)
    assert found.achieved_tflops is not None and found.achieved_tflops > 100


def test_an_mfu_that_fits_with_an_hfu_that_does_not() -> None:
    found = answered(MfuQuestion(model_tflops=270, gpu="A100", recompute=Recompute.FULL))
    assert found.refused is not None and found.refused.code == "mfu.refused.hardware"
    assert found.mfu is None and found.exit_code == 2


def test_above_70_percent_is_doubted() -> None:
    assert "mfu.note.high" in codes(answered(MfuQuestion(model_tflops=225, gpu="A100")))
    assert "mfu.note.high" not in codes(answered(MfuQuestion(model_tflops=215, gpu="A100")))
    assert "mfu.note.high" in codes(answered(MfuQuestion(model_tflops=215, gpu="A100", warn_above=0.5)))
    assert "mfu.note.low" in codes(answered(MfuQuestion(model_tflops=0.5, gpu="A100")))


@pytest.mark.parametrize(("peak", "code"), [(1979, "mfu.note.sparse"), (312, "mfu.note.peak"), (989.5, None)])
def test_a_peak_that_was_given_is_held_against_the_table(peak: float, code: str | None) -> None:
    found = answered(MfuQuestion(model_tflops=200, gpu="NVIDIA H100 80GB HBM3", peak_tflops=peak))
    assert found.peak is not None and found.peak.dense_tflops == peak
    assert codes(found) == ({code} if code else set())


@pytest.mark.parametrize(
    ("shape", "formula"),
    [
        (ModelShape(params=8e9), Formula.SIX_N),
        (ModelShape(params=8e9, layers=32), Formula.SIX_N),
        (LLAMA, Formula.PALM),
        (ModelShape(layers=32, hidden=4096, seq_len=2048, vocab=50_000), Formula.MEGATRON),
        (
            ModelShape(layers=32, hidden=4096, seq_len=2048, vocab=50_000, heads=32, kv_heads=8, ffn_hidden=14_336),
            Formula.MEGATRON_GQA,
        ),
        (ModelShape(params=47e9, experts_per_token=2), None),
        (ModelShape(params=47e9, active_params=13e9, experts_per_token=2), Formula.SIX_N),
        (ModelShape(layers=32, hidden=4096), None),
        (ModelShape(layers=32, hidden=4096, seq_len=2048, vocab=50_000, swiglu=True), None),
        (ModelShape(), None),
    ],
)
def test_the_formula_is_the_most_complete_one_for_what_is_given(shape: ModelShape, formula: Formula | None) -> None:
    assert choose(shape) is formula


def test_a_mixture_of_experts_counts_what_a_token_uses() -> None:
    asked = ModelShape(params=47e9, active_params=13e9)
    assert token_flops(asked, Formula.SIX_N).model == 6 * 13e9
    assert missing(ModelShape(params=47e9, experts_per_token=2), Formula.SIX_N) == ("active_params",)


def test_formulas_agree_on_a_plain_transformer() -> None:
    plain = ModelShape(
        layers=48, hidden=6144, seq_len=2048, vocab=51_200, heads=48, ffn_hidden=4 * 6144, params=12 * 48 * 6144**2
    )
    whole = token_flops(plain, Formula.MEGATRON).model
    assert token_flops(plain, Formula.MEGATRON_GQA).model == pytest.approx(whole)
    logits = 6 * 51_200 * 6144
    assert token_flops(plain, Formula.PALM).model == pytest.approx(whole - logits)


def test_a_formula_without_what_it_needs_says_so() -> None:
    with pytest.raises(ValueError, match="layers, hidden, seq_len"):
        token_flops(ModelShape(params=1e9), Formula.PALM)


def test_an_n_of_another_model_is_doubted() -> None:
    small = ModelShape(params=7e9, layers=12, hidden=768, seq_len=2048)
    assert "mfu.note.shape" in codes(answered(MfuQuestion(shape=small, gpus=8, gpu="A100", tokens_per_s=1000)))


def test_selective_recompute_needs_attention_to_be_counted() -> None:
    asked = MfuQuestion(
        shape=ModelShape(params=8e9), gpus=8, gpu="A100", tokens_per_s=20_000, recompute=Recompute.SELECTIVE
    )
    found = answered(asked)
    assert found.mfu is not None and found.hfu is None and "mfu.note.selective" in codes(found)
