"""`vitals trace` over whole traces of torch.profiler: the numbers, and what is said of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from healthcheck.model.message import say
from healthcheck.vitals.trace_answer import trace_vitals
from tests.unit.vitals.kineto_told import codes, told, us, vitals
from tests.unit.vitals.kineto_worlds import ALLGATHER, WORLDS, Event, Trace, busy, old, overlaps

HTA = Path(__file__).parent.parent.parent / "fixtures" / "training" / "hta"


def test_a_step_is_split_as_drawn() -> None:
    (rank,) = vitals(overlaps().text()).ranks
    assert [step.step for step in rank.steps] == [3, 4]
    for step in rank.steps:
        split = (step.wall_s, step.compute_s, step.collective_s, step.exposed_s, step.memcpy_s, step.exposed_memcpy_s)
        assert tuple(map(us, split)) == (1000, 500, 300, 200, 100, 50)
        assert us(step.idle_s) == 250
        assert us(step.data_loading_s) == 50  # the host waits to 90, the copy begins at 50
    assert (rank.rank, rank.device, rank.gpu, rank.whole) == (0, 0, "NVIDIA A100-SXM4-80GB", False)
    assert rank.shares.exposed == pytest.approx(0.2)


def test_bus_bandwidth_is_of_the_rank_that_came_last_and_the_rest_is_waiting() -> None:
    found = vitals(*(overlaps(rank).text() for rank in range(2)))
    (use,) = found.collectives
    assert (use.name, use.dtype, use.size_bytes, use.group_size) == ("all_reduce", "BFloat16", 2_000_000, 2)
    assert (use.calls, use.ranks, us(use.transfer_s), us(use.skew_s)) == (2, 2, 300, 20)
    assert use.busbw_gbyte_s == pytest.approx(2e6 / 300e-6 / 1e9)  # two ranks: factor 1
    assert [us(rank.waiting_s) for rank in found.ranks] == [0, 20]
    assert found.world_size == 2


def test_one_rank_alone_says_that_waiting_is_inside() -> None:
    found = vitals(overlaps().text())
    assert found.collectives[0].ranks == 1
    assert found.collectives[0].skew_s is None
    assert "trace.missing.ranks" in codes(found)


def test_the_rank_all_others_wait_for_is_named() -> None:
    def rank(number: int, late: int) -> str:
        trace = Trace(number, world=3)
        trace.step(1, 0, 1000)
        trace.kernel(10, 100 + late)
        trace.collective(110 + late, 500 - late, nelems=1000)
        return trace.text()

    found = vitals(rank(0, 0), rank(1, 400), rank(2, 0))
    (note,) = [note for note in found.notes if note.code == "trace.note.straggler"]
    assert note.args["rank"] == 1
    assert found.slowest == 1  # their steps are as long, and it sets the pace
    assert us(found.collectives[0].transfer_s) == 100


def test_calls_match_by_number_where_the_file_has_it_and_by_order_within_a_step_else() -> None:
    def rank(number: int, seqs: list[int | None], took: list[int]) -> str:
        trace = Trace(number)
        trace.step(1, 0, 1000)
        for at, (seq, dur) in enumerate(zip(seqs, took, strict=True)):
            trace.collective(10 + 200 * at, dur, nelems=1000, **({} if seq is None else {"Seq": seq}))
        return trace.text()

    # The second rank's trace lacks the first call: only numbers tell.
    numbered = vitals(rank(0, [7, 8, 9], [10, 50, 90]), rank(1, [8, 9], [40, 80])).collectives[0]
    assert (numbered.calls, numbered.ranks, us(numbered.transfer_s), us(numbered.skew_s)) == (3, 2, 60, 10)
    ordered = vitals(rank(0, [None] * 2, [50, 90]), rank(1, [None] * 2, [40, 80]))
    assert us(ordered.collectives[0].transfer_s) == 60
    uneven = vitals(rank(0, [None] * 3, [10, 50, 90]), rank(1, [None] * 2, [40, 80]))
    assert uneven.collectives[0].ranks == 1
    assert "trace.note.unmatched" in codes(uneven)


def test_groups_of_one_name_on_other_ranks_are_others() -> None:
    def rank(number: int, members: str, dur: int) -> str:
        trace = Trace(number, world=4)
        trace.step(1, 0, 1000)
        trace.collective(10, dur, nelems=1000, **{"Process Group Name": "1", "Process Group Ranks": members})
        return trace.text()

    found = vitals(rank(0, "[0, 1]", 100), rank(1, "[0, 1]", 90), rank(2, "[2, 3]", 50), rank(3, "[2, 3]", 40))
    assert sorted(us(use.transfer_s) for use in found.collectives) == [40, 90]


def one_call(number: int, world: int) -> str:
    """A rank of a training of that size, with one all-reduce over all of it."""
    trace = Trace(number, world)
    trace.step(1, 0, 1000)
    trace.collective(10, 90, nelems=1000)
    return trace.text()


def test_ranks_that_are_not_here_may_be_waited_for_and_that_is_told() -> None:
    found = vitals(one_call(0, 4), one_call(1, 4))
    assert "the other ranks: 2 of 4 are here." in " ".join(map(str, found.missing))
    assert "trace.missing.some_ranks" not in codes(vitals(one_call(0, 2), one_call(1, 2)))


def test_ranks_of_two_trainings_are_not_one() -> None:
    (note,) = [note for note in vitals(one_call(0, 2), one_call(1, 4)).notes if note.code == "trace.note.worlds"]
    assert "(ranks: 2, 4)" in str(note)
    assert "trace.note.worlds" not in codes(vitals(one_call(0, 2), one_call(1, 2)))


def test_a_rank_given_twice_does_not_wait_for_itself() -> None:
    found = vitals(overlaps().text(), overlaps().text())
    assert all(use.ranks == 1 for use in found.collectives)
    assert "trace.note.same_rank" in codes(found)


def test_the_files_of_the_next_cycle_of_the_profiler_are_matched_among_themselves() -> None:
    def rank(number: int, step: int, dur: int) -> str:
        trace = Trace(number)
        trace.step(step, 0, 1000)
        trace.collective(10, dur, nelems=1000)
        return trace.text()

    found = vitals(rank(0, 10, 50), rank(1, 10, 40), rank(0, 110, 500), rank(1, 110, 40))
    (use,) = found.collectives
    assert (use.calls, use.ranks, us(use.transfer_s), us(use.skew_s)) == (2, 2, 40, 235)
    assert "trace.note.same_rank" not in codes(found)


def test_the_slowest_rank_is_the_step() -> None:
    def rank(number: int, wall: int) -> str:
        trace = Trace(number)
        trace.step(1, 0, wall)
        trace.kernel(10, 100)
        return trace.text()

    found = vitals(rank(0, 1000), rank(1, 1500))
    assert found.slowest == 1
    assert us(found.step_s) == 1500
    assert found.shares == found.ranks[1].shares


def test_what_is_carried_is_sized_as_nccl_tests_does() -> None:
    trace = Trace(0, world=8)
    trace.step(1, 0, 1000)
    said: Event = {"Collective name": "_allgather_base", "In msg nelems": 1000, "Out msg nelems": 8000, "Group size": 8}
    trace.kernel(100, 10, ALLGATHER, None, 20, **said, dtype="Float")
    (use,) = vitals(trace.text()).collectives
    assert (use.name, use.size_bytes) == ("all_gather", 32000)
    assert use.busbw_gbyte_s == pytest.approx(32000 / 10e-6 / 1e9 * 7 / 8)


def test_uneven_exchanges_are_one_line_with_medians() -> None:
    trace = Trace(0, world=4)
    trace.step(1, 0, 10_000)
    for at, nelems in enumerate((1000, 2000, 4000)):
        said: Event = {
            "Collective name": "all_to_allv",
            "In msg nelems": nelems,
            "Out msg nelems": 500,
            "Group size": 4,
        }
        name = "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)"
        trace.kernel(100 + 200 * at, 10 * (at + 1), name, None, 20, **said, dtype="Float")
    (use,) = vitals(trace.text()).collectives
    assert (use.name, use.calls, use.sizes, use.size_bytes) == ("alltoallv", 3, 3, 8000)


def test_an_old_trace_without_steps_and_sizes_is_one_window() -> None:
    found = vitals(old().text())
    (rank,) = found.ranks
    (step,) = rank.steps
    assert rank.whole
    assert (us(step.wall_s), us(step.compute_s), us(step.collective_s), us(step.exposed_s)) == (175, 50, 80, 50)
    assert us(step.memcpy_s) == 15
    assert found.collectives[0].busbw_gbyte_s is None
    assert {"trace.missing.sizes", "trace.missing.steps"} <= codes(found)


def test_whole_takes_everything_as_one_step() -> None:
    (step,) = vitals(overlaps().text(), whole=True).ranks[0].steps
    assert us(step.wall_s) == 1850
    assert us(step.compute_s) == 1000


def test_a_kernel_belongs_to_the_step_that_launched_it() -> None:
    trace = Trace()
    trace.step(1, 0, 100)
    trace.step(2, 100, 200)
    trace.kernel(50, 250, launch=10)
    trace.kernel(300, 100, launch=110)
    (rank,) = vitals(trace.text()).ranks
    assert [us(step.wall_s) for step in rank.steps] == [300, 100]
    assert [us(step.compute_s) for step in rank.steps] == [250, 100]


def test_a_collective_of_an_evaluation_between_two_steps_is_of_none() -> None:
    trace = Trace()
    for number, at in ((1, 0), (2, 5000)):
        trace.step(number, at, at + 1000)
        trace.collective(at + 100, 200, nelems=1000)
    trace.collective(2000, 900, nelems=1000)
    found = vitals(trace.text())
    assert [us(step.collective_s) for step in found.ranks[0].steps] == [200, 200]
    assert [(use.calls, us(use.total_s)) for use in found.collectives] == [(2, 400)]


def test_the_last_step_is_left_out_when_kernels_of_it_are_missing() -> None:
    trace = busy()
    for number in (2, 3):
        trace.step(number, 600 * (number - 1), 600 * number)
    trace.kernel(650, 500)
    trace.kernel(1250, 20)
    trace.add("cuda_runtime", "cudaLaunchKernel", 1300, 1, correlation=999, cbid=211)  # its kernel is not there
    found = vitals(trace.text())
    assert [step.step for step in found.ranks[0].steps] == [1, 2]
    assert "trace.note.last_incomplete" in codes(found)


def test_a_step_without_a_kernel_was_not_recorded() -> None:
    trace = busy()
    trace.step(2, 600, 1200)
    trace.step(3, 1200, 1800)
    trace.kernel(1250, 500)
    found = vitals(trace.text())
    assert [step.step for step in found.ranks[0].steps] == [1, 3]
    assert "trace.note.empty_steps" in codes(found)


def test_communication_without_nccl_makes_a_lower_bound() -> None:
    trace = busy()
    trace.kernel(300, 100, "void deep_ep::internode::dispatch<false, 8>(int4*)", stream=9)
    found = vitals(trace.text())
    assert found.lower_bound
    (note,) = [note for note in found.notes if note.code == "trace.note.foreign"]
    assert note.args["percent"] == pytest.approx(100 / 6)
    assert not vitals(busy().text()).lower_bound


def test_how_much_communicates_without_nccl_is_a_union_over_the_steps_that_count() -> None:
    def trace(rank: int) -> Trace:
        made = busy(rank)
        made.kernel(300, 100, "void deep_ep::internode::dispatch<false, 8>(int4*)", stream=9)
        made.kernel(350, 100, "void deep_ep::internode::combine<false, 8>(int4*)", stream=10)  # 300-450 together
        made.kernel(5000, 900, "nvshmem_barrier", stream=9)  # after the last step
        return made

    found = vitals(trace(0).text(), trace(1).text())
    (note,) = [note for note in found.notes if note.code == "trace.note.foreign"]
    assert note.args["percent"] == pytest.approx(25)
    assert note.args["n"] == 2 and "nvshmem" not in str(note)


def test_recompute_is_told() -> None:
    trace = busy()
    trace.add("cpu_op", "autograd::engine::evaluate_function: CheckpointFunctionBackward", 10, 20)
    assert "trace.note.recompute" in codes(vitals(trace.text()))


def test_several_gpus_of_one_process_are_several_entries() -> None:
    trace = Trace(rank=None)
    trace.step(1, 0, 1000)
    for device in (0, 1):
        trace.add("kernel", "k", 10, 100 * (device + 1), 7, device=device, stream=7, correlation=device)
    assert [(rank.device, us(rank.steps[0].compute_s)) for rank in vitals(trace.text()).ranks] == [(0, 100), (1, 200)]


def test_the_rank_may_stand_in_the_name_of_the_file() -> None:
    text = json.dumps({"traceEvents": Trace(rank=None).events + busy().events})
    assert told(text, "/a/rank-34.Jul_15.pt.trace.json")[0].trace.rank == 34
    assert told(text, "/rank3/t.json")[0].trace.rank is None


def test_nothing_on_a_gpu_is_no_answer_and_says_what_to_do() -> None:
    trace = Trace()
    trace.step(1, 0, 1000)
    trace.add("cpu_op", "aten::linear", 10, 20)
    assert told(trace.text()) == []
    found = trace_vitals([], ["t.json"], [say("trace.missing.no_kernel", file="t.json")], "kineto")
    assert found.exit_code == 3
    assert found.shares is None
    assert {"trace.missing.no_kernel", "trace.missing.do_kineto"} == {message.code for message in found.missing}


@pytest.mark.parametrize("name", WORLDS)
@pytest.mark.parametrize("rank", [0, 1])
def test_it_is_what_holistic_trace_analysis_says(name: str, rank: int) -> None:
    """Its values are recorded by benchmarks/hta_values.py; it takes the whole trace as one window."""
    theirs = json.loads((HTA / f"{name}.json").read_text())["ranks"][str(rank)]
    (step,) = vitals(WORLDS[name](rank).text(), whole=True).ranks[0].steps
    assert us(step.wall_s) == theirs["kernel_us"]
    assert us(step.idle_s) == theirs["idle_us"]
    assert us(step.compute_s) == theirs["compute_us"]
    assert us(step.exposed_s + step.exposed_memcpy_s) == theirs["non_compute_us"]
    hidden = 100 * (step.collective_s - step.exposed_s) / step.collective_s
    assert hidden == pytest.approx(theirs["overlap_pct"], abs=0.005)
