"""torchtitan, NeMo, Automodel and nanotron: lines of real trainings -> steps and events, to the digit."""

from __future__ import annotations

import pytest

from healthcheck.model.training import EventKind, Framework
from tests.unit.vitals.logs.reading import Log, fixture, said


def test_torchtitan_after_a_resume() -> None:
    log = fixture("torchtitan/2025-resume.log")
    assert log.reader.framework is Framework.TORCHTITAN
    assert said(log.steps[1]) == {
        "step": 420,
        "covers": 10,
        "step_time_s": pytest.approx(13.961 / 10, abs=1e-4),  # as the clock of the log says
        "at_s": 1750857087.735,
        "tokens": 8 * 8192,
        "samples": 8,
        "tokens_per_s_per_gpu": 5868,
        "tflops_per_gpu": 339.82,
        "mfu": 0.3436,
        "loss": 5.2104,
        "rank": "0",
    }
    assert [(step.step, step.covers, step.mfu) for step in log.steps] == [
        (410, 10, 0.283),
        (420, 10, 0.3436),
        (430, 10, None),  # N/A
    ]
    assert log.told() == [
        (EventKind.START, None, None),
        (EventKind.CHECKPOINT_LOADED, 400, 11.31),
        (EventKind.CHECKPOINT_BEGUN, 420, None),
        (EventKind.CHECKPOINT_SAVED, 420, 1.65),
        (EventKind.EVALUATION, 420, None),
    ]
    assert said(log.reader.facts) == {
        "gpus": 8,
        "gpu": "NVIDIA H100",
        "params": 8030261248,
        "seq_len": 8192,
        "global_batch": 8,
        "data_parallel": 8,
        "peak_tflops": 989,
    }


def test_torchtitan_reports_the_first_step_and_then_those_since() -> None:
    log = fixture("torchtitan/2026-qwen3.log")
    assert [(step.step, step.covers, step.rank) for step in log.steps] == [(1, 1, "0"), (10, 9, "0")]
    last = log.steps[-1]
    assert (last.tokens_per_s_per_gpu, last.tflops_per_gpu, last.mfu) == (10006, 843.11, 0.3747)
    assert last.step_time_s == pytest.approx(36.841 / 9, abs=0.001)
    facts = log.reader.facts
    assert (facts.gpus, facts.gpu, facts.peak_tflops, facts.version) == (8, "NVIDIA B200", 2250, "0.2.1")
    assert log.told() == [(EventKind.START, None, None), (EventKind.EXIT, 10, None)]


def test_torchtitan_of_2024_in_colours() -> None:
    log = fixture("torchtitan/2024-wps-colours.log")
    assert said(log.steps[1]) == {
        "step": 10,
        "covers": 9,
        "at_s": 1718283222.562,
        "tokens_per_s_per_gpu": 2792,
        "mfu": 0.1635,
        "loss": 10.7798,
        "rank": "0",
    }


def test_torchtitan_gives_every_copy_of_a_report() -> None:
    log = fixture("torchtitan/rank-copies.log")
    assert [(step.step, step.covers, step.tokens_per_s_per_gpu) for step in log.steps] == [
        (4, 1, 10050),
        (4, 1, 10049),
        (5, 1, 10007),
        (5, 1, 10006),
    ]


def test_torchtitan_counts_gpus_of_any_mesh() -> None:
    step = b"step:  1  loss: 12.0  memory: 1.0GiB(1.00%)  tps: 100  tflops: 1.00  mfu: 1.00%\n"
    mesh = b"root - INFO - Building 3-D device mesh with ['pp', 'dp_shard', 'tp'], [2, 4, 8]\n"
    facts = Log(mesh + step).reader.facts
    assert (facts.gpus, facts.data_parallel) == (64, 4)
    named = b"Building device mesh with parallelism: pp=2, dp_replicate=2, dp_shard=4, cp=2, tp=8, ep=4\n"
    facts = Log(named + step).reader.facts
    assert (facts.gpus, facts.data_parallel) == (256, 8)  # experts live on the same GPUs


def test_nemo_lines() -> None:
    log = fixture("nemo/lines.log")
    assert log.reader.framework is Framework.NEMO
    assert said(log.steps[0]) == {
        "step": 120,
        "step_time_s": 9.146,
        "samples": 512,
        "tflops_per_gpu": 661.2,
        "loss": 1.233,
        "rank": "0",
    }
    assert log.told() == [
        (EventKind.START, None, None),
        (EventKind.CHECKPOINT_LOADED, None, 17.042),
        (EventKind.CHECKPOINT_BEGUN, 121, 4.389),
        (EventKind.CHECKPOINT_SAVED, 121, None),  # once the background says so, two steps later
    ]
    assert log.events[2].at_s == 1744408121.151


def test_nemo_saves_in_the_foreground_too() -> None:
    save = b"Global Checkpoint Save : Rank: 0 : Iteration: 2 : Start time: 1744408121.151s : Save duration: 4.389s\n"
    lines = [
        f"Training epoch 0, iteration {n}/9 | global_step: {n} | train_step_timing in s: 1.234 | x: 1\n"
        for n in (1, 2, 3)
    ]
    log = Log("".join(lines[:2]).encode() + save + lines[2].encode())
    assert log.told() == [(EventKind.CHECKPOINT_BEGUN, 2, 4.389), (EventKind.CHECKPOINT_SAVED, 2, 4.389)]


