"""Write `reports/sample/` again: `python -m tests.sample.remake`, then read `git diff` before committing."""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.sample.making import FOLDER, sample


def remake(folder: Path = FOLDER) -> None:
    """Replace every file of the sample."""
    with tempfile.TemporaryDirectory() as scratch:
        files = sample(Path(scratch))
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    print(f"{len(files)} files in {folder}, {sum(len(text) for text in files.values()) / 1e6:.1f} MB")


if __name__ == "__main__":
    remake()
