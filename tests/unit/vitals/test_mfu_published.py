"""Published trainings: our formulas land on the numbers of their authors, to the digits printed here."""

from __future__ import annotations

import pytest

from healthcheck.edge.gpu_peaks import shipped_peaks
from healthcheck.model.vitals_mfu import Formula, MfuAnswer, MfuQuestion, ModelShape, Recompute
from healthcheck.vitals.mfu import achieved_tflops, answer

A100, H100 = "NVIDIA A100-SXM4-80GB", "NVIDIA H100 80GB HBM3"
# Composer divides by this, the table of peaks has 989.
COMPOSER_H100 = 989.5


def answered(asked: MfuQuestion) -> MfuAnswer:
    return answer(asked, shipped_peaks())


def percent(value: float | None) -> float:
    assert value is not None
    return 100 * value


@pytest.mark.parametrize(
    ("shape", "gpus", "tokens_per_s", "peak", "mfu"),
    [
        (ModelShape(params=64_862_437_376, layers=80, hidden=8192, seq_len=2048), 512, 515_636, COMPOSER_H100, 41.25),
        (ModelShape(params=6_658_859_008, layers=32, hidden=4096, seq_len=2048), 8, 85_144, COMPOSER_H100, 46.44),
        (ModelShape(params=12_853_954_560, layers=40, hidden=5120, seq_len=2048), 128, 252_444, 312, 51.93),
        (ModelShape(params=6_918_905_856, layers=32, hidden=4096, seq_len=65536), 8, 15_654, COMPOSER_H100, 28.59),
    ],
)
def test_llm_foundry_tables(shape: ModelShape, gpus: int, tokens_per_s: float, peak: float, mfu: float) -> None:
    asked = MfuQuestion(shape=shape, gpus=gpus, tokens_per_s=tokens_per_s, peak_tflops=peak, recompute=Recompute.FULL)
    found = answered(asked)
    assert found.formula is Formula.PALM
    assert percent(found.mfu) == pytest.approx(mfu, abs=0.005)
    assert percent(found.hfu) == pytest.approx(mfu * 4 / 3, abs=0.01)


def test_at_64k_tokens_most_of_the_work_is_attention() -> None:
    shape = ModelShape(params=6_918_905_856)
    asked = MfuQuestion(shape=shape, gpus=8, tokens_per_s=15_654, peak_tflops=COMPOSER_H100)
    assert percent(answered(asked).mfu) == pytest.approx(8.2, abs=0.05)


@pytest.mark.parametrize(
    ("layers", "hidden", "batch", "gpus", "step_time_s", "mfu", "hfu"),
    [
        (48, 6144, 4, 8, 1.10, 41.65, 43.81),
        (96, 12288, 64, 64, 13.75, 51.39, 52.77),
        (105, 20480, 280, 280, 37.83, 56.05, 56.96),
        (128, 25600, 512, 512, 71.49, 56.27, 57.01),
    ],
)
def test_selective_recompute_of_2205_05198(
    layers: int, hidden: int, batch: int, gpus: int, step_time_s: float, mfu: float, hfu: float
) -> None:
    asked = MfuQuestion(
        shape=ModelShape(layers=layers, hidden=hidden, seq_len=2048, vocab=51_200),
        gpus=gpus,
        gpu=A100,
        recompute=Recompute.SELECTIVE,
        tokens_per_step=batch * 2048,
        step_time_s=step_time_s,
    )
    found = answered(asked)
    assert found.formula is Formula.MEGATRON
    assert percent(found.mfu) == pytest.approx(mfu, abs=0.005)
    assert percent(found.hfu) == pytest.approx(hfu, abs=0.005)


def test_gpt3_of_the_megatron_readme_prints_hfu() -> None:
    asked = MfuQuestion(
        shape=ModelShape(layers=96, hidden=12288, seq_len=2048, vocab=51_200),
        gpus=1024,
        gpu=A100,
        recompute=Recompute.FULL,
        tokens_per_step=1536 * 2048,
        step_time_s=32,
    )
    found = answered(asked)
    assert found.hardware_tflops == pytest.approx(137.7, abs=0.05)
    assert percent(found.hfu) == pytest.approx(44.1, abs=0.05)
    assert percent(found.mfu) == pytest.approx(33.1, abs=0.05)


def test_bloom_176b() -> None:
    asked = MfuQuestion(
        shape=ModelShape(layers=70, hidden=14336, seq_len=2048, vocab=250_880),
        gpus=384,
        gpu=A100,
        recompute=Recompute.FULL,
        tokens_per_step=2048 * 2048,
        step_time_s=105.22,
    )
    found = answered(asked)
    assert found.hardware_tflops == pytest.approx(149.02, abs=0.005)
    assert percent(found.hfu) == pytest.approx(47.8, abs=0.05)
    assert percent(found.mfu) == pytest.approx(36.0, abs=0.05)
    eight_n = MfuQuestion(
        shape=ModelShape(params=176_247_271_424),
        gpus=384,
        gpu=A100,
        recompute=Recompute.FULL,
        tokens_per_step=2048 * 2048,
        step_time_s=105.22,
    )
    assert answered(eight_n).hardware_tflops == pytest.approx(146.4, abs=0.05)


