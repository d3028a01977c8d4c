"""`vitals trace` with exports of Nsight Systems, from the command line."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.nsys_export import Export
from tests.walk.cli import Shell

ALL_REDUCE = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"


def export(path: Path, exposed: float = 10) -> Path:
    """Two steps of 1000 us on two GPUs; the second one's collective is exposed for longer."""
    made = Export(path)
    for number in (7, 8):
        at = (number - 7) * 1000.0
        made.range(f"iteration {number}", at, at + 1000)
        for device, alone in ((0, exposed), (1, 2 * exposed)):
            made.kernel("sm90_gemm", at + 10, at + 810 - alone, launch=at + 5, device=device)
            made.kernel(ALL_REDUCE, at + 600, at + 810, launch=at + 6, device=device, stream=9)
    return made.close()


def test_two_gpus_of_one_process_are_two_rows_and_the_split_is_what_was_put_in(shell: Shell, tmp_path: Path) -> None:
    export(tmp_path / "profile.sqlite", exposed=100)
    said = shell("vitals", "trace", "profile.sqlite", "--json")
    assert said.code == 0
    document = json.loads(said.out)
    assert document["source"] == "nsys"
    assert [(rank["device"], [step["step"] for step in rank["steps"]]) for rank in document["ranks"]] == [
        (0, [7, 8]),
        (1, [7, 8]),
    ]
    exposed = [rank["steps"][0]["exposed_s"] for rank in document["ranks"]]
    assert exposed == pytest.approx([100e-6, 200e-6])
    assert document["collectives"][0]["name"] == "all_reduce"
    assert document["collectives"][0]["busbw_gbyte_s"] is None


def test_a_report_that_was_not_exported_asks_for_the_export(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "node0.nsys-rep").write_bytes(b"\x00report")
    said = shell("vitals", "trace", "node0.nsys-rep")
    assert said.code == 2
    assert "run `nsys export --type sqlite node0.nsys-rep`, then give the .sqlite file" in said.err
    assert said.err.count("\n") == 1


def test_an_export_that_is_cut_off_or_of_somebody_else_is_one_sentence(shell: Shell, tmp_path: Path) -> None:
    path = export(tmp_path / "profile.sqlite")
    os.truncate(path, path.stat().st_size // 2)
    said = shell("vitals", "trace", "profile.sqlite")
    assert (said.code, said.err.count("\n")) == (2, 1)
    assert "was cut off" in said.err


def test_graphs_recorded_as_one_block_give_no_shares_and_say_why(shell: Shell, tmp_path: Path) -> None:
    made = Export(tmp_path / "graphs.sqlite")
    made.range("step 3", 0, 1000)
    made.graph(10, 700)
    made.kernel(ALL_REDUCE, 700, 900)
    made.close()
    said = shell("vitals", "trace", "graphs.sqlite")
    assert said.code == 3
    assert "A step takes" in said.out.splitlines()[0]
    assert "--cuda-graph-trace=node" in " ".join(said.out.split())


def test_an_export_without_kernels_says_what_to_do(shell: Shell, tmp_path: Path) -> None:
    made = Export(tmp_path / "empty.sqlite")
    made.range("step 3", 0, 1000)
    made.close()
    said = shell("vitals", "trace", "empty.sqlite")
    assert said.code == 3
    assert "cudaProfilerStart" in said.out


def test_nothing_is_left_beside_an_export(shell: Shell, tmp_path: Path) -> None:
    folder = tmp_path / "exports"
    folder.mkdir()
    export(folder / "profile.sqlite")
    folder.chmod(0o500)
    assert shell("vitals", "trace", "exports").code == 0
    assert [entry.name for entry in folder.iterdir()] == ["profile.sqlite"]
