"""Whose log is it, in what pieces may it come, and how much of it is held."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from healthcheck.model.training import EventKind, Framework, StepRecord
from healthcheck.vitals.logs.dialect import Means
from healthcheck.vitals.logs.lines import lines_of
from healthcheck.vitals.logs.reader import LogReader
from healthcheck.vitals.logs.spacing import Spacing
from tests.unit.vitals.logs.reading import FIXTURES, Log, fixture

LOGS = sorted(path for path in FIXTURES.glob("*/*") if path.suffix in (".log", ".txt"))
MEGATRON = " iteration {}/ 1000 | elapsed time per iteration (ms): 100.0 | lm loss: 1.0E+00 |\n"
DEEPSPEED = (
    "[2023-08-14 16:00:33,120] [INFO] [logging.py:96:log_dist] [Rank 0] step={}, skipped=0, lr=[1e-05], mom=[]\n"
)


@pytest.mark.parametrize("path", LOGS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_every_fixture_is_recognised_and_read_the_same_when_it_is_named(path) -> None:  # type: ignore[no-untyped-def]
    found = Log(path.read_bytes())
    assert found.reader.framework is not None
    assert path.parent.name in (found.reader.framework.value, "mixed")
    named = Log(path.read_bytes(), LogReader(found.reader.framework))
    assert repr(named.steps) == repr(found.steps) and repr(named.events) == repr(found.events)  # NaN is not NaN


def test_every_framework_has_a_fixture() -> None:
    assert {path.parent.name for path in LOGS} >= {framework.value for framework in Framework}


def test_what_no_framework_wrote_is_recognised_as_nobodys() -> None:
    log = Log(b"iteration\nstep: \n{'loss': \n| epoch 0 |\nhello\n" * 50)
    assert (log.reader.framework, log.steps, log.events, log.reader.remarks) == (None, [], [], ())


def test_a_framework_outweighs_its_library_even_where_that_says_much_more() -> None:
    text = "".join(DEEPSPEED.format(n) + (MEGATRON.format(n) if n % 50 == 0 else "") for n in range(1, 201))
    log = Log(text.encode())
    assert log.reader.framework is Framework.MEGATRON
    assert [(step.step, step.covers) for step in log.steps] == [(n, 50) for n in range(50, 201, 50)]
    assert log.reader.remarks == ()


def test_of_two_frameworks_the_one_with_more_reports_stands_and_the_other_is_told() -> None:
    titan = "step: {}  loss: 12.0  memory: 1.0GiB(1.00%)  tps: 100  tflops: 1.00  mfu: 1.00%\n"
    text = "".join(MEGATRON.format(n) for n in range(1, 4)) + "".join(titan.format(n) for n in range(1, 10))
    log = Log(text.encode())
    assert log.reader.framework is Framework.TORCHTITAN and len(log.steps) == 9
    assert [remark.what.english for remark in log.reader.remarks] == [
        "the log also has reports of megatron (3 until it was clear whose log it is): not read"
    ]


def test_a_named_framework_reads_only_its_own_lines() -> None:
    log = Log((DEEPSPEED.format(1) + MEGATRON.format(1)).encode(), LogReader(Framework.DEEPSPEED))
    assert log.reader.framework is Framework.DEEPSPEED
    assert [step.at_s for step in log.steps] == [1692028833.12]


def test_failures_are_told_in_their_words_and_a_start_after_them_is_another_one() -> None:
    log = fixture("mixed/failures.log")
    assert [event.kind for event in log.events] == [EventKind.START, *[EventKind.FAILURE] * 5, EventKind.START]
    texts = [event.text for event in log.events if event.kind is EventKind.FAILURE]
    assert texts[0].startswith("Watchdog caught collective operation timeout: WorkNCCL(SeqNum=94")
    assert texts[1].startswith("torch.OutOfMemoryError: CUDA out of memory.")
    assert texts[2].startswith("failed (exitcode: -6) local_rank: 3")
    assert texts[3].endswith("CANCELLED AT 2026-05-04T10:11:02 DUE TO TIME LIMIT ***")
    assert texts[4] == "srun: error: node-08: tasks 8-15: Exited with exit code 1"
    assert [event.rank for event in log.events if event.kind is EventKind.FAILURE][:2] == ["3", "5"]
    assert log.events[4].at_s == 1777889462.0


@pytest.mark.parametrize(
    "last",
    [
        "slurmstepd: error: Detected 1 oom-kill event(s) in StepId=88123.0. Some of the step tasks have been killed.",
        "train.sh: line 41:  4242 Segmentation fault      (core dumped) python pretrain_gpt.py",
        "[rank3]:terminate called after throwing an instance of 'c10::DistBackendError'",
        "train.sh: line 12: 12345 Killed                  python pretrain_gpt.py",
        "Killed",
        "torch.distributed.elastic.multiprocessing.api.SignalException: Process 12 got signal: 15",
        "[rank0]:[E1130 ProcessGroupNCCL.cpp:1182] [Rank 0] Some NCCL operations have failed or timed out. Due to",
        "mpirun noticed that process rank 3 with PID 0 on node node-08 exited on signal 9 (Killed).",
    ],
)
def test_a_process_that_ends_without_a_word_of_python_failed_too(last: str) -> None:
    log = Log((MEGATRON.format(1) + last + "\n").encode())
    assert [event.kind for event in log.events] == [EventKind.FAILURE]


def test_what_python_raises_counts_below_a_traceback_only() -> None:
    told = "ValueError: optimizer got an empty parameter list\n"
    assert Log((MEGATRON.format(1) + told).encode()).events == []
    log = Log((MEGATRON.format(1) + "Traceback (most recent call last):\n  File 'x.py'\n" + told).encode())
    assert [event.text for event in log.events] == [told.strip()]


def test_events_that_every_rank_prints_count_once() -> None:
    ranks = "".join(f"[rank{n}]:Starting job: x\n" for n in range(8))
    saved = "".join(f"[rank{n}]:Finished saving the checkpoint in 1.65 seconds.\n" for n in range(8))
    steps = "".join(f"[rank{n}]:step:  1  loss: 12.0  memory: 1.0GiB(1.00%)  tps: 100  mfu: 1.00%\n" for n in range(8))
    log = Log((ranks + steps + saved + ranks).encode())
    assert log.told() == [
        (EventKind.START, None, None),
        (EventKind.CHECKPOINT_SAVED, 1, 1.65),
        (EventKind.START, None, None),
    ]
    assert [step.rank for step in log.steps] == [str(n) for n in range(8)]


@pytest.mark.parametrize("size", [1, 7, 64, 100_000])
def test_a_log_may_come_in_pieces_of_any_size(size: int) -> None:
    data = (FIXTURES / "hf-trainer" / "v4.log").read_bytes().replace(b"\n", b"\r\n")
    pieces = [data[at : at + size] for at in range(0, len(data), size)]
    assert list(LogReader().read(lines_of(pieces))) == list(LogReader().read(lines_of([data])))


def test_lines_may_come_from_a_list_without_their_ends() -> None:
    text = (FIXTURES / "maxtext" / "2025.log").read_text()
    assert list(LogReader().read(text.splitlines())) == list(LogReader().read(text.splitlines(keepends=True)))


def test_memory_does_not_depend_on_a_line_that_never_ends() -> None:
    held: list[int] = []

    def chunks() -> Iterator[bytes]:
        for _ in range(40):
            yield b"x" * (1 << 20)
        yield b"\n" + MEGATRON.format(7).encode()

    for line in lines_of(chunks()):
        held.append(len(line))
    assert held == [1, len(MEGATRON.format(7))]


@pytest.mark.parametrize(
    ("means", "interval", "steps", "covers"),
    [
        (Means.INTERVAL, None, (1, 10, 20, 30), (1, 10, 10, 10)),
        (Means.INTERVAL, None, (10, 20, 30), (10, 10, 10)),
        (Means.INTERVAL, None, (1, 2, 3), (1, 1, 1)),
        (Means.INTERVAL, None, (1004, 1010, 1020), (1, 7, 10)),  # resumed at 1003
        (Means.INTERVAL, 10, (1004, 1010, 1020), (1, 7, 10)),
        (Means.INTERVAL, 100, (100,), (100,)),
        (Means.INTERVAL, None, (100,), (1,)),  # nothing says more
        (Means.SINCE_LAST, None, (1, 10, 20), (1, 9, 10)),
        (Means.SINCE_LAST, None, (410, 420), (10, 10)),
        (Means.SINCE_LAST, None, (4, 4, 8, 8, 12), (4, 4, 4, 4, 4)),  # two ranks
        (Means.SINCE_LAST, None, (10, 20, 30, 15, 20, 25), (10, 10, 10, 5, 5, 5)),  # a rollback
        (Means.STEP, None, (10, 20, 30), (1, 1, 1)),
    ],
)
def test_how_many_steps_a_report_is_the_mean_of(
    means: Means, interval: int | None, steps: tuple[int, ...], covers: tuple[int, ...]
) -> None:
    spacing = Spacing(means)
    spacing.interval = interval
    given = [item for step in steps for item in spacing.feed(StepRecord(step=step, line=step))]
    given += spacing.close()
    records = [item for item in given if isinstance(item, StepRecord)]
    assert [record.step for record in records] == list(steps)
    assert tuple(record.covers for record in records) == covers
