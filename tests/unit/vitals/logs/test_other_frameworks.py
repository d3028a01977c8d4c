"""Composer, OLMo, MaxText, Hugging Face Trainer and nanoGPT: lines of real trainings -> steps and events."""

from __future__ import annotations

import pytest

from healthcheck.model.training import EventKind, Framework
from tests.unit.vitals.logs.reading import FIXTURES, Log, fixture, said


def test_composer_joins_the_lines_of_a_report() -> None:
    log = fixture("composer/llm-foundry.log")
    assert log.reader.framework is Framework.COMPOSER
    assert said(log.steps[0]) == {
        "step": 9,
        "step_time_s": pytest.approx(1 / 0.0208),
        "tokens": 2000 * 2048,
        "samples": 2000,
        "consumed_tokens": 33554432,
        "tokens_per_s": 85144,
        "tokens_per_s_per_gpu": 10643,
        "samples_per_s": 41.5742,
        "tflops_per_gpu": 459.5,
        "mfu": 0.4644,
        "loss": 11.6525,
        "grad_norm": 1.25,
    }
    # A rate with fewer than four decimals was cut.
    second = log.steps[1]
    assert (second.step, second.loss, second.tokens_per_s_per_gpu) == (10, 11.25, None)
    assert second.step_time_s == pytest.approx(1 / 0.0207)
    assert log.told() == [(EventKind.START, None, None), (EventKind.EVALUATION, 10, None)]
    assert (log.reader.facts.gpus, log.reader.facts.params) == (8, 6658859008)


def test_composer_tells_its_settings_behind_the_name_of_a_rank_and_before_blanks() -> None:
    log = fixture("composer/llm-foundry.log")
    text = (FIXTURES / "composer/llm-foundry.log").read_text()
    for lines in ((f"[rank0]:{line}\n" for line in text.splitlines()), (f"{line}  \n" for line in text.splitlines())):
        other = Log("".join(lines).encode())
        assert other.reader.facts == log.reader.facts
        assert [step.tokens for step in other.steps] == [step.tokens for step in log.steps]


def test_composer_that_counts_tokens_names_the_batch_beside() -> None:
    lines = "[token=4194304/1000000000]:\n\t Train time/batch: 8\n\t Train loss/train/total: 11.6525\n"
    assert [said(step) for step in Log(lines.encode()).steps] == [{"step": 8, "loss": 11.6525}]


def test_composer_starts_behind_the_name_of_a_rank_and_counts_what_it_consumed() -> None:
    # A batch that takes minutes has two digits of batches a second; what it consumed makes the step of the other rates.
    report = (
        "[rank0]:[epoch=1][batch={}/5]:\n[rank0]:  Train time/batch: {}\n[rank0]:  Train time/sample: {}\n"
        "[rank0]:  Train throughput/batches_per_sec: 0.0027\n[rank0]:  Train throughput/samples_per_sec: 2.7330\n"
    )
    text = "[rank0]:2026-03-01 08:00:00 Config:\n" + "".join(report.format(n, n - 1, (n - 1) * 1024) for n in (1, 2, 3))
    log = Log(text.encode())
    assert log.told() == [(EventKind.START, None, None)] and log.events[0].rank == "0"
    assert [(step.step, step.consumed_samples, step.step_time_s) for step in log.steps] == [
        (0, 0, None),
        (1, 1024, None),
        (2, 2048, None),
    ]


def test_olmo_behind_a_task_that_is_called_train() -> None:
    text = "".join(f"train/0 {line}\n" for line in (FIXTURES / "olmo/core.log").read_text().splitlines())
    plain, behind = fixture("olmo/core.log"), Log(text.encode())
    assert [said(step) | {"rank": "0"} for step in plain.steps] == [said(step) for step in behind.steps]


