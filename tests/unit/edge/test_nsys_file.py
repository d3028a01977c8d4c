"""Exports on disk are opened for reading only; what is none, or not whole, is one sentence that says what to do."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest

from healthcheck.edge.nsys_file import is_export, opened_export
from healthcheck.errors import InputError
from healthcheck.vitals.nsys import read_export
from tests.nsys_export import Export


def export(folder: Path, name: str = "a.sqlite") -> Path:
    made = Export(folder / name)
    for number in range(2000):
        made.kernel("gemm", number * 10, number * 10 + 5)
    return made.close()


def kernels(path: Path) -> int:
    with opened_export(path) as connection:
        return sum(len(gpu.events) for gpu in read_export(connection, str(path), None))


def test_nothing_is_left_beside_an_export_in_a_folder_nobody_may_write(tmp_path: Path) -> None:
    path = export(tmp_path)
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
    connection.close()
    before = path.read_bytes()
    path.chmod(0o444)
    assert kernels(path) == 2000
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.sqlite"]


def test_a_name_with_marks_of_an_address_is_a_name(tmp_path: Path) -> None:
    assert kernels(export(tmp_path, "a?mode=rwc#%41 b.sqlite")) == 2000


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("r.nsys-rep", b"anything", r"run `nsys export --type sqlite r\.nsys-rep`, then give the \.sqlite file"),
        ("r.qdrep", b"anything", r"`nsys export --type sqlite r\.qdrep`"),
        ("a.sqlite", b"", "is empty"),
        ("a.sqlite", b"\x00\xff" * 400, "is not a SQLite file"),
        ("a.sqlite", b"SQLite format 3\0", "was cut off: it has 16 of 100 bytes"),
        ("a.sqlite", b"SQLite format 3\0" + b"\xaa" * 5000, "nsys export --type sqlite"),
    ],
)
def test_what_is_no_export_is_one_sentence(tmp_path: Path, name: str, content: bytes, sentence: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError, match=sentence):
        kernels(path)


def test_one_that_was_cut_off_says_how_much_is_there(tmp_path: Path) -> None:
    path = export(tmp_path)
    whole = path.stat().st_size
    os.truncate(path, whole // 2)
    with pytest.raises(InputError, match=f"was cut off: it has {whole // 2} of {whole} bytes"):
        kernels(path)


def test_damage_in_the_middle_is_one_sentence(tmp_path: Path) -> None:
    path = export(tmp_path)
    content = bytearray(path.read_bytes())
    content[8192:-4096] = b"\xa5" * (len(content) - 12288)
    path.write_bytes(content)
    with pytest.raises(InputError, match="damaged or was cut off"):
        kernels(path)


def test_one_that_is_still_being_written_is_not_read(tmp_path: Path) -> None:
    path = export(tmp_path)
    (tmp_path / "a.sqlite-journal").write_bytes(b"x")
    with pytest.raises(InputError, match="still being written"):
        kernels(path)


def test_only_what_is_for_this_reader_is_taken(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    text = tmp_path / "trace.json"
    text.write_text("{}")
    assert is_export(export(tmp_path)) and is_export(tmp_path / "gone.nsys-rep")
    assert not any(is_export(path) for path in (pipe, text, tmp_path, tmp_path / "gone"))
    for path, sentence in (
        (pipe, "not a regular file"),
        (tmp_path, "is a folder"),
        (tmp_path / "gone", "no such file"),
    ):
        with pytest.raises(InputError, match=sentence):
            kernels(path)
