"""`vitals trace` as an operator types it."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import pytest

from tests.nsys_export import Export
from tests.unit.vitals.kineto_worlds import Trace, overlaps
from tests.walk.cli import Shell


@pytest.fixture
def traces(tmp_path: Path) -> Path:
    folder = tmp_path / "traces"
    folder.mkdir()
    (folder / "rank-0.pt.trace.json").write_text(overlaps(0).text())
    (folder / "rank-1.pt.trace.json.gz").write_bytes(gzip.compress(overlaps(1).text(None).encode()))
    return folder


def test_the_first_line_answers(shell: Shell, traces: Path) -> None:
    said = shell("vitals", "trace", str(traces))
    assert (said.code, said.err) == (0, "")
    assert said.out.splitlines()[0] == (
        "A step takes 1.00 ms on the slowest rank (rank 0): 50 % compute, 20 % collective that nothing hides "
        "(30 % in all), 5.0 % copies, 25 % idle."
    )
    assert "2 MB" in said.out and "300 µs" in said.out


def test_json_is_one_document_with_every_step(shell: Shell, traces: Path) -> None:
    said = shell("vitals", "trace", str(traces), "--json", "--lang", "zh")
    found = json.loads(said.out)
    assert found["schema"] == "healthcheck.vitals.trace/1"
    assert [[step["step"] for step in rank["steps"]] for rank in found["ranks"]] == [[3, 4], [3, 4]]
    assert found["collectives"][0]["busbw_gbyte_s"] == pytest.approx(6.667, abs=1e-3)
    assert (found["world_size"], found["exit_code"]) == (2, 0)


def test_it_is_told_in_chinese_where_that_is_asked_for(shell: Shell, traces: Path) -> None:
    assert shell("vitals", "trace", str(traces), "--lang", "zh").out.startswith("最慢的 rank（rank 0）每步 1.00 ms")


def test_a_trace_without_a_kernel_says_what_to_do(shell: Shell, tmp_path: Path) -> None:
    trace = Trace()
    trace.step(1, 0, 1000)
    (tmp_path / "cpu.json").write_text(trace.text())
    said = shell("vitals", "trace", str(tmp_path / "cpu.json"))
    assert said.code == 3
    assert "ProfilerActivity.CUDA" in said.out


def test_a_trace_that_breaks_off_in_its_first_step_says_so(shell: Shell, traces: Path, tmp_path: Path) -> None:
    text = (traces / "rank-0.pt.trace.json").read_text()
    (tmp_path / "cut.json").write_text(text[: len(text) // 3])
    said = shell("vitals", "trace", str(tmp_path / "cut.json"))
    assert said.code == 3
    told = " ".join(said.out.split())  # long lines are wrapped
    assert "breaks off before the end of its first step" in told and "ProfilerActivity" not in told


def test_other_files_of_a_folder_are_passed_over_and_told(shell: Shell, traces: Path) -> None:
    (traces / "config.json").write_text('{"lr": 1e-4}')
    said = shell("vitals", "trace", str(traces))
    assert said.code == 0
    assert "config.json" in said.out


def test_what_is_no_profile_is_one_sentence(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "empty.json").write_bytes(b"")
    (tmp_path / "log.txt").write_text("iteration 1/ 10 | elapsed time\n")
    (tmp_path / "none").mkdir()
    os.mkfifo(tmp_path / "pipe.json")
    wrong = ("empty.json", "log.txt", "none", "gone.json", "pipe.json")
    for name in wrong:
        said = shell("vitals", "trace", str(tmp_path / name))
        assert (said.code, said.out) == (2, ""), name
        assert said.err.count("\n") == 1 and name in said.err, said.err
    said = shell("vitals", "trace", str(tmp_path / "log.txt"), "--step-range", "iter")
    assert said.code == 2 and "--step-range" in said.err


@pytest.fixture
def export(tmp_path: Path) -> Path:
    made = Export(tmp_path / "rank2.sqlite")
    for number, at in enumerate((0.0, 1000.0)):
        made.range(f"iteration {number + 5}", at, at + 990)
        made.kernel("sm90_gemm", at + 100, at + 700, launch=at + 5)
        made.kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", at + 600, at + 800, launch=at + 6, stream=20)
    return made.close()


def test_an_export_of_nsight_systems_is_told_apart_by_what_is_in_it(shell: Shell, export: Path) -> None:
    said = shell("vitals", "trace", str(export), "--step-range", r"iteration \d+")
    assert said.code == 0, said.err
    assert said.out.startswith("A step takes 0.99 ms on the slowest rank (rank 2): 60 % compute, 10 % collective that ")
    found = json.loads(shell("vitals", "trace", str(export), "--json").out)
    assert (found["source"], found["ranks"][0]["steps"][0]["step"]) == ("nsys", 5)


def test_a_folder_of_exports_may_hold_other_files(shell: Shell, export: Path) -> None:
    (export.parent / "config.json").write_text('{"lr": 1e-4}')
    said = shell("vitals", "trace", str(export.parent), str(export), "--json")
    assert said.code == 0, said.err
    assert json.loads(said.out)["files"] == [str(export)]


def test_traces_of_both_kinds_are_not_one_training(shell: Shell, export: Path, traces: Path) -> None:
    said = shell("vitals", "trace", str(export), str(traces))
    assert (said.code, said.out) == (2, "")
    assert "name files of one kind" in said.err and said.err.count("\n") == 1