def test_olmo_core() -> None:
    log = fixture("olmo/core.log")
    assert log.reader.framework is Framework.OLMO
    assert [said(step) for step in log.steps] == [
        {
            "step": 10,
            "step_time_s": pytest.approx(1 / 0.3025),
            "at_s": 1746180134.355,
            "consumed_tokens": 41943040,
            "tokens_per_s_per_gpu": 9912,
            "mfu": 0.4457,
            "loss": 9.204,
            "grad_norm": 0.812,
        },
        {
            "step": 20,
            "step_time_s": pytest.approx(1 / 0.3031),
            "at_s": 1746180167.401,
            "consumed_tokens": 83886080,
            "tokens_per_s_per_gpu": 9931,
            "mfu": 0.4465,
            "loss": 8.117,
            "grad_norm": 1.204,
            "skipped": 1,
        },
    ]
    assert log.told() == [
        (EventKind.START, None, None),
        (EventKind.CHECKPOINT_BEGUN, 20, None),
        (EventKind.CHECKPOINT_SAVED, 20, None),
        (EventKind.CHECKPOINT_BEGUN, 22, None),
        (EventKind.CHECKPOINT_SAVED, 22, None),
    ]
    assert said(log.reader.facts) == {"gpu": "NVIDIA H100 80GB HBM3", "peak_tflops": 989.5}


def test_olmo_before_its_core() -> None:
    log = fixture("olmo/2024.log")
    assert said(log.steps[0]) == {
        "step": 100,
        "step_time_s": pytest.approx(1 / 0.1716),
        "at_s": 1706613133.001,
        "consumed_tokens": 419430400,
        "tokens_per_s_per_gpu": 2812,
        "loss": 7.204,
    }
    assert log.told() == [(EventKind.CHECKPOINT_BEGUN, 100, None), (EventKind.CHECKPOINT_SAVED, 100, None)]


@pytest.mark.parametrize("cut", ["258", "258,1", "44.5", "0.30", "1e", "9,9"])
def test_olmo_takes_no_number_that_it_would_have_printed_longer(cut: str) -> None:
    log = Log(f"[step=3/9]\n    train/CE loss=9.204\n    throughput/device/TPS={cut}\n".encode())
    assert [said(step) for step in log.steps] == [{"step": 3, "loss": 9.204}]


def test_maxtext_leaves_the_time_of_a_dispatch_out() -> None:
    log = fixture("maxtext/2025.log")
    assert log.reader.framework is Framework.MAXTEXT
    assert [(step.step, step.step_time_s, step.tflops_per_gpu) for step in log.steps] == [
        (0, 44.923, 17.022),
        (1, None, None),  # 0.319 s at 2400.734 TFLOP/s
        (2, 5.658, 135.158),
        (3, 5.402, 141.542),
        (4, 5.669, 134.884),
    ]
    assert said(log.steps[2]) == {
        "step": 2,
        "step_time_s": 5.658,
        "tokens": 96 * 2048,
        "samples": 96,
        "tokens_per_s_per_gpu": 8687.815,
        "tflops_per_gpu": 135.158,
        "loss": 11.689,
    }
    assert log.told() == [(EventKind.START, None, None), (EventKind.EVALUATION, 3, None)]
    assert said(log.reader.facts) == {
        "gpus": 4,
        "params": 15.933e9,
        "seq_len": 2048,
        "global_batch": 96,
        "layers": 27,
    }
    assert [(remark.what.code, remark.line) for remark in log.reader.remarks] == [("training.dispatch", 8)]


def test_hf_trainer_takes_the_step_from_the_bar() -> None:
    log = fixture("hf-trainer/v4.log")
    assert log.reader.framework is Framework.HF_TRAINER
    assert [said(step) for step in log.steps] == [
        {"step": 10, "covers": 10, "step_time_s": 7.56, "samples": 8, "loss": 1.9035, "grad_norm": 2.1321821212768555},
        {"step": 20, "covers": 10, "step_time_s": 7.6, "samples": 8, "loss": 1.3506, "grad_norm": 1.25},
        # 116 s for ten steps, 41 of them an evaluation: the bar's own rate of 7.50 s/it would hide it.
        {"step": 30, "covers": 10, "step_time_s": 11.6, "samples": 8, "loss": 1.0355, "grad_norm": 1.5},
    ]
    assert log.told() == [
        (EventKind.START, None, None),
        (EventKind.EVALUATION, 20, 40.9261),
        (EventKind.CHECKPOINT_BEGUN, 30, None),
        (EventKind.CHECKPOINT_SAVED, 30, None),
        (EventKind.EXIT, 30, 2457.0749),
    ]
    assert said(log.reader.facts) == {"params": 57016320, "global_batch": 8}


