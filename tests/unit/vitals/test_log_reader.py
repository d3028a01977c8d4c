"""Lines of real trainings, as each framework prints them -> steps and events, to the digit."""

from __future__ import annotations

from pathlib import Path

from healthcheck.model.training import EventKind, Framework, RunEvent, StepRecord
from healthcheck.vitals.logs.lines import lines_of
from healthcheck.vitals.logs.reader import LogReader

FIXTURES = Path(__file__).parents[2] / "fixtures" / "training"


def read(name: str) -> tuple[LogReader, list[StepRecord], list[RunEvent]]:
    """A fixture, detected by itself."""
    reader = LogReader()
    items = list(reader.read(lines_of([(FIXTURES / name).read_bytes()])))
    return (
        reader,
        [item for item in items if isinstance(item, StepRecord)],
        [item for item in items if isinstance(item, RunEvent)],
    )


def test_megatron_with_throughput() -> None:
    reader, steps, events = read("megatron/2024-throughput.log")
    assert reader.framework is Framework.MEGATRON
    assert [step.step for step in steps] == [43, 44]
    first = steps[0]
    assert (first.step_time_s, first.samples, first.consumed_samples) == (5.4449, 128, 5504)
    assert (first.tflops_per_gpu, first.loss, first.grad_norm) == (239.8, 1.825991, 1.426)
    assert (reader.facts.gpus, reader.facts.seq_len, reader.facts.layers) == (16, 2048, 32)
    assert [event.kind for event in events] == [EventKind.START]


def test_torchtitan_of_2026() -> None:
    reader, steps, events = read("torchtitan/2026-qwen3.log")
    assert reader.framework is Framework.TORCHTITAN
    assert [(step.step, step.covers, step.rank) for step in steps] == [(1, 1, "0"), (10, 9, "0")]
    last = steps[-1]
    assert (last.tokens_per_s_per_gpu, last.tflops_per_gpu, last.mfu) == (10006, 843.11, 0.3747)
    assert (last.samples, last.tokens, last.loss, last.grad_norm) == (2560, 327680, 5.89456, 29.875)
    assert last.step_time_s is not None and abs(last.step_time_s - 36.841 / 9) < 0.001  # as the clock of the log says
    facts = reader.facts
    assert (facts.gpus, facts.gpu, facts.params, facts.peak_tflops) == (8, "NVIDIA B200", 14768307200, 2250)
    assert [event.kind for event in events] == [EventKind.START, EventKind.EXIT]
