"""Megatron-LM and its relatives: lines of real trainings -> steps and events, to the digit."""

from __future__ import annotations

import math

from healthcheck.model.training import EventKind, Framework
from tests.unit.vitals.logs.reading import Log, fixture, said

ONE_MINUTE_BEFORE_THREE = 1712372376.0  # 2024-04-06 02:59:36


def test_one_report_a_step_with_everything_around_it() -> None:
    log = fixture("megatron/2024-h100.log")
    assert log.reader.framework is Framework.MEGATRON
    assert said(log.steps[0]) == {
        "step": 43,
        "step_time_s": 5.4449,
        "at_s": ONE_MINUTE_BEFORE_THREE,
        "tokens": 128 * 2048,
        "samples": 128,
        "consumed_samples": 5504,
        "tflops_per_gpu": 239.8,
        "loss": 1.825991,
        "grad_norm": 1.426,
    }
    last = log.steps[-1]
    assert (last.step, last.step_time_s, last.tflops_per_gpu, last.skipped) == (45, 5.7186, 228.4, 1)
    assert last.loss is not None and math.isnan(last.loss)
    assert log.told() == [
        (EventKind.START, None, None),
        (EventKind.CHECKPOINT_LOADED, 40, None),
        (EventKind.CHECKPOINT_BEGUN, 45, None),
        (EventKind.CHECKPOINT_SAVED, 45, 41.25007),
        (EventKind.EVALUATION, 45, None),
        (EventKind.EXIT, 45, None),
    ]
    # The first clock that is printed after the start, and the one of the end.
    assert (log.events[0].at_s, log.events[-1].at_s) == (ONE_MINUTE_BEFORE_THREE - 325, ONE_MINUTE_BEFORE_THREE + 96)


def test_the_dump_of_arguments_says_what_is_trained() -> None:
    assert said(fixture("megatron/2024-h100.log").reader.facts) == {
        "gpus": 16,
        "params": 46.70e9,
        "seq_len": 2048,
        "global_batch": 128,
        "data_parallel": 4,
        "log_interval": 1,
        "layers": 32,
        "hidden": 4096,
        "vocab": 32000,
    }


def test_parameters_are_added_up_where_every_rank_of_the_model_said_its_own() -> None:
    world = (
        "using world size: 8, data-parallel size: 2, tensor-model-parallel size: 2, pipeline-model-parallel size: 2\n"
    )
    rank = " > number of parameters on (tensor, pipeline) model parallel rank ({}, {}): {}\n"
    grid = [(0, 0, 400), (1, 0, 400), (0, 1, 300), (1, 1, 301)]
    line = FIRST + "\n"
    parts = "".join(rank.format(*one) for one in grid)
    assert Log((world + parts + line).encode()).reader.facts.params == 1401
    assert Log((world + parts[: -len(rank)] + line).encode()).reader.facts.params is None  # one is missing
    experts = "  num_experts ..................................... 8\n"
    assert Log((experts + world + parts + line).encode()).reader.facts.params is None
    total = "Total number of parameters in billions: 1.50\n"
    assert Log((world + parts + total + parts + line).encode()).reader.facts.params == 1.5e9


def test_reports_are_means_of_an_interval_and_the_first_step_is_one_more() -> None:
    log = fixture("megatron/2026-interval.log")
    assert [(step.step, step.covers, step.rank) for step in log.steps] == [
        (1, 1, "default7"),
        (10, 10, "default7"),  # holds the first step once more
        (20, 10, "default7"),
        (30, 10, "default7"),
    ]
    assert said(log.steps[1]) == {
        "step": 10,
        "covers": 10,
        "step_time_s": 5.6501,
        "at_s": 1777888859.41793,
        "samples": 64,
        "consumed_samples": 640,
        "tflops_per_gpu": 137.9,
        "loss": 9.20117,
        "grad_norm": 1.204,
        "skipped": 1,
        "rank": "default7",
    }
    # In the background: saved only after the next report.
    assert log.told()[1:] == [(EventKind.CHECKPOINT_BEGUN, 20, None), (EventKind.CHECKPOINT_SAVED, 20, None)]
    assert log.events[-1].line > log.steps[-1].line


def test_2019_without_samples_and_without_colons() -> None:
    log = fixture("megatron/2019.log")
    assert [said(step) for step in log.steps] == [
        {"step": 100, "covers": 100, "step_time_s": 0.5289, "loss": 9.812344},
        {"step": 200, "covers": 100, "step_time_s": 0.5124, "loss": 8.204417},
    ]


