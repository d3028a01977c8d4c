"""`vitals trace` over what torch.profiler writes beside a plain trace: twice, impossibly long, as no JSON, cut off."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from healthcheck.model.message import say
from tests.unit.vitals.kineto_told import codes, told, us, vitals
from tests.unit.vitals.kineto_worlds import ALLREDUCE, WORLDS, Event, Trace, busy, overlaps


def test_an_annotation_of_a_collective_is_not_a_second_one() -> None:
    trace = overlaps()
    trace.add("user_annotation", "nccl:all_reduce", 400, 500)
    trace.add("gpu_user_annotation", "nccl:all_reduce", 400, 500, 20)
    trace.add("cpu_op", "c10d::allreduce_", 400, 500)
    trace.add("cpu_op", "record_param_comms", 400, 500)
    assert vitals(trace.text()).ranks[0].steps == vitals(overlaps().text()).ranks[0].steps


def twice(trace: Trace) -> Trace:
    """The same events, each GPU event and each launch a second time right behind it."""
    doubled = [event for event in trace.events for _ in range(2 if event["cat"] != "user_annotation" else 1)]
    trace.events = [dict(event) for event in doubled]
    return trace


@pytest.mark.parametrize("world", WORLDS.values(), ids=WORLDS)
def test_an_event_that_is_written_twice_counts_once(world: Callable[[int], Trace]) -> None:
    plain, found = vitals(world(0).text(), world(1).text()), vitals(twice(world(0)).text(), twice(world(1)).text())
    assert found.collectives == plain.collectives
    assert [rank.steps for rank in found.ranks] == [rank.steps for rank in plain.ranks]
    gpu_events = sum(event["cat"] in ("kernel", "gpu_memcpy") for event in world(0).events)
    assert found.ranks[0].notes == (say("trace.note.again", n=gpu_events),)


def test_kernels_that_share_their_times_and_nothing_else_are_no_copies() -> None:
    trace = Trace()
    trace.step(1, 0, 1000)
    where: Event = {"device": 0, "stream": 20}
    for correlation in (5, 6):
        trace.add("kernel", ALLREDUCE, 100, 50, 20, **where, correlation=correlation)
    for external in (8, 9):  # some versions for AMD write no correlation
        trace.add("kernel", ALLREDUCE, 300, 50, 20, **where, **{"External id": external})
    for stream in (21, 22):  # two branches of one CUDA graph
        trace.add("kernel", ALLREDUCE, 500, 50, stream, device=0, stream=stream, correlation=7)
    found = vitals(trace.text())
    assert sum(use.calls for use in found.collectives) == 6
    assert "trace.note.again" not in codes(found)


def test_a_copy_of_a_kernel_does_not_make_another_one_impossible() -> None:
    trace = Trace()
    trace.step(1, 0, 1000)
    trace.kernel(100, 200)
    trace.kernel(290, 200)  # a dependent launch begins before the one before it ends
    found = vitals(twice(trace).text())
    assert codes(found) & {"trace.note.clipped", "trace.note.again"} == {"trace.note.again"}
    assert us(found.ranks[0].steps[0].compute_s) == 390


def test_groups_without_a_description_as_versions_of_2024_write_them() -> None:
    text = overlaps().text().replace('"Process Group Name"', '"Process Group Description": , "Process Group Name"')
    assert vitals(text) == vitals(overlaps().text())


def test_impossible_durations_are_taken_out_and_told() -> None:
    trace = busy()
    trace.kernel(10, -5, stream=9)
    trace.kernel(20, 18446744073709.55, stream=9)
    trace.kernel(610, 1_000_000, launch=590, stream=11)  # longer than all that follows on its stream
    for at in (620, 640, 660):
        trace.kernel(at, 10, launch=591, stream=11)
    found = vitals(trace.text())
    (step,) = found.ranks[0].steps
    assert us(step.compute_s) == 600 + 10 + 30
    assert {"trace.note.negative", "trace.note.endless", "trace.note.clipped"} <= codes(found)


def test_an_event_far_from_all_others_has_no_time() -> None:
    trace = busy()
    trace.add("kernel", "k", 1e16, 5, 7, device=0, stream=7, correlation=77)
    found = vitals(trace.text())
    assert found.ranks[0].steps == vitals(busy().text()).ranks[0].steps
    assert "trace.note.timeless" in codes(found)
    two = Trace()
    two.add("kernel", "k", 0, 5, 7, device=0, stream=7, correlation=1)
    two.add("kernel", "k", 1e16, 5, 7, device=0, stream=7, correlation=2)
    assert len(told(two.text())[0].trace.steps) == 1


def test_kernels_of_one_graph_may_overlap_on_one_stream() -> None:
    trace = Trace()
    trace.step(1, 0, 1000)
    trace.add("cuda_runtime", "cudaGraphLaunch", 1, 1, correlation=5)
    for begin, dur in ((10, 500), (20, 10), (40, 10)):
        trace.add("kernel", "k", begin, dur, 7, device=0, stream=7, correlation=5)
    found = vitals(trace.text())
    assert us(found.ranks[0].steps[0].compute_s) == 500
    assert "trace.note.clipped" not in codes(found)


def test_a_trace_that_breaks_off_tells_the_steps_before_and_nothing_of_one_that_is_not_whole() -> None:
    trace = overlaps()
    text = json.dumps({"traceEvents": sorted(trace.events, key=lambda event: str(event["cat"]) != "user_annotation")})
    found = vitals(text[: int(len(text) * 0.9)])
    assert [step.step for step in found.ranks[0].steps] == [3]
    assert found.ranks[0].steps == vitals(trace.text()).ranks[0].steps[:1]
    assert {"trace.note.cut", "trace.note.last_cut"} <= codes(found)
    assert told(text[: int(len(text) * 0.4)]) == []
