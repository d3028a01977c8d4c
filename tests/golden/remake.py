"""Write the goldens again: `python -m tests.golden.remake`, then read `git diff` before committing."""

from __future__ import annotations

from tests.golden.outputs import FOLDER, outputs


def remake() -> None:
    """Replace every expected file and remove those no longer made."""
    made = outputs()
    for path in FOLDER.rglob("*"):
        if path.is_file() and path.relative_to(FOLDER).as_posix() not in made:
            path.unlink()
    for name, text in made.items():
        path = FOLDER / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    print(f"{len(made)} files in {FOLDER}")


if __name__ == "__main__":
    remake()
