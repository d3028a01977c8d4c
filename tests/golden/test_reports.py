"""Every output of three records equals the committed file; a change is read as a diff."""

from __future__ import annotations

import pytest

from tests.golden.outputs import FOLDER, outputs

MADE = outputs()


@pytest.mark.parametrize("name", sorted(MADE))
def test_output_equals_the_committed_file(name: str) -> None:
    expected = (FOLDER / name).read_text(encoding="utf-8")
    assert MADE[name] == expected, (
        f"{name} changed; if that is meant: python -m tests.golden.remake, then read the diff"
    )


def test_no_committed_file_is_left_over() -> None:
    kept = {path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*") if path.is_file()}
    assert kept == set(MADE)
