"""What launchers, loggers and collectors put in front of a line, and what terminals and copies do to it."""

from __future__ import annotations

import pytest

from healthcheck.vitals.logs.stamps import rank_of, stamp_of
from tests.unit.vitals.logs.reading import Log

LINE = (
    " iteration       43/     100 | consumed samples:         5504 | elapsed time per iteration (ms): 5444.9 | "
    "global batch size:   128 | lm loss: 1.825991E+00 | number of skipped iterations:   0 |"
)
NOON = 1712404800.0  # 2024-04-06 12:00:00 UTC


@pytest.mark.parametrize(
    ("prefix", "rank"),
    [
        ("[default7]:", "default7"),
        ("[rank3]:", "3"),
        ("[trainer12]:", "trainer12"),
        ("[1,3]<stdout>:", "3"),
        ("[1,0]<stderr>: ", "0"),
        ("0: ", "0"),
        ("  17: ", "17"),
        ("worker-3: ", "worker-3"),
        ("jean-zay-iam01.cluster: ", "jean-zay-iam01.cluster"),
        ("trainer_1  | ", "trainer_1"),
        ("[pod/llama-worker-2/pytorch] ", "llama-worker-2/pytorch"),
        ("(TrainWorker pid=4242, ip=10.0.0.7) ", "TrainWorker pid=4242, ip=10.0.0.7"),
        ("my_job/12 ", "12"),
        ("[2024-04-06 12:00:00,001] [INFO] [logging.py:96:log_dist] [Rank 5] ", "5"),
        ("INFO: ", None),
        ("2024-04-06 12:00:00,001 - root - INFO - ", None),
        ("", None),
    ],
)
def test_who_printed_a_line(prefix: str, rank: str | None) -> None:
    (step,) = Log((prefix + LINE + "\n").encode()).steps
    assert (step.step, step.rank, step.step_time_s) == (43, rank, 5.4449)


@pytest.mark.parametrize(
    "stamp",
    [
        "[2024-04-06 12:00:00]",
        "[2024-04-06 12:00:00.000000]",
        "2024-04-06 12:00:00,000 - root - INFO -",
        "2024-04-06T12:00:00Z stdout F",
        "2024-04-06T12:00:00.000000000Z",
        "2024-04-06T14:00:00+02:00",
        '2024-04-06T08:00:00.000-0400 {app="train"}',
        "[20240406 12:00:00][rank-3/8][INFO ]",
        "04/06/2024 12:00:00 [INFO|DP=0]",
        "04/06/2024 12:00:00 PM [INFO|DP=0]",
        # A collector's own clock, and then the one of the framework, which is nearer to the event.
        "2024-04-06T12:00:04.5Z [default7]: [2024-04-06 12:00:00]",
    ],
)
def test_when_a_line_was_printed(stamp: str) -> None:
    (step,) = Log(f"{stamp} {LINE}\n".encode()).steps
    assert step.at_s == NOON


@pytest.mark.parametrize(
    "no_time", ["2024-02-31 12:00:00", "2024-04-06 25:00:00", "12:00:00", "2024-04-06", "x2024-13-01 00:00:00"]
)
def test_what_is_no_time_is_none(no_time: str) -> None:
    (step,) = Log(f"[{no_time}] {LINE}\n".encode()).steps
    assert step.at_s is None and stamp_of(no_time) is None


def test_a_level_is_nobody() -> None:
    assert rank_of("WARNING: ") is None and rank_of("note: ") is None


@pytest.mark.parametrize(
    "data",
    [
        f"{LINE}\r\n",
        f"\ufeff{LINE}\n",
        f"\x1b[32m{LINE}\x1b[0m\n",
        f"\x1b]0;title\x07{LINE}\n",
        f" 10%|#         | 1/10 [00:01<00:09,  1.00s/it]\r{LINE}\n",
        f"\0\0{LINE}\n",
    ],
)
def test_a_line_is_read_whatever_a_terminal_or_a_copy_did_to_it(data: str) -> None:
    (step,) = Log(data.encode()).steps
    assert (step.step, step.line, step.samples) == (43, 1, 128)


def test_the_log_file_of_docker_holds_each_line_in_json() -> None:
    packed = '{{"log":"{}\\n","stream":"stdout","time":"2024-04-06T12:00:00.5Z"}}\n'
    log = Log((packed.format(LINE) + packed.format("\\u001b[31m" + LINE) + '{"log":"half\n' + LINE + "\n").encode())
    assert [(step.line, step.at_s) for step in log.steps] == [(1, NOON + 0.5), (2, NOON + 0.5), (4, None)]
    titan = "step:  1  loss: 12.0  memory: 1.0GiB(1.00%)  tps: 100  tflops: 1.00  mfu: 1.00%"
    assert [step.mfu for step in Log(packed.format(titan).encode()).steps] == [0.01]


def test_bytes_that_are_no_text_harm_only_their_own_line() -> None:
    log = Log(b"\xff\xfe\x80 rubbish\n" + LINE.encode() + b"\n\xc3\n" + LINE.replace("43/", "44/").encode() + b"\n")
    assert [(step.step, step.line) for step in log.steps] == [(43, 2), (44, 4)]


def test_a_last_line_that_is_being_written_is_not_read() -> None:
    assert [step.step for step in Log((LINE + "\n" + LINE.replace("43/", "44/")).encode()).steps] == [43]


def test_lines_are_counted_as_an_editor_does() -> None:
    bar = "\r".join(f" {n}%| | {n}/100 [00:01<00:09,  1.00s/it]" for n in range(50))
    log = Log(f"{bar}\nnext\n{LINE}\n".encode())
    assert [step.line for step in log.steps] == [3]
