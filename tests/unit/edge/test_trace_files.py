"""Profiles on disk: packed, cut, in folders, and what is none."""

from __future__ import annotations

import gzip
import random
from pathlib import Path

import pytest

from healthcheck.edge.trace_files import opened_trace, traces_at
from healthcheck.errors import InputError

TEXT = "".join(random.Random(3).choices("abcdef0123456789", k=400_000)).encode()


def test_a_packed_file_is_unpacked_whatever_it_is_called(tmp_path: Path) -> None:
    for name, raw in (("a.json", TEXT), ("b.json", gzip.compress(TEXT)), ("c.json.gz", gzip.compress(TEXT))):
        (tmp_path / name).write_bytes(raw)
        with opened_trace(str(tmp_path / name)) as stream:
            assert stream.read() == TEXT


@pytest.mark.parametrize("damage", ["cut", "crc", "garbled"])
def test_a_damaged_packed_file_gives_what_comes_before(tmp_path: Path, damage: str) -> None:
    raw = gzip.compress(TEXT)
    half = len(raw) // 2
    wrong = {"cut": raw[:half], "crc": raw[:-8] + bytes(8), "garbled": raw[:half] + b"\xff" * half}[damage]
    (tmp_path / "t.json.gz").write_bytes(wrong)
    with opened_trace(str(tmp_path / "t.json.gz")) as stream:
        found = b""
        with pytest.raises(EOFError):
            while part := stream.read(1 << 16):
                found += part
    assert len(found) > 100_000
    assert TEXT.startswith(found[:100_000])


def test_a_folder_gives_its_profiles_by_name(tmp_path: Path) -> None:
    for name in ("b.json", "a.json.gz", "sub/c.sqlite", "notes.txt", "x.nsys-rep"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"x")
    assert [path.name for path in traces_at(str(tmp_path))] == ["a.json.gz", "b.json", "c.sqlite"]


def test_what_is_not_there_is_told_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="no such file"):
        traces_at(str(tmp_path / "gone.json"))
    with pytest.raises(InputError, match="no profile in this folder"):
        traces_at(str(tmp_path / "empty"))
    with pytest.raises(InputError, match="cannot be read"), opened_trace(str(tmp_path / "empty")):
        pass
