"""`--html FILE`: one self-contained page beside what a command prints."""

from __future__ import annotations

from pathlib import Path


def check_place(file: Path) -> None:
    """InputError where no page can be written there; asked before anything is done."""
    from healthcheck.edge.places import is_folder, is_link
    from healthcheck.errors import InputError

    if not is_folder(file.parent):
        raise InputError("--html", f"there is no folder {file.parent}; name a file in one that exists")
    if is_folder(file):
        raise InputError("--html", f"{file} is a folder; name a file")
    if is_link(file):
        # It would be replaced: /dev/stdout by a file, for everybody, where root does it.
        raise InputError("--html", f"{file} is a symbolic link; name the file itself")


def write_page(file: Path, page: str) -> None:
    """Whole or not at all; where it lies is said on stderr."""
    from healthcheck.cli.exits import say
    from healthcheck.edge.store import write_atomically
    from healthcheck.model.message import say as message

    write_atomically(file, page.encode("utf-8", "backslashreplace"))
    say(str(message("cli.wrote", file=str(file))))
