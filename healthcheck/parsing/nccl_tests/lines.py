"""Physical lines -> lines without what launchers and loggers put in front of them."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

# One alternative a launcher or logger; the named group, where there is one, tells processes apart.
_PREFIX = re.compile(
    r"""(?:
      (?:[A-Z][a-z]{2}\ [A-Z][a-z]{2}\ [ \d]\d\ [\d:]{8}\ \d{4})?        # Open MPI 4 --timestamp-output
        (?:\[(?P<ompi>[^\]\s]*\d)\](?:\[[^\]\s]*\])?)?<std(?:out|err|diag)>:\ ?
    | \[(?P<hydra>\d+)\](?:\ |$)                                           # hydra -prepend-rank
    | \ *(?P<srun>\d+):(?:\ |$)                                            # srun --label
    | \d{4}-\d\d-\d\dT[\d:]{8}(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)\              # kubectl logs --timestamps
    | \[pod/(?P<pod>[^\]\s]+)\]\                                           # kubectl logs --prefix
    | \([\w-]+,\ rank=(?P<ray>\d+),[^)]*\)\                                # SkyPilot, Ray
    | (?P<compose>[A-Za-z][\w.-]*)\ +\|\                                                # docker compose, stern
    | (?:>\ ?)+                                                            # quoted in an issue or a mail
    )""",
    re.VERBOSE,
)
_ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_MAX_PREFIXES = 4
_INFO = "NCCL INFO"
_TRACE = "NCCL TRACE"
_CALL = "NCCL CALL"
_NARROWEST_ROW = 30
_MAX_CHARS = 4096  # longer lines are JSON or no text at all; a row has 250, a device list of one process 2048


class Line(NamedTuple):
    """One line. `number` counts from 1, `process` is the launcher's tag of the writer ("" without one).

    `terminated` is False for a last line without line end: it may have been cut anywhere.
    """

    number: int
    text: str
    process: str = ""
    terminated: bool = True


def read_lines(source: Iterable[str] | Iterable[bytes] | str | bytes) -> Iterator[Line]:
    """Every line worth a look; most NCCL INFO lines are dropped here, before anything costly.

    `source` gives lines with or without their line ends (or is the whole text). Bytes are UTF-8 with errors replaced.
    """
    ends_seen = False
    for number, raw in enumerate(_raw_lines(source), 1):
        text = raw if isinstance(raw, str) else raw.decode("utf-8", "replace")
        terminated = text.endswith("\n")
        if terminated:
            ends_seen = True
        if _INFO in text:
            if not _says_something(text):
                continue
        elif _TRACE in text or _CALL in text:
            continue
        process, text = strip_prefixes(text[:_MAX_CHARS].rstrip("\r\n").replace("\0", ""))
        yield Line(number, text.lstrip(), process, terminated or not ends_seen)


def _says_something(text: str) -> bool:
    """The few NCCL INFO lines that matter: number of ranks, chains of `file.cc:N -> R`, broken transfers.

    Spelled out because it runs on every line of logs of many gigabytes.
    """
    if " -> " in text and (".cc:" in text or ".cu:" in text or ".h:" in text):
        return True
    if "Init COMPLETE" in text or "Got completion" in text:
        return True
    before = text.find(_INFO)
    return before > _NARROWEST_ROW and "  " in text[:before]  # written into a row: its left part stands in front


def _raw_lines(source: Iterable[str] | Iterable[bytes] | str | bytes) -> Iterable[str | bytes]:
    if isinstance(source, str):
        return io.StringIO(source, newline="\n")
    return io.BytesIO(source) if isinstance(source, bytes) else source


def strip_prefixes(text: str) -> tuple[str, str]:
    """(process tag, text). The tag repeated inside the line, where a row is written in pieces, goes too."""
    process = ""
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    for _ in range(_MAX_PREFIXES):
        match = _PREFIX.match(text)
        if match is None or match.end() == 0:
            break
        prefix, text = match[0], text[match.end() :]
        if match.lastgroup:
            process = f"{match.lastgroup}:{match[match.lastgroup]}"
            text = text.replace(prefix if "@" in prefix or not prefix.endswith(">: ") else prefix.rstrip(), "")
    return process, text
