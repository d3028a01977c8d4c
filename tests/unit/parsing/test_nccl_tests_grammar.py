"""Every case written from the grammar is read as the file beside it says."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.grammar.remake import FOLDER, data, names, read

ANSWERS = {path.relative_to(FOLDER).with_suffix("").as_posix() for path in FOLDER.rglob("*.json")}


def test_every_answer_has_its_case_and_every_case_its_answer() -> None:
    assert sorted(names()) == sorted(ANSWERS)


@pytest.mark.parametrize("name", names())
def test_the_case_is_read_as_its_answer_says(name: str) -> None:
    assert (FOLDER / f"{name}.txt").read_bytes() == data(name)
    assert read(name) == (FOLDER / f"{name}.json").read_text(encoding="utf-8")


def test_no_answer_shows_the_environment_of_the_run() -> None:
    for path in Path(FOLDER).rglob("*.json"):
        assert "do-not-show-me" not in path.read_text(encoding="utf-8")