def test_nemo_bar_counts_each_step_once() -> None:
    assert [said(step) for step in fixture("nemo/bar.log").steps] == [
        {"step": 8, "step_time_s": 6.91, "loss": 7.9},  # whether its samples are a mean is not known yet
        {"step": 9, "step_time_s": 6.89, "consumed_samples": 2560, "loss": 7.8},
        {"step": 10, "step_time_s": 6.88, "consumed_samples": 2816, "loss": 7.7},
    ]
    assert [said(step) for step in fixture("nemo/bar-2023.log").steps] == [
        {"step": 793, "step_time_s": 41.36, "loss": 3.11},
        {"step": 794, "step_time_s": 41.36, "loss": 3.09},
    ]


@pytest.mark.parametrize("first", [1990, 123440])
def test_nemo_bar_that_rounds_its_step_is_read_by_its_count(first: int) -> None:
    # tqdm writes three digits where that is shorter: 2e+3 for 1995 to 2004, 1.23e+5 for a thousand steps.
    def shown(step: int) -> str:
        rounded = f"{float(step):.3g}".replace("e+0", "e+")
        return min(rounded, f"{step}.0", key=len)

    bars = "".join(
        f"\rEpoch 0: :   0%|          | {step + 1}/603000 [1:03:17<317:00:58, v_num=, reduced_train_loss=2.600, "
        f"global_step={shown(step)}, consumed_samples=1.28e+6, train_step_timing in s=1.900, val_loss=2.800]"
        for step in range(first, first + 20)
    )
    assert [step.step for step in Log(f"{bars}\n".encode()).steps] == list(range(first, first + 20))


@pytest.mark.parametrize("count", ["{}it [00:40,  4.36s/it, ", "|    | {}/? [00:40<?, 4.36s/it, "])
def test_nemo_bar_that_does_not_know_its_end(count: str) -> None:
    lines = [
        f"[sft-1] [2025-12-17 04:54:{n:02},774] Epoch 1: : {count.format(n)}v_num=d3c7, "
        f"reduced_train_loss=0.6, global_step={n}.000, consumed_samples={n * 128}.0,"
        " train_step_timing in s=3.370]     [INFO] - saved\n"
        for n in (1, 2, 3)
    ]
    steps = Log("".join(lines).encode()).steps
    assert [(step.step, step.step_time_s) for step in steps] == [(1, 3.37), (2, 3.37), (3, 3.37)]
    assert steps[1].at_s is not None and steps[2].at_s == steps[1].at_s + 1


def test_nemo_tells_the_rate_of_a_gpu_in_words_too() -> None:
    line = (
        "[2025-10-17T11:32:59+08:00] Training epoch 0, iteration 527/999 | lr: 0.0001758 | global_step: 527 | "
        "train_step_timing in s: 2.389 | tokens_per_sec_per_gpu: 6.859e+03 | consumed_samples: 16896 | val_loss: 3.6\n"
    )
    assert [step.tokens_per_s_per_gpu for step in Log(line.encode()).steps] == [6859]


def test_nemo_samples_are_means_of_the_interval_where_not_every_step_is_told() -> None:
    lines = [
        f"Training epoch 0, iteration {n}/900 | consumed_samples: {n * 64} | train_step_timing in s: 1.234 | x: 1\n"
        for n in (100, 200)
    ]
    assert [(step.covers, step.consumed_samples) for step in Log("".join(lines).encode()).steps] == [
        (100, None),
        (100, None),
    ]


def test_automodel() -> None:
    log = fixture("automodel/2026.log")
    assert log.reader.framework is Framework.AUTOMODEL
    assert said(log.steps[0]) == {
        "step": 9,
        "at_s": 1786377320.0,
        "tokens_per_s": 11278.56,
        "tokens_per_s_per_gpu": 1409.82,
        "loss": 0.6974,
        "grad_norm": 1.5436,
    }
    assert [step.step for step in log.steps] == [9, 10, 11]
    assert log.told() == [
        (EventKind.EVALUATION, 10, None),
        (EventKind.CHECKPOINT_BEGUN, 10, None),
        (EventKind.CHECKPOINT_SAVED, 10, None),  # because it goes on
    ]
    assert log.reader.facts.gpus == 8  # both rates stand in each line


def test_nanotron_numbers_have_suffixes() -> None:
    log = fixture("nanotron/2024.log")
    assert log.reader.framework is Framework.NANOTRON
    assert said(log.steps[0]) == {
        "step": 991,
        "step_time_s": 11.5,
        "at_s": 1705499247.0,
        "tokens": 1024 * 4096,
        "samples": 1024,  # exact: not the 1.02K of the line
        "consumed_tokens": 4.16e9,
        "tokens_per_s": 365e3,
        "tokens_per_s_per_gpu": 11.4e3,
        "tflops_per_gpu": 138,
        "loss": 2.38,
        "grad_norm": 0.515,
        "rank": "default0",
    }
    assert log.told() == [(EventKind.START, 990, None), (EventKind.CHECKPOINT_BEGUN, 992, None)]
    assert said(log.reader.facts) == {"params": 1.34e9, "seq_len": 4096, "global_batch": 1024}


def test_nanotron_under_its_new_name_and_without_a_year() -> None:
    (step,) = fixture("nanotron/2026.log").steps
    assert (step.step, step.step_time_s, step.at_s) == (2, 0.85, None)
    assert (step.samples, step.tokens_per_s_per_gpu, step.tflops_per_gpu) == (64, 38.6e3, 402)


def test_nanotron_takes_no_rounded_batch() -> None:
    line = (
        b"iteration: 2 / 9 | time_per_iteration_ms: 850 | global_batch_size: 1.02K | lm_loss: 2.5 | grad_norm: 1.07\n"
    )
    (step,) = Log(line).steps
    assert (step.samples, step.loss, step.grad_norm) == (None, 2.5, 1.07)
