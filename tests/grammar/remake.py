"""Writes every case and what is read in it: `python -m tests.grammar.remake`. Read the change as a diff."""

from __future__ import annotations

import contextlib
import io
import json
import os
from pathlib import Path

from healthcheck.__main__ import run
from tests.grammar.accidents import ACCIDENT_TEXTS
from tests.grammar.eras import ERA_TEXTS
from tests.grammar.faults import FAULT_TEXTS
from tests.grammar.wraps import WRAP_TEXTS

FOLDER = Path(__file__).parents[1] / "fixtures" / "nccl_tests_grammar"
ROOMS: dict[str, dict[str, str | bytes]] = {
    "eras": ERA_TEXTS,
    "wraps": WRAP_TEXTS,
    "faults": FAULT_TEXTS,
    "accidents": ACCIDENT_TEXTS,
}


def names() -> list[str]:
    """Every case as `room/name`."""
    return [f"{room}/{name}" for room, texts in ROOMS.items() for name in texts]


def data(name: str) -> bytes:
    """What the case's file holds."""
    room, _, case = name.partition("/")
    text = ROOMS[room][case]
    return text if isinstance(text, bytes) else text.encode("utf-8")


def read(name: str) -> str:
    """What `healthcheck parse --json` says of the file of a case, run beside it; its exit code stands in front."""
    shown = io.StringIO()
    before = Path.cwd()
    os.chdir(FOLDER)
    try:
        with contextlib.redirect_stdout(shown), contextlib.redirect_stderr(io.StringIO()):
            code = run(["parse", "--json", f"{name}.txt"])
    finally:
        os.chdir(before)
    (file,) = json.loads(shown.getvalue())["files"]
    return _short({"exit_code": code} | file)


def _short(document: dict[str, object]) -> str:
    """JSON with one line a row, a rank and a failure: what a person compares."""
    lines = json.dumps(document, indent=1, ensure_ascii=False).splitlines()
    text, inside = "", ""
    for line in lines:
        depth = len(line) - len(line.lstrip())
        if depth >= _FLAT or (inside and line.lstrip()[0] in "}]" and depth == _FLAT - 1):
            inside += line.strip() + (" " if line.endswith((",", ":")) else "")
            continue
        text += inside.rstrip() + "\n" + line if inside else "\n" + line
        inside = ""
    return text.lstrip("\n") + "\n"


_FLAT = 5


def main() -> None:
    """Write all of it anew."""
    for name in names():
        path = FOLDER / f"{name}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data(name))
    for name in names():
        (FOLDER / f"{name}.json").write_text(read(name), encoding="utf-8")
    print(f"{len(names())} cases in {FOLDER}")


if __name__ == "__main__":
    main()
