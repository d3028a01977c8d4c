"""Short commands around a capture on a node: is nsys there, which reports lie there, send one. Pure: argv and answers.

Every line of an answer that counts begins with a mark, so that what login files print is passed over.
"""

from __future__ import annotations

import re
from typing import Final

from msgspec import Struct

from healthcheck.launchers.nsys import CAPTURE_MARK, REPORT

_MARK: Final = f"{CAPTURE_MARK}:"
# Where its packages put it; the newest of several comes last.
_PLACES: Final = (
    "/usr/local/cuda*/bin/nsys /opt/nvidia/nsight-systems-cli/*/target-linux-*/nsys "
    "/opt/nvidia/nsight-systems/*/target-linux-*/nsys /opt/nvidia/nsight-systems/*/bin/nsys"
)
# $1 nsys, $2 where the training starts (or nothing), $3 the folder of the reports (or nothing: it is made by a push).
_LOOK: Final = " ".join(
    (
        'n=$1 w=$2 f=$3; p=$(command -v "$n" 2>/dev/null) || p=;',
        f'if [ -z "$p" ] && [ "$n" = nsys ]; then for q in {_PLACES}; do if [ -x "$q" ]; then p=$q; fi; done; fi;',
        f'if [ -n "$p" ]; then echo "{_MARK} nsys $p";',
        f'"$p" --version </dev/null 2>&1 | head -n 3 | sed "s/^/{_MARK} version /"; fi;',
        f'if [ -z "$w" ] || [ -d "$w" ]; then echo "{_MARK} cwd"; fi;',
        f'if [ -z "$f" ] || (umask 077; mkdir -p -- "$f" && [ -w "$f" ]); then echo "{_MARK} folder"; fi;',
        f'echo "{_MARK} end"',
    )
)
_START: Final = 'if [ -n "$1" ]; then cd -- "$1" || exit; fi; shift; exec "$@"'
_LIST: Final = (
    'for f in "$1"/*; do if [ -f "$f" ] && [ ! -L "$f" ]; then '
    f'echo "{_MARK} file $(($(wc -c <"$f"))) ${{f##*/}}"; fi; done; echo "{_MARK} end"'
)
_FILE: Final = re.compile(r"file (\d+) ([A-Za-z0-9][A-Za-z0-9._-]*)")
_VERSION: Final = re.compile(r"\d{4}\.\d+(?:\.\d+)*")


class Ready(Struct, frozen=True):
    """What the look found. `nsys` None: it is not there. `whole` False: no answer that could be believed."""

    whole: bool
    nsys: str | None = None
    version: str | None = None
    cwd: bool = False
    folder: bool = False


class NodeFile(Struct, frozen=True):
    """A file in the folder of the reports."""

    name: str
    size_bytes: int

    @property
    def is_report(self) -> bool:
        """Whether it can be exported."""
        return self.name.endswith(REPORT)


def look_argv(nsys: str, cwd: str | None, folder: str | None) -> tuple[str, ...]:
    """Look for everything a capture needs there; the folder of the reports is made."""
    return ("sh", "-c", _LOOK, CAPTURE_MARK, nsys, cwd or "", folder or "")


def read_look(stdout: str) -> Ready:
    """The answer to `look_argv`."""
    said = _marked(stdout)
    words = {key: rest for key, _, rest in (line.partition(" ") for line in reversed(said))}
    version = _VERSION.search(" ".join(line for line in said if line.startswith("version ")))
    return Ready(
        "end" in words,
        words.get("nsys"),
        version[0] if version is not None else None,
        "cwd" in words,
        "folder" in words,
    )


def start_argv(argv: tuple[str, ...], cwd: str | None) -> tuple[str, ...]:
    """The command, from the folder it starts in."""
    return argv if cwd is None else ("sh", "-c", _START, CAPTURE_MARK, cwd, *argv)


def list_argv(folder: str) -> tuple[str, ...]:
    """Which files lie in a folder, with their sizes."""
    return ("sh", "-c", _LIST, CAPTURE_MARK, folder)


def read_list(stdout: str) -> tuple[NodeFile, ...] | None:
    """The answer to `list_argv`; None where it is not whole. A name that is none of ours is passed over."""
    said = _marked(stdout)
    if "end" not in said:
        return None
    found = [_FILE.fullmatch(line) for line in said]
    return tuple(NodeFile(match[2], int(match[1])) for match in found if match is not None)


def send_argv(path: str) -> tuple[str, ...]:
    """Print a file, byte by byte."""
    return ("cat", "--", path)


def remove_argv(folder: str) -> tuple[str, ...]:
    """Remove a folder that a capture made for itself."""
    return ("rm", "-rf", "--", folder)


def _marked(stdout: str) -> list[str]:
    return [line.removeprefix(_MARK).strip() for line in stdout.splitlines() if line.startswith(_MARK)]