def test_megatron_bridge_prints_the_rate_on_a_line_of_its_own() -> None:
    (step,) = fixture("megatron/bridge.log").steps
    assert (step.step, step.step_time_s, step.tflops_per_gpu, step.rank) == (50, 9.089, 663.5, "0")
    assert step.at_s == 1766416713.0


def test_primus_prints_the_last_value_and_the_mean() -> None:
    (step,) = fixture("megatron/primus.log").steps
    assert said(step) == {
        "step": 424,
        "step_time_s": 16.6013,
        "at_s": 1761223152.0,
        "samples": 64,
        "consumed_samples": 27136,
        "tokens_per_s_per_gpu": 246.7,
        "tflops_per_gpu": 11.9,
        "loss": 4.447942,
        "grad_norm": 6.142,
        "rank": "63",
    }


def test_megatron_deepspeed_in_seconds() -> None:
    log = fixture("megatron-deepspeed/bloom.log")
    assert log.reader.framework is Framework.MEGATRON_DEEPSPEED
    assert said(log.steps[1]) == {
        "step": 10,
        "step_time_s": 105.22,
        "samples": 192,
        "consumed_tokens": 4587520,
        "consumed_samples": 2240,
        "samples_per_s": 1.825,
        "tflops_per_gpu": 149.02,
        "loss": 11.92634,
        "grad_norm": 6.12,
        "rank": "default7",
    }
    # Its line has no clock; DeepSpeed's line of the same step has one.
    assert [step.at_s for step in log.steps] == [1647252131.518, None]


def test_megatron_deepspeed_in_milliseconds() -> None:
    (step,) = fixture("megatron-deepspeed/2024.log").steps
    assert said(step) == {
        "step": 11,
        "step_time_s": 52.7281,
        "tokens": 512 * 2048,
        "samples": 512,
        "consumed_tokens": 11534336,
        "consumed_samples": 5632,
        "tokens_per_s_per_gpu": 621.433,
        "samples_per_s": 9.71,
        "tflops_per_gpu": 167.52,
        "loss": 13.76514,
        "grad_norm": 459.628,
        "rank": "x1921c3s4b0n0",
    }


def test_gpt_neox_outweighs_the_lines_of_its_library() -> None:
    log = fixture("gpt-neox/2023.log")
    assert log.reader.framework is Framework.GPT_NEOX
    assert [said(step) for step in log.steps] == [
        {
            "step": 34,
            "step_time_s": 4.1031,
            "at_s": 1690318997.269,
            "samples_per_s": 7.799,
            "tflops_per_gpu": 112.9,
            "loss": 11.18665,
        },
        {
            "step": 35,
            "step_time_s": 4.0963,
            "at_s": 1690319001.037,
            "samples_per_s": 7.812,
            "tflops_per_gpu": 113.1,
            "loss": 11.17902,
            "skipped": 1,
        },
    ]
    assert log.reader.remarks == ()  # DeepSpeed in a training of GPT-NeoX is nothing odd


def test_gpt_neox_prints_flops_of_any_size_and_its_own_arguments() -> None:
    arguments = b"  train_batch_size ................ 32.........................updated\n"
    arguments += b"  global_num_gpus ................. 8\n"
    line = b"iteration 2/ 9 | elapsed time per iteration (ms): 410.0 | approx flops per GPU: 95.5GFLOPS |\n"
    log = Log(arguments + b" samples/sec: 7.8 | " + line)
    assert log.steps[0].tflops_per_gpu == 0.0955
    assert (log.reader.facts.global_batch, log.reader.facts.gpus) == (32, 8)


def test_progress_of_megatron_has_a_start_and_checkpoints() -> None:
    log = fixture("megatron-progress/progress.txt")
    assert log.reader.framework is Framework.MEGATRON_PROGRESS
    assert [said(step) for step in log.steps] == [
        {"step": 100, "covers": 100, "at_s": 1740418503.0, "consumed_tokens": 0.42e9, "tflops_per_gpu": 364.8},
        {"step": 200, "covers": 100, "at_s": 1740418711.0, "consumed_tokens": 0.84e9, "tflops_per_gpu": 371.2},
        {"step": 300, "covers": 100, "at_s": 1740421244.0, "consumed_tokens": 1.26e9, "tflops_per_gpu": 380.1},
    ]
    assert log.told() == [
        (EventKind.START, None, None),
        (EventKind.CHECKPOINT_BEGUN, 100, None),
        (EventKind.CHECKPOINT_SAVED, 100, None),
        (EventKind.CHECKPOINT_BEGUN, 200, None),  # never finished
        (EventKind.START, None, None),
        (EventKind.CHECKPOINT_SAVED, 300, None),
    ]
    (remark,) = log.reader.remarks
    assert remark.what.english == "the training went on with 16 GPUs instead of 8" and remark.line == 5