def test_palm_540b_on_chips_that_are_not_in_the_table() -> None:
    shape = ModelShape(params=540.35e9, layers=118, hidden=18432, heads=48, head_dim=256, seq_len=2048)
    asked = MfuQuestion(shape=shape, gpus=6144, tokens_per_s=238_300, peak_tflops=275)
    assert percent(answered(asked).mfu) == pytest.approx(46.23, abs=0.005)
    without = MfuQuestion(shape=shape, gpus=6144, tokens_per_s=238_300, peak_tflops=275, formula=Formula.SIX_N)
    assert percent(answered(without).mfu) == pytest.approx(45.73, abs=0.005)


def test_megascale_175b_within_a_point_because_its_shape_is_not_published() -> None:
    asked = MfuQuestion(
        shape=ModelShape(layers=96, hidden=12288, seq_len=2048, vocab=51_200),
        gpus=12_288,
        gpu=A100,
        tokens_per_step=6144 * 2048,
        step_time_s=6.34,
        tokens_total=300e9,
    )
    found = answered(asked)
    assert percent(found.mfu) == pytest.approx(55.7, abs=1)
    assert found.tokens_per_s == pytest.approx(1_984_700, abs=50)
    assert found.training_s is not None
    assert found.training_s / 86400 == pytest.approx(1.75, abs=0.005)


@pytest.mark.parametrize(("tflops", "mfu"), [(430, 43.5), (400, 40.4), (380, 38.4)])
def test_llama_3_405b_from_its_tflops(tflops: float, mfu: float) -> None:
    found = answered(MfuQuestion(model_tflops=tflops, gpu=H100))
    assert found.formula is None
    assert percent(found.mfu) == pytest.approx(mfu, abs=1)
    assert percent(found.mfu) == pytest.approx(mfu, abs=0.05)


@pytest.mark.parametrize(
    ("params", "gpu_hours", "mfu"), [(6.74e9, 184_320, 39.1), (13.0e9, 368_640, 37.7), (69e9, 1_720_320, 42.9)]
)
def test_llama_2_from_its_gpu_hours(params: float, gpu_hours: float, mfu: float) -> None:
    asked = MfuQuestion(shape=ModelShape(params=params), gpu=A100, tokens_total=2e12, gpu_hours=gpu_hours)
    assert percent(answered(asked).mfu) == pytest.approx(mfu, abs=0.05)


def test_training_time_of_2104_04473() -> None:
    asked = MfuQuestion(
        shape=ModelShape(params=175e9),
        gpus=1024,
        gpu=A100,
        recompute=Recompute.FULL,
        hardware_tflops=140,
        tokens_total=300e9,
    )
    days = answered(asked).training_s
    assert days is not None
    assert days / 86400 == pytest.approx(33.9, abs=0.05)


def test_mixtral_8x7b_with_grouped_heads_gated_mlp_and_two_experts() -> None:
    shape = ModelShape(
        layers=32,
        hidden=4096,
        seq_len=2048,
        vocab=32_000,
        ffn_hidden=14_336,
        heads=32,
        kv_heads=8,
        swiglu=True,
        experts_per_token=2,
    )
    asked = MfuQuestion(shape=shape, gpus=16, gpu=H100, tokens_per_step=128 * 2048, step_time_s=5.4449)
    found = answered(asked)
    assert found.formula is Formula.MEGATRON_GQA
    assert found.achieved_tflops == pytest.approx(239.84, abs=0.005)


def test_what_older_logs_print_for_gpt_6_7b() -> None:
    shape = ModelShape(layers=32, hidden=4096, seq_len=2048, vocab=50_432)
    asked = MfuQuestion(
        shape=shape,
        gpus=16,
        gpu=A100,
        formula=Formula.MEGATRON_LOG,
        tokens_per_step=2048 * 2048,
        step_time_s=75.254,
    )
    assert answered(asked).achieved_tflops == pytest.approx(149.11, abs=0.005)


def test_torchtitan_leaves_out_the_input_embedding_of_llama_3_8b() -> None:
    shape = ModelShape(params=8_030_261_248, layers=32, hidden=4096, seq_len=8192, vocab=128_256)
    asked = MfuQuestion(shape=shape, gpu=H100, formula=Formula.TORCHTITAN, tokens_per_s_per_gpu=5868)
    found = answered(asked)
    assert found.model_flops_per_token == pytest.approx(57.914e9, abs=0.5e6)
    assert found.achieved_tflops == pytest.approx(339.84, abs=0.005)


def test_throughput_of_progress_txt_of_megatron() -> None:
    assert achieved_tflops(6.76e17, 218, 8) == pytest.approx(387.6, abs=0.05)
    found = answered(MfuQuestion(model_flops=6.76e17, step_time_s=218, gpus=8, gpu=H100))
    assert found.achieved_tflops == pytest.approx(387.6, abs=0.05)
