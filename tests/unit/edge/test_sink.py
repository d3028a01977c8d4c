"""Raw output on disk: whole, bounded without losing the measurement, and watched."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from healthcheck.edge.sink import FileJobSink
from healthcheck.errors import StoreError
from healthcheck.parsing.nccl_tests import parse_output
from healthcheck.simulator.transport import VirtualClock
from tests.full_disk import files_of_at_most

TABLE = (Path(__file__).parents[2] / "fixtures" / "nccl_tests" / "v2.17.10-mpi-np16-2hosts.txt").read_bytes()
INFO = b"n001:1234:1250 [3] NCCL INFO Channel 07/0 : 3[3] -> 4[4] via P2P/CUMEM/read\n"


def _sink(folder: Path, bound: int = 1 << 20) -> tuple[FileJobSink, VirtualClock]:
    clock = VirtualClock(datetime(2026, 1, 1, tzinfo=UTC))
    return FileJobSink(folder, clock, bound), clock


def test_what_arrives_is_on_disk_before_the_job_ends(tmp_path: Path) -> None:
    sink, _ = _sink(tmp_path)
    sink.stdout(b"# nThread 1")
    assert (tmp_path / "stdout").read_bytes() == b"# nThread 1"


def test_below_the_bound_every_byte_stays(tmp_path: Path) -> None:
    sink, _ = _sink(tmp_path)
    for n in range(0, len(TABLE), 37):
        sink.stdout(TABLE[n : n + 37])
    sink.stderr(b"noise\xff")
    sink.close()
    assert (tmp_path / "stdout").read_bytes() == TABLE
    assert (tmp_path / "stderr").read_bytes() == b"noise\xff"
    assert sink.bytes_cut == 0


def test_above_the_bound_the_chatter_goes_and_the_measurement_stays(tmp_path: Path) -> None:
    sink, _ = _sink(tmp_path, bound=20_000)
    lines = TABLE.splitlines(keepends=True)
    for line in lines:
        sink.stdout(INFO * 40)
        sink.stdout(line[:20])
        sink.stdout(line[20:])
    sink.stdout(b"n002: Test NCCL failure all_reduce.cu:44 'unhandled system error'\n" + INFO * 40)
    sink.close()
    kept = (tmp_path / "stdout").read_bytes()
    assert len(kept) < 50_000
    assert sink.bytes_cut == len(INFO) * 40 * (len(lines) + 1) - kept.count(b"NCCL INFO") * len(INFO)
    assert b"Test NCCL failure" in kept
    whole, bounded = (parse_output(text.decode().splitlines(keepends=True)) for text in (TABLE, kept))
    assert bounded.tables[0].rows == whole.tables[0].rows
    assert bounded.tables[0].complete


def test_a_line_that_never_ends_does_not_fill_memory_or_disk(tmp_path: Path) -> None:
    sink, _ = _sink(tmp_path, bound=100_000)
    for _ in range(50):
        sink.stdout(b"x" * 100_000)
    sink.close()
    assert (tmp_path / "stdout").stat().st_size <= 2 * 100_000
    assert sink.bytes_cut >= 4_000_000


def test_growth_and_footer_are_noticed_even_in_pieces(tmp_path: Path) -> None:
    sink, clock = _sink(tmp_path)
    clock.sleep(5)
    sink.stderr(b"x")
    assert sink.grew_at == clock.monotonic()
    clock.sleep(5)
    sink.stdout(b"# Out of bounds values : 0 OK\n# Avg bus band")
    assert sink.footer_at is None
    sink.stdout(b"width    : 187.3 \n")
    assert sink.footer_at == clock.monotonic()


def test_a_disk_that_takes_a_part_and_then_no_more_is_one_sentence(tmp_path: Path) -> None:
    sink, _ = _sink(tmp_path)
    with files_of_at_most(10):
        sink.stdout(b"12345678")
        with pytest.raises(StoreError, match=r"cannot write .*stdout: File too large"):
            sink.stdout(b"abcdefgh")
    assert (tmp_path / "stdout").read_bytes() == b"12345678ab", "a part that was taken is not written twice"


def test_a_disk_too_full_for_the_last_line_of_one_stream_costs_nothing_of_the_other(tmp_path: Path) -> None:
    before = set(Path("/proc/self/fd").iterdir())
    sink, _ = _sink(tmp_path, bound=4)
    sink.stdout(b"# a line without an end")
    sink.stderr(b"# short")
    with files_of_at_most(10), pytest.raises(StoreError, match=r"cannot write .*stdout: File too large"):
        sink.close()
    assert (tmp_path / "stderr").read_bytes() == b"# short"
    assert set(Path("/proc/self/fd").iterdir()) <= before, "neither file is left open"
