"""Whatever happened to the folder and to the index, in any order: the answer is that of the records alone."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from healthcheck.edge.history_index import INDEX, DirectoryIndex
from healthcheck.parsing.record_codec import encode_record
from tests.golden.records import RECORDS

KINDS = sorted(RECORDS)
runs = st.integers(0, 5)
actions = st.lists(
    st.one_of(
        st.tuples(st.just("run"), runs, st.sampled_from(KINDS)),
        st.tuples(st.just("added"), runs, st.sampled_from(KINDS)),
        st.tuples(st.just("cut"), runs, st.just("")),
        st.tuples(st.just("gone"), runs, st.just("")),
        st.tuples(st.just("look"), runs, st.just("")),
        st.tuples(st.just("flip"), st.integers(0, 10**6), st.just("")),
        st.tuples(st.just("no index"), runs, st.just("")),
    ),
    max_size=14,
)


@settings(max_examples=60, deadline=None)
@given(actions)
def test_with_and_without_the_index_the_answer_is_the_same(steps: list[tuple[str, int, str]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder)
        index = DirectoryIndex(results)
        for step, number, kind in steps:
            _act(index, results, step, number, kind)
        kept = index.past()
        again = index.past()
        (results / INDEX).unlink(missing_ok=True)
        assert kept == again == index.past()


def _act(index: DirectoryIndex, results: Path, step: str, number: int, kind: str) -> None:
    run = results / f"2026031{number}T021503Z-abcd"
    record = run / "record.json"
    if step in ("run", "added"):
        run.mkdir(exist_ok=True)
        made = replace(RECORDS[kind](), run_id=run.name, started_at=f"2026-03-1{number % 3}T02:15:03Z")
        record.write_bytes(encode_record(made))
        if step == "added":
            index.add(run)
    elif step == "cut" and record.exists():
        record.write_bytes(record.read_bytes()[:-40])
    elif step == "gone":
        record.unlink(missing_ok=True)
    elif step == "look":
        index.past()
    elif step == "no index":
        (results / INDEX).unlink(missing_ok=True)
    elif step == "flip" and (results / INDEX).exists():
        data = bytearray((results / INDEX).read_bytes())
        data[number % len(data)] ^= 1 + number % 255
        (results / INDEX).write_bytes(data)
