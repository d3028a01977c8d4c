"""Reading the events of a Chrome trace: the same whatever the pieces, and as much as can be of what is damaged."""

from __future__ import annotations

import contextlib
import io
import json
import math
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from healthcheck.errors import InputError
from healthcheck.vitals.trace_events import TraceEvents
from healthcheck.vitals.trace_fields import Event

KERNEL = '{"ph": "X", "cat": "kernel", "name": "k%d", "ts": %d.5, "dur": 2, "args": {"stream": 7, "grid": [1, 1, 1]}}'
TWO = f"{KERNEL % (1, 10)}, {KERNEL % (2, 20)}"


class Read:
    """A file read to its end."""

    def __init__(self, raw: bytes, piece: int = 1 << 20, window: int = 1 << 14) -> None:
        self.of = TraceEvents(io.BytesIO(raw), "t.json", piece, window)
        self.events = [event for batch in self.of.batches() for event in batch]

    @property
    def names(self) -> list[str]:
        return [event.name for event in self.events]


def read(text: str, piece: int = 1 << 20, window: int = 1 << 14) -> Read:
    return Read(text.encode(), piece, window)


def test_events_and_what_stands_beside_them() -> None:
    head = '{"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "GPU"}], '
    found = read(f'{head}"traceEvents": [{TWO}], "distributedInfo": {{"rank": 3, "world_size": 8}}}}')
    assert found.names == ["k1", "k2"]
    assert (found.events[0].ts, found.events[0].dur) == (10.5, 2)
    assert found.of.head.gpus[0].name == "GPU"
    assert found.of.head.distributed is not None
    assert found.of.head.distributed.rank == 3
    assert (found.of.cut, found.of.lost) == (False, 0)


@pytest.mark.parametrize("text", [f"[{TWO}]", f"[{TWO}", f"[{TWO},", f"\ufeff [{TWO}]\n"])
def test_a_bare_array_is_a_trace_and_may_be_left_open(text: str) -> None:
    found = read(text)
    assert found.names == ["k1", "k2"]
    assert not found.of.cut


@pytest.mark.parametrize("missing", range(1, 60, 3))
def test_a_file_that_breaks_off_gives_what_is_whole(missing: int) -> None:
    found = read(('{"traceEvents": [' + TWO)[:-missing])
    assert found.names == ["k1"]
    assert found.of.cut


def test_a_file_that_breaks_off_between_two_events_is_cut_too() -> None:
    for end in ("", ",", ",\n  "):
        found = read('{"traceEvents": [' + TWO + end)
        assert found.names == ["k1", "k2"]
        assert found.of.cut


BROKEN = {
    "a quote in a name": '{"ph": "X", "name": "a "quoted" word", "ts": 1, "dur": 1}',
    "a key without quotes": '{"ph": "X", name: "a", "ts": 1}',
    "no object": '"word"',
    "with arguments": '{"ph": "X", "name": "a"b", "args": {"grid": [1, 2], "stream": 7}}',
}


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize("piece", [64, 1 << 20])
@pytest.mark.parametrize("window", [5, 100, 1 << 14])
def test_an_event_that_cannot_be_read_costs_no_other(broken: str, piece: int, window: int) -> None:
    start = '{"traceEvents": ['
    found = read(f"{start}{KERNEL % (1, 10)},\n{broken},\n{TWO},{TWO}]}}", piece, window)
    assert [name for name in found.names if name.startswith("k")] == ["k1", "k1", "k2", "k1", "k2"]
    assert found.of.lost >= 1
    assert found.of.lost_at is not None
    assert abs(found.of.lost_at - len(start) - len(KERNEL % (1, 10)) - 2) <= 4
    assert not found.of.cut


ODD = {
    "no number": ('{"ph": "X", "cat": "kernel", "name": "odd", "ts": NaN, "dur": Infinity}', math.nan),
    "a bare control byte": '{"ph": "X", "cat": "kernel", "name": "odd", "ts": 5, "x": "a\x01\tb\nc"}',
    "no utf-8": b'{"ph": "X", "cat": "kernel", "name": "odd", "ts": 5, "x": "\xff\xfe"}',
    "other types": '{"ph": "X", "cat": "kernel", "name": "odd", "ts": "5", "pid": [], "args": {"stream": {}}}',
    "huge numbers": '{"ph": "X", "cat": "kernel", "name": "odd", "ts": 5, "args": {"correlation": 1' + "0" * 40 + "}}",
    "nothing where a value should be": (
        '{"ph": "X", "cat": "kernel", "name": "odd", "ts": 5, "args": {"Process Group Description": , "stream": }}'
    ),
    "words of C++": '{"ph": "X", "cat": "kernel", "name": "odd", "ts": 5, "args": {"a": -nan, "b": inf, "c": N/A}}',
    "a Windows path": '{"ph": "X", "cat": "kernel", "name": "odd", "ts": 5, "x": "C:\\dir\\new \\"it\\""}',
    "half a surrogate": '{"ph": "X", "cat": "kernel", "name": "odd", "ts": 5, "x": "\\ud800"}',
    "a list of objects": '{"ph": "X", "cat": "kernel", "name": "odd", "ts": 5, "args": {"l": [{"a": 1}, {"b": 2}]}}',
}


