"""Whole traces against a brute-force truth: every microsecond of every step is looked at by itself."""

from __future__ import annotations

import io

from hypothesis import given, settings
from hypothesis import strategies as st

from healthcheck.model.vitals_trace import SCHEMA, TraceVitals
from healthcheck.parsing.record_codec import decode_document, encode_document
from healthcheck.vitals.kineto import read_kineto
from healthcheck.vitals.trace_answer import trace_vitals
from healthcheck.vitals.trace_rank import rank_told
from tests.unit.vitals.kineto_worlds import ALLREDUCE, GEMM, Trace

WALL = 60
Thing = tuple[str, int, int, int, int]  # what, launch, wait, took, stream
THINGS = st.lists(
    st.tuples(
        st.sampled_from(["compute", "collective", "copy"]),
        st.integers(0, 3 * WALL - 1),
        st.integers(0, 50),
        st.integers(1, 40),
        st.integers(7, 9),
    ),
    min_size=1,
    max_size=14,
)


def placed(things: list[Thing]) -> list[tuple[str, int, int, int, int]]:
    """What, launch, begin, end, stream: each runs when it was launched and its stream is free."""
    free: dict[int, int] = {}
    found = []
    for what, launch, wait, took, stream in sorted(things, key=lambda thing: thing[1]):
        begin = max(launch + 1 + wait, free.get(stream, 0))
        free[stream] = begin + took
        found.append((what, launch, begin, begin + took, stream))
    return found


def trace_of(events: list[tuple[str, int, int, int, int]]) -> Trace:
    trace = Trace()
    for number in range(3):
        trace.step(number, number * WALL, (number + 1) * WALL)
    for what, launch, begin, end, stream in events:
        if what == "copy":
            trace.copy(begin, end - begin, stream)
        else:
            name = GEMM if what == "compute" else ALLREDUCE
            trace.kernel(begin, end - begin, name, launch=launch, stream=stream)
    return trace


def truth(events: list[tuple[str, int, int, int, int]]) -> dict[int, list[int]]:
    """Of each step with a kernel: wall, compute, collective, exposed, copies alone, idle, in µs."""
    kernels = [event for event in events if event[0] != "copy"]
    begins = []
    for number in range(4):
        ends = [end for _, launch, _, end, _ in kernels if launch < number * WALL]
        begins.append(max([number * WALL, *ends]))
    ends = [end for *_, end, _ in kernels]
    begins[3] = max([3 * WALL, begins[2], *ends])
    found = {}
    for number in range(3):
        on = [
            {what for what, _, begin, end, _ in events if begin <= at < end}
            for at in range(begins[number], begins[number + 1])
        ]
        if any(each - {"copy"} for each in on):
            found[number] = [
                len(on),
                sum("compute" in each for each in on),
                sum("collective" in each for each in on),
                sum("collective" in each and "compute" not in each for each in on),
                sum(each == {"copy"} for each in on),
                sum(not each for each in on),
            ]
    return found


@given(THINGS)
@settings(max_examples=80, deadline=None)
def test_every_step_is_what_every_microsecond_of_it_says(things: list[Thing]) -> None:
    events = placed(things)
    (columns,) = read_kineto(io.BytesIO(trace_of(events).text(None).encode()), "t.json")
    told = rank_told(columns)
    assert told is not None
    wanted = truth(events)
    if not wanted:
        assert told.trace.whole
        return
    found = {
        step.step: [
            round(part * 1e6)
            for part in (
                step.wall_s,
                step.compute_s,
                step.collective_s,
                step.exposed_s,
                step.exposed_memcpy_s,
                step.idle_s,
            )
        ]
        for step in told.trace.steps
    }
    assert found == wanted
    vitals = trace_vitals([told], ["t.json"], [], "kineto")
    again = decode_document(encode_document(SCHEMA, vitals).encode(), "v.json", TraceVitals, SCHEMA, "trace")
    assert again == vitals
