"""Rates and shares of a peak: whose word is taken where two differ, and what is not told because it cannot be."""

from __future__ import annotations

import pytest

from healthcheck.model.training import Framework, LogFacts, StepRecord
from healthcheck.model.vitals_log import LogVitals
from healthcheck.model.vitals_mfu import Dtype, GpuRow, ModelShape
from healthcheck.vitals.log_intake import Intake
from healthcheck.vitals.log_vitals import Asked, see, vitals_of
from healthcheck.vitals.log_work import GivenWork
from tests.unit.vitals.training_world import World, judged, lacks, said, titan, training_of

A100 = GpuRow("A100 SXM", ("A100",), {Dtype.BF16: 312.0}, "test")
H100 = GpuRow("H100 SXM", ("H100",), {Dtype.BF16: 989.4}, "test")


def test_of_two_throughputs_the_batch_over_the_step_time_is_trusted() -> None:
    # 512 samples in 2 s are 256 a second; the log prints ten times that.
    world = World(2.0).start()
    world.steps(100, extra="samples per second: 2560.0 | TFLOPs: 150.0 | ")
    vitals = judged(world.lines)
    assert vitals.rate is not None
    assert vitals.rate.tokens_per_s == pytest.approx(512 * 2048 / 2.0)
    assert vitals.rate.printed_tokens_per_s == pytest.approx(10 * 512 * 2048 / 2.0)
    clash = next(remark for remark in vitals.remarks if remark.what.code == "log.rate_clash")
    assert "10 times" in clash.what.english
    assert vitals.goodput is not None and vitals.goodput.tokens_per_s == pytest.approx(524288, rel=1e-3)


@pytest.mark.parametrize(("printed", "clashes"), [("256.0", False), ("25.6", True)])
def test_printed_samples_are_held_against_the_batch_where_no_sequence_length_makes_them_tokens(
    printed: str, clashes: bool
) -> None:
    world = World(2.0).start()
    world.steps(100, extra=f"samples per second: {printed} | TFLOPs: 150.0 | ")
    vitals = judged([line for line in world.lines if "seq_length" not in line])
    assert vitals.facts.seq_len is None
    told = [remark.what.english for remark in vitals.remarks if remark.what.code == "log.samples_clash"]
    assert bool(told) is clashes and all("0.1 times" in one for one in told)


def test_an_mfu_of_563_per_cent_is_not_told() -> None:
    lines = [titan(n, f"2026-01-14 02:00:{n:02},000", mfu="563.10%") for n in range(1, 50)]
    seen = see([training_of(lines)], Asked(gpu="H100"))
    vitals = vitals_of(seen, Asked(gpu="H100"), (H100,))
    assert vitals.printed is not None
    assert vitals.printed.mfu is None
    assert vitals.printed.implied_peak_tflops == pytest.approx(71.0, abs=0.1)
    assert {"log.mfu_impossible_peak", "log.peak_clash"} <= said(vitals)


def test_the_peak_that_an_mfu_implies_is_held_against_the_gpu() -> None:
    lines = [titan(n, f"2026-01-14 02:00:{n:02},000", mfu=f"{400 / 3.12:.2f}%") for n in range(1, 50)]
    on_a100 = vitals_of(see([training_of(lines)], Asked()), Asked(gpu="NVIDIA A100-SXM4-80GB"), (A100, H100))
    assert {"log.tflops_impossible", "log.mfu_impossible_peak"} <= said(on_a100)
    right = [titan(n, f"2026-01-14 02:00:{n:02},000", mfu=f"{400 / 9.894:.2f}%") for n in range(1, 50)]
    on_h100 = vitals_of(see([training_of(right)], Asked()), Asked(gpu="NVIDIA H100 80GB HBM3"), (A100, H100))
    assert on_h100.printed is not None
    assert on_h100.printed.share_of_peak == pytest.approx(0.404, abs=0.001)
    assert on_h100.printed.implied_peak_tflops == pytest.approx(989.4, rel=1e-3)
    assert not said(on_h100) & {"log.peak_clash", "log.mfu_impossible_peak"}
    nobody_knows = vitals_of(see([training_of(right)], Asked()), Asked(gpu="Zeta 9000"), (A100, H100))
    assert nobody_knows.mfu is None and nobody_knows.printed is not None
    assert nobody_knows.printed.gpu_peak_tflops is None


def test_what_the_log_says_of_a_step_beats_what_is_given() -> None:
    vitals = judged(World().start().steps(50).lines, asked=Asked(GivenWork(tokens_per_step=4e6)))
    assert vitals.rate is not None and vitals.rate.tokens_per_step == pytest.approx(512 * 2048)
    assert "log.batch_given" in said(vitals)


def test_the_number_of_gpus_that_is_given_is_the_one_everything_is_told_by() -> None:
    vitals = judged(World().start().steps(50).lines, asked=Asked(GivenWork(gpus=32)))
    assert "log.gpus_given" in said(vitals)
    assert vitals.rate is not None and vitals.rate.tokens_per_s is not None
    assert vitals.facts.gpus == 32
    assert vitals.rate.per_gpu == pytest.approx(vitals.rate.tokens_per_s / 32)


def test_a_log_without_a_batch_needs_it_given() -> None:
    def read(asked: Asked) -> LogVitals:
        intake = Intake("log")
        intake.add_all(StepRecord(n, n + 1, step_time_s=0.5, mfu=0.3647) for n in range(200))
        return vitals_of(see([intake.training(Framework.NANOGPT, LogFacts(), ())], asked), asked)

    without = read(Asked())
    assert without.rate is None or without.rate.tokens_per_s is None
    assert "log.missing.tokens" in lacks(without)
    assert without.goodput is not None and without.goodput.tokens is None
    given = read(Asked(GivenWork(tokens_per_step=500_000.0)))
    assert given.rate is not None and given.rate.tokens_per_s == pytest.approx(1e6)


def test_what_would_fit_stands_with_the_refused_mfu_and_not_among_what_the_log_lacks() -> None:
    world = World(2.0).start().steps(100)
    asked = Asked(given=GivenWork(gpus=8, seq_len=2048), shape=ModelShape(params=70e9, seq_len=2048), gpu="A100")
    vitals = vitals_of(see([training_of(world.lines)], asked), asked, (A100, H100))
    assert vitals.mfu is None and "mfu.refused.above" in said(vitals)
    assert "log.mfu_refused" in lacks(vitals)
    assert any(code.startswith("mfu.fit") for code in said(vitals)), said(vitals)
    assert not any(code.startswith("mfu.fit") for code in lacks(vitals))
