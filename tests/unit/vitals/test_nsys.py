"""Exports of Nsight Systems: each kernel to its GPU and step; what a version of the tool leaves out is no error."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from healthcheck.errors import InputError
from healthcheck.reporting.trace_text import trace_lines
from healthcheck.vitals.breakdown import busy_of, step_breakdown, windows_of
from healthcheck.vitals.columns import UNKNOWN, Kind, RankColumns
from healthcheck.vitals.intervals import length
from healthcheck.vitals.nsys import read_export
from healthcheck.vitals.trace_answer import trace_vitals
from healthcheck.vitals.trace_rank import rank_told
from tests.nsys_export import Export

ALL_REDUCE = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
GEMM = "sm90_xmma_gemm_bf16bf16_bf16f32_f32"


def two_steps(export: Export) -> Export:
    """Two steps of 100 us: the host is ahead by 10; gemm 60, all-reduce of 40 of which 10 are exposed, copy of 10."""
    for number, at in enumerate((0.0, 100.0)):
        export.range(f"iteration {number + 5}", at, at + 95)
        export.range("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", at + 1, at + 4)
        export.kernel(GEMM, at + 10, at + 70, launch=at + 5)
        export.kernel(ALL_REDUCE, at + 40, at + 80, launch=at + 6, stream=20)
        export.memcpy(at + 80, at + 90, launch=at + 7)
    return export


def read(path: Path, step_range: str | None = None) -> tuple[RankColumns, ...]:
    connection = sqlite3.connect(path)
    try:
        return read_export(connection, str(path), step_range)
    finally:
        connection.close()


@pytest.fixture
def export(tmp_path: Path) -> Callable[..., Export]:
    return lambda **settings: Export(tmp_path / "profile.sqlite", **settings)


def test_the_breakdown_of_a_step_is_what_was_put_in(export: Callable[..., Export]) -> None:
    (gpu,) = read(two_steps(export()).close())
    first, second = windows_of(gpu.events, gpu.steps)
    assert (first.step, second.step) == (5, 6)
    found = step_breakdown(first, busy_of(gpu.events), gpu.data_loading)
    assert found.wall_s == pytest.approx(100e-6)
    assert found.compute_s == pytest.approx(60e-6)
    assert found.collective_s == pytest.approx(40e-6)
    assert found.exposed_s == pytest.approx(10e-6)
    assert found.exposed_memcpy_s == pytest.approx(10e-6)
    assert found.idle_s == pytest.approx(20e-6)
    assert found.data_loading_s == pytest.approx(3e-6)


@pytest.mark.parametrize("gone", ["globalPid", "CUPTI_ACTIVITY_KIND_RUNTIME", "shortName", "graphNodeId", "text"])
def test_what_a_version_of_the_tool_leaves_out_is_no_error(export: Callable[..., Export], gone: str) -> None:
    (gpu,) = read(two_steps(export(omit=frozenset({gone}))).close())
    assert len(gpu.events) == 6
    assert (gpu.events.kind == Kind.COLLECTIVE).sum() == 2
    assert ((gpu.events.launch == UNKNOWN).all()) == (gone == "CUPTI_ACTIVITY_KIND_RUNTIME")
    assert len(gpu.steps) == (0 if gone == "text" else 2)


def test_a_registered_name_of_a_range_counts_like_a_written_one(export: Callable[..., Export]) -> None:
    made = export()
    made.range("ProfilerStep#3", 0, 50, registered=True)
    made.kernel(GEMM, 5, 40)
    (gpu,) = read(made.close())
    assert gpu.steps.number.tolist() == [3]


def test_a_kernel_belongs_to_the_step_that_launched_it(export: Callable[..., Export]) -> None:
    made = export()
    made.range("step 0", 0, 10)
    made.range("step 1", 10, 20)
    made.kernel(GEMM, 5, 60, launch=2)  # step 0 is on the GPU until here, long after the host has ended it
    made.kernel(GEMM, 60, 100, launch=12)
    (gpu,) = read(made.close())
    first, second = windows_of(gpu.events, gpu.steps)
    assert (first.end, second.begin, second.end) == (60_000, 60_000, 100_000)


def test_numbers_of_calls_are_told_apart_by_their_process(export: Callable[..., Export]) -> None:
    made = export()
    for pid, late in ((100, 0.0), (200, 500.0)):
        made._calls = 0  # each process counts its own calls
        made.range("step 0", late, late + 90, pid=pid)
        made.kernel(GEMM, late + 20, late + 60, launch=late + 10, pid=pid)
    one, other = read(made.close())
    assert one.events.launch.tolist() == [10_000]
    assert other.events.launch.tolist() == [510_000]
    assert (one.steps.begin.tolist(), other.steps.begin.tolist()) == ([0], [500_000])


def test_one_process_with_two_gpus_has_one_row_of_steps_for_both(export: Callable[..., Export]) -> None:
    made = export()
    made.gpu(0, "NVIDIA A100-SXM4-80GB", cuda=0)
    made.gpu(1, "NVIDIA H100 80GB HBM3", cuda=1)
    made.range("train_step", 0, 100)
    made.kernel(GEMM, 10, 60, device=0)
    made.kernel(ALL_REDUCE, 10, 90, device=1)
    one, other = read(made.close())
    assert [(gpu.device, gpu.gpu, len(gpu.steps)) for gpu in (one, other)] == [
        (0, "NVIDIA A100-SXM4-80GB", 1),
        (1, "NVIDIA H100 80GB HBM3", 1),
    ]


@pytest.mark.parametrize("known", [True, False])
def test_processes_that_each_see_one_gpu_are_told_apart(export: Callable[..., Export], known: bool) -> None:
    made = export()
    for place, pid in enumerate((100, 200)):
        if known:
            made.gpu(4 + place, "NVIDIA H100 80GB HBM3", cuda=0, pid=pid)
        made.kernel(GEMM, 10, 60, device=0, pid=pid)
    assert [gpu.device for gpu in read(made.close())] == ([4, 5] if known else [0, 1])


def test_a_graph_recorded_as_one_block_is_told_by_how_long_it_ran(export: Callable[..., Export]) -> None:
    made = export()
    made.range("step 0", 0, 100)
    made.graph(10, 70)
    made.kernel(ALL_REDUCE, 70, 90)
    (gpu,) = read(made.close())
    assert length(gpu.opaque) == 60_000
    assert gpu.events.kind.tolist() == [Kind.COMPUTE, Kind.COLLECTIVE]


@pytest.mark.parametrize(("graph_us", "refused"), [(60, True), (0.9, False)])
def test_no_share_is_told_of_steps_that_ran_as_graphs(
    export: Callable[..., Export], graph_us: float, refused: bool
) -> None:
    made = export()
    for at in (0, 100):
        made.range(f"step {at // 100}", at, at + 100)
        made.graph(at + 5, at + 5 + graph_us)
        made.kernel(ALL_REDUCE, at + 70, at + 90)
    ranks = [told for gpu in read(made.close()) if (told := rank_told(gpu)) is not None]
    found = trace_vitals(ranks, ["a"], [], "nsys")
    assert found.step_s == pytest.approx(100e-6)
    assert (found.exit_code, found.shares is None) == ((3, True) if refused else (0, False))
    if refused:
        assert "60 % of the step ran as CUDA graphs" in str(found.missing[0])
        assert "--cuda-graph-trace=node" in str(found.missing[0])
        assert "A step takes 0.10 ms under the profiler" in trace_lines(found)[0]
    else:
        assert found.lower_bound


def test_kernels_of_a_graph_recorded_node_by_node_are_kernels(export: Callable[..., Export]) -> None:
    made = export()
    made.kernel(ALL_REDUCE, 70, 90, graph_node=12)
    (gpu,) = read(made.close())
    assert length(gpu.opaque) == 0
    assert gpu.calls.shapes[0].name == "all_reduce"


def test_communication_without_nccl_is_found_by_its_namespace(export: Callable[..., Export]) -> None:
    made = export()
    made.kernel("void deep_ep::intranode::dispatch<8>(int4*)", 0, 30)
    made.kernel(GEMM, 30, 40)
    (gpu,) = read(made.close())
    ((name, spans),) = gpu.foreign
    assert (name, length(spans)) == ("void deep_ep::intranode::dispatch<8>(int4*)", 30_000)


@pytest.mark.parametrize(
    ("names", "steps"),
    [
        (["iteration 4", "Optimizer.step#Adam.step"], [4]),
        (["iteration 4", "step 0"], [4]),
        (["Iteration: 12/500", "forward_step", "backward-step"], [12]),
        (["step::2"], [2]),
        (["train_step", "train_step"], [0, 1]),
        (["ProfilerStep#9, op_id = 3"], [9]),
        (["optimizer_step", "iterations", "stepper 3", "aten::step", "Optimizer.step#Adam.step"], []),
    ],
)
def test_steps_are_known_by_their_names(export: Callable[..., Export], names: list[str], steps: list[int]) -> None:
    made = export()
    for number, name in enumerate(names):
        made.range(name, number * 10, number * 10 + 9)
    made.kernel(GEMM, 0, 100)
    (gpu,) = read(made.close())
    assert gpu.steps.number.tolist() == steps


def test_a_pattern_of_the_user_says_which_ranges_are_steps(export: Callable[..., Export]) -> None:
    made = export()
    made.range("iteration 1", 0, 100)
    made.range("micro batch 7 fwd", 0, 40)
    made.range("micro batch 8 fwd", 40, 90)
    made.kernel(GEMM, 0, 100)
    (gpu,) = read(made.close(), r"micro batch")
    assert gpu.steps.number.tolist() == [7, 8]
    with pytest.raises(InputError, match=r"--step-range: .* is not a regular expression"):
        read(made.path, "step [")


def test_without_a_name_a_step_lasts_from_optimiser_to_optimiser(export: Callable[..., Export]) -> None:
    made = export()
    for at in (80, 180, 280):  # two optimisers a step
        made.range("Optimizer.step#FusedAdam.step, op_id = 7", at, at + 5)
        made.range("Optimizer.step#FusedAdam.step, op_id = 9", at + 7, at + 12)
    made.kernel(GEMM, 0, 300)
    (gpu,) = read(made.close())
    assert gpu.steps.begin.tolist() == [92_000, 192_000]
    assert gpu.steps.end.tolist() == [192_000, 292_000]
    assert "--step-range" in str(gpu.notes[0])


def test_calls_of_the_driver_launch_kernels_like_those_of_the_runtime(export: Callable[..., Export]) -> None:
    made = export()
    made.kernel(GEMM, 20, 60, launch=10)
    path = made.close()
    with sqlite3.connect(path) as connection:
        connection.execute("ALTER TABLE CUPTI_ACTIVITY_KIND_RUNTIME RENAME TO CUPTI_ACTIVITY_KIND_DRIVER")
    (gpu,) = read(path)
    assert gpu.events.launch.tolist() == [10_000]


def test_a_launch_whose_kernel_is_not_there_is_told(export: Callable[..., Export]) -> None:
    made = export()
    made.kernel(GEMM, 20, 60, launch=10)
    made.launch(90)
    made.launch(95, pid=77)
    (gpu,) = read(made.close())
    assert gpu.unanswered.tolist() == [90_000]


def test_rows_of_other_types_do_no_harm(export: Callable[..., Export]) -> None:
    path = two_steps(export()).close()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET deviceId = 'x', start = 'soon' WHERE rowid = 1")
        connection.execute("UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET end = start, globalPid = NULL")
        connection.execute("UPDATE NVTX_EVENTS SET text = x'ff00', globalTid = 'y' WHERE rowid = 1")
    assert sum(len(gpu.events) for gpu in read(path)) == 3


def test_a_step_that_was_still_open_is_none(export: Callable[..., Export]) -> None:
    made = export()
    made.range("step 0", 0, 50)
    made.range("step 1", 50, None)
    made.kernel(GEMM, 0, 100)
    (gpu,) = read(made.close())
    assert gpu.steps.number.tolist() == [0]


def test_nothing_recorded_is_no_gpu(export: Callable[..., Export]) -> None:
    made = export()
    made.range("step 0", 0, 50)
    assert read(made.close()) == ()


def test_the_rank_is_read_from_the_name_of_a_file_of_one_gpu(tmp_path: Path) -> None:
    made = Export(tmp_path / "job_rank12.sqlite")
    made.kernel(GEMM, 0, 10)
    assert read(made.close())[0].rank == 12


def test_a_database_of_somebody_else_is_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "phone.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE contacts (name TEXT)")
    with pytest.raises(InputError, match=r"phone\.sqlite: is a SQLite file, but not an export .* \(it has contacts\)"):
        read(path)