@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
@pytest.mark.parametrize("piece", [16, 200, 1 << 20])
@pytest.mark.parametrize("window", [5, 1 << 14])
def test_an_odd_event_is_read_for_what_it_says(odd: str | bytes | tuple[str, float], piece: int, window: int) -> None:
    text, ts = odd if isinstance(odd, tuple) else (odd, 5.0)
    raw = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    found = Read(b'{"traceEvents": [' + raw + b",\n" + TWO.encode() + b"]}", piece, window)
    assert found.names == ["odd", "k1", "k2"]
    assert found.events[0].ts == ts or (math.isnan(ts) and math.isnan(found.events[0].ts))
    assert (found.of.lost, found.of.cut) == (0, False)


@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
@pytest.mark.parametrize("end", [b"]}", b'\n  ],\n  "traceName": "a[0].json"\n}\n', b"]"])
def test_an_odd_event_may_be_the_last_one(odd: str | bytes | tuple[str, float], end: bytes) -> None:
    text = odd[0] if isinstance(odd, tuple) else odd
    raw = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    found = Read(b'{"traceEvents": [' + TWO.encode() + b",\n" + raw + end)
    assert found.names == ["k1", "k2", "odd"]
    assert (found.of.lost, found.of.cut) == (0, False)


class _BreaksOff(io.BytesIO):
    """As a packed file that was cut: what could be unpacked, then no more."""

    def read(self, size: int | None = -1) -> bytes:
        if not (part := super().read(size)):
            raise EOFError
        return part


def test_a_packed_file_that_breaks_off_is_cut() -> None:
    found = TraceEvents(_BreaksOff(b'{"traceEvents": [' + TWO.encode() + b"]"), "t.json.gz")
    assert [event.name for batch in found.batches() for event in batch] == ["k1", "k2"]
    assert found.cut


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (b"", "is empty"),
        (b"   \n", "is empty"),
        (b"{}", "has no `traceEvents`"),
        (b'{"schema": "healthcheck.record/1", "a": [1]}', "has no `traceEvents`"),
        (b"\x00\x01\x02", "not JSON"),
        (b"iteration 1/ 10 | elapsed", "not JSON"),
    ],
)
def test_what_is_no_trace_is_refused_in_one_sentence(raw: bytes, says: str) -> None:
    with pytest.raises(InputError, match=says) as refused:
        Read(raw)
    assert refused.value.where == "t.json"
    assert "export_chrome_trace" in refused.value.problem


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (f"[{TWO}]".encode("utf-16"), "is text in UTF-16: turn it into UTF-8"),
        (f'{{"traceEvents": [{TWO}]}}'.encode("utf-16-le"), "is text in UTF-16: turn it into UTF-8"),
        (f" [{TWO}]".encode("utf-16-be"), "is text in UTF-16: turn it into UTF-8"),
        (b"PK\x03\x04rest", "is a zip archive: unpack it"),
        (b"(\xb5/\xfdrest", "is packed by zstd: unpack it"),
    ],
)
def test_a_trace_in_another_coding_or_packing_says_which_and_what_to_do(raw: bytes, says: str) -> None:
    for piece in (1 << 20, 5):
        with pytest.raises(InputError, match=re.escape(says)):
            Read(raw, piece)


ARGS = st.dictionaries(
    st.sampled_from(["stream", "correlation", "note", "grid", "nested"]),
    st.one_of(st.integers(0, 99), st.text("ab}],{\"'\\ ", max_size=8), st.just([{"a": 1}, {"b": [2]}]), st.none()),
    max_size=4,
)
EVENTS = st.lists(
    st.fixed_dictionaries({"ph": st.just("X"), "name": st.text('k},{[]" ', max_size=6), "ts": st.integers(0, 99)})
    | st.fixed_dictionaries({"ph": st.just("X"), "name": st.just("a"), "ts": st.just(1), "args": ARGS}),
    max_size=12,
)


@given(EVENTS, st.integers(1, 300), st.integers(1, 200), st.sampled_from([None, 0, 2]))
@settings(max_examples=150, deadline=None)
def test_it_is_what_json_reads_whatever_the_pieces(
    events: list[dict[str, object]], piece: int, window: int, indent: int | None
) -> None:
    text = json.dumps({"traceEvents": events, "traceName": "t"}, indent=indent)
    found = read(text, piece, window)
    assert [(event.name, event.ts) for event in found.events] == [(event["name"], event["ts"]) for event in events]
    assert (found.of.cut, found.of.lost) == (False, 0)


@given(st.binary(max_size=120), st.integers(1, 50))
@settings(max_examples=150, deadline=None)
def test_any_bytes_end_in_events_or_a_refusal(noise: bytes, piece: int) -> None:
    for raw in (noise, b'{"traceEvents": [' + noise, b'{"traceEvents": [' + TWO.encode() + b"," + noise + b"]}"):
        with contextlib.suppress(InputError):
            assert all(isinstance(event, Event) for event in Read(raw, piece).events)