def test_deepspeed_joins_its_two_lines_of_a_step() -> None:
    log = fixture("deepspeed/2023.log")
    assert log.reader.framework is Framework.DEEPSPEED
    assert [said(step) for step in log.steps] == [
        {
            "step": 10,
            "covers": 10,
            "at_s": 1692028833.12,
            "samples": 256,
            "samples_per_s": 64.00912418,
            "skipped": 2,
            "rank": "0",
        },
        {
            "step": 20,
            "covers": 10,
            "at_s": 1692028873.121,
            "samples": 256,
            "samples_per_s": 64.20912418,
            "skipped": 1,  # three in all
            "rank": "0",
        },
    ]
    assert log.told()[1:] == [(EventKind.CHECKPOINT_BEGUN, 20, None), (EventKind.CHECKPOINT_SAVED, 20, None)]
    facts = log.reader.facts
    assert (facts.gpus, facts.global_batch, facts.log_interval, facts.version) == (32, 256, 10, "0.10.0")


def test_megatron_deepspeed_with_equal_signs_as_argonne_writes_it() -> None:
    report = (
        "[2024-04-19 13:28:48,887] [INFO] [logging.py:96:log_dist] [Rank 0] step={0}, skipped=0, lr=[6e-06], mom=[1]\n"
        "[2024-04-19 13:28:48][INFO][training:1251] -  iteration=       {0}/   10000 | consumed_samples=        3456 | "
        "consumed_tokens=    14155776 | elapsed_time_per_iteration_ms=63383.5 | learning_rate=0.000006 | "
        "global_batch_size= 1152 | lm loss=11.198063 | loss_scale=1.0 | actual_seqlen= 4096 | "
        "number_of_skipped_iterations=  0 | number_of_nan_iterations=  0 | samples_per_second=18.175 | "
        "tokens_per_gpu_per_second_tgs=3101.882 | TFLOPs=72.38 |\n"
    )
    log = Log((report.format(3) + report.format(4)).encode())
    assert log.reader.framework is Framework.MEGATRON_DEEPSPEED
    assert said(log.steps[0]) == {
        "step": 3,
        "step_time_s": 63.3835,
        "at_s": 1713533328.0,
        "samples": 1152,
        "tokens": 1152 * 4096,
        "consumed_samples": 3456,
        "consumed_tokens": 14155776,
        "tokens_per_s_per_gpu": 3101.882,
        "samples_per_s": 18.175,
        "tflops_per_gpu": 72.38,
        "loss": 11.198063,
    }


def test_deepspeed_before_2023_and_its_pipelines() -> None:
    old = fixture("deepspeed/2022.log")
    assert [(step.step, step.samples_per_s) for step in old.steps] == [(40, 83.48609168106144), (50, 83.73838805358588)]
    assert [said(step) for step in fixture("deepspeed/pipeline.log").steps] == [
        {"step": 10, "covers": 10, "step_time_s": 1.234, "samples_per_s": 51.864, "loss": 5.8004},
        {"step": 20, "covers": 10, "step_time_s": 1.102, "samples_per_s": 58.076, "loss": 5.121},
    ]
    experts = "steps: 200 loss: 5.5508 lm loss: 5.5103 moe loss: 0.0405 iter time (s): 0.936 samples/sec: 136.706\n"
    assert [said(step) for step in Log(experts.encode()).steps] == [
        {"step": 200, "step_time_s": 0.936, "samples_per_s": 136.706, "loss": 5.5508}
    ]


def test_two_ranks_that_wrote_into_one_line_are_told_and_read_as_far_as_they_stand_whole() -> None:
    one, two = (FIRST, SECOND)
    log = Log((one[:-30] + two + "\n" + one + two + "\n").encode())
    assert [(step.step, step.step_time_s, step.skipped) for step in log.steps] == [
        (43, 5.4449, 0),  # its end is missing, and with it how many were skipped
        (44, 5.5338, 0),
        (43, 5.4449, 0),
        (44, 5.5338, 0),
    ]
    (remark,) = log.reader.remarks
    assert (remark.line, remark.count) == (1, 2)


FIRST, SECOND = (
    f" [2024-04-06 02:59:36] iteration       {n}/     100 | consumed samples:         5504 | elapsed time per iteration"
    f" (ms): {ms} | global batch size:   128 | lm loss: 1.825991E+00 | number of skipped iterations:   0 |"
    for n, ms in ((43, "5444.9"), (44, "5533.8"))
)