def test_hf_trainer_without_a_bar_says_the_mean_of_the_whole_run() -> None:
    log = fixture("hf-trainer/v5-no-bar.log")
    assert [said(step) for step in log.steps] == [
        {"step": 110, "covers": 110, "step_time_s": pytest.approx(494.2 / 110), "loss": 1.203}
    ]
    assert log.told() == [(EventKind.START, None, None), (EventKind.EXIT, 110, 494.2)]


def test_hf_trainer_without_losses_reports_from_the_bar_once_a_minute() -> None:
    bars = "".join(f"\r  1%|1 | {n}/900 [{n * 10 // 60:02}:{n * 10 % 60:02}<2:00:00, 10.00s/it]" for n in range(1, 21))
    log = Log(f"***** Running training *****\n  Total optimization steps = 900\n{bars}\n".encode())
    assert [(step.step, step.step_time_s) for step in log.steps] == [(6, 10.0), (12, 10.0), (18, 10.0)]


def test_nanogpt_has_no_mfu_at_first() -> None:
    log = fixture("nanogpt/gpt2.log")
    assert log.reader.framework is Framework.NANOGPT
    assert [said(step) for step in log.steps] == [
        {"step": 0, "step_time_s": 37.41295, "tokens": 491520, "loss": 10.9886},
        {"step": 5, "step_time_s": 0.92315, "tokens": 491520, "loss": 9.7781},
        {"step": 10, "step_time_s": 0.92188, "tokens": 491520, "mfu": 0.3647, "loss": 9.2104},
        {"step": 2000, "step_time_s": 9.21402, "tokens": 491520, "mfu": 0.3346, "loss": 3.1913},
    ]
    assert log.told() == [
        (EventKind.START, None, None),
        (EventKind.EVALUATION, 0, None),
        (EventKind.EVALUATION, 2000, None),
        (EventKind.CHECKPOINT_BEGUN, 2000, None),
        (EventKind.CHECKPOINT_SAVED, 2000, None),  # because it goes on
    ]
    assert log.reader.facts.params == 123.59e6
    assert log.reader.facts.peak_tflops == 312.0  # what its MFU is over, on any GPU
    early = fixture("nanogpt/2023-no-mfu.log")
    assert [(step.step, step.step_time_s) for step in early.steps] == [(1631, 0.56194), (1632, 0.56315)]
    assert early.reader.facts.peak_tflops is None


def test_a_save_that_is_announced_is_done_when_the_training_goes_on_and_not_before() -> None:
    save = "[INFO|trainer.py:3478] >> Saving model checkpoint to out/checkpoint-20\n"
    bars = [f"{{'loss': 1.5, 'epoch': 0.1}}\n {n}%|# | {n}/99 [0{n // 10}:00<09:00,  6.00s/it]\n" for n in (10, 20, 30)]
    begun = (EventKind.CHECKPOINT_BEGUN, 20, None)
    assert Log((bars[0] + bars[1] + save).encode()).told() == [begun]
    log = Log((bars[0] + bars[1] + save + bars[2]).encode())
    assert log.told() == [begun, (EventKind.CHECKPOINT_SAVED, 20, None)]
    assert [step.step_time_s for step in log.steps] == [6.0, 6.0, 6.0]


def test_maxtext_resumes_and_saves() -> None:
    lines = "restoring from this run's directory step 40\ncompleted step: 41, seconds: 5.667, loss: 10.374\n"
    lines += "Saved a checkpoint at step 41.\nStarted an asynchronous checkpoint save for step 42\n"
    assert Log(lines.encode()).told() == [
        (EventKind.CHECKPOINT_LOADED, 40, None),
        (EventKind.CHECKPOINT_SAVED, 41, None),
        (EventKind.CHECKPOINT_BEGUN, 42, None),
    ]
