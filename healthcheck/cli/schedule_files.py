"""What all of `healthcheck schedule` share: the options of the files, and how they are handed over."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from healthcheck.edge.store import write_atomically
from healthcheck.errors import InputError, StoreError
from healthcheck.workflows.files_only import files_only

Playbook = Annotated[str, typer.Argument(help="A playbook by name or file.")]
Keep = Annotated[int, typer.Option("--keep", min=0, help="After each run keep so many of each playbook; 0 keeps all.")]
NotifyFile = Annotated[
    list[str] | None,
    typer.Option("--notify", metavar="@FILE", help="Alerts to the addresses in this private file; may be repeated."),
]
NotifyOn = Annotated[
    str, typer.Option("--notify-on", metavar="change|always|not-pass", help="When an alert is sent.", show_default=True)
]
To = Annotated[Path, typer.Option("--to", help="Folder the files are written to.")]
Stdout = Annotated[bool, typer.Option("--stdout", help="Print the files and write nothing.")]

MARK = "# Written by `healthcheck schedule"
# Before it stand at most the first line of a script and what it asks of Slurm.
_HEAD_BYTES = 4096
READABLE = 0o644


def hand_over(files: dict[str, str], to: Path, install: Sequence[str], *, stdout: bool, json: bool) -> None:
    """Write the files (name -> text) to a folder, or print them; on stdout the document, the texts or the paths.

    `install` are the lines that come next, for the document.
    """
    from healthcheck.cli.document import print_document
    from healthcheck.cli.exits import out

    written = () if stdout else _write(to, files)
    if json:
        listed = [{"name": name, "text": text} for name, text in files.items()]
        print_document("healthcheck.schedule/1", written=list(map(str, written)), files=listed, install=list(install))
    elif stdout:
        for name, text in files.items():
            out((f"# {name}\n{text}" if len(files) > 1 else text).rstrip("\n"))
    else:
        for path in written:
            out(str(path))


def _write(folder: Path, files: dict[str, str]) -> tuple[Path, ...]:
    """The files in `folder`; InputError before anything is written where one would go that is not ours.

    Each is whole, or what it was before. A link to one of ours stays, and what it leads to is replaced.
    """
    for name in files:
        path = folder / name
        if os.path.lexists(path) and not _is_ours(path):
            raise InputError("--to", f"{path} is there and was not written by healthcheck schedule; move it, or --name")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            path = Path(os.path.realpath(folder / name))
            write_atomically(path, text.encode(), mode=_mode(path))
    except OSError as error:
        raise InputError("--to", f"cannot write to {folder}: {error.strerror}") from None
    except StoreError as error:
        raise InputError("--to", str(error)) from None
    return tuple(folder / name for name in files)


def _mode(path: Path) -> int:
    """Everybody may read what holds no secret; a script that was made to be started stays so."""
    return READABLE | (path.stat().st_mode & 0o111 if path.exists() else 0)


def _is_ours(path: Path) -> bool:
    try:
        with open(path, "rb", opener=files_only) as file:
            return MARK.encode() in file.read(_HEAD_BYTES)
    except OSError:
        return False
