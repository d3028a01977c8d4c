"""What launchers and loggers put in front of a line, and sometimes into it."""

from __future__ import annotations

import re
from collections.abc import Iterator

# Named groups tell processes apart.
_OMPI = r"""
    (?:[A-Z][a-z]{2}\ [A-Z][a-z]{2}\ [ \d]\d\ [\d:]{8}\ \d{4})?            # Open MPI 4 --timestamp-output
    (?:\[(?P<ompi>[^\]\[\s]*\d)\](?:\[[^\]\s]*\])?)?<std(?:out|err|diag)>:\ ?
"""
_ISO_TIME = r"\d{4}-\d\d-\d\dT[\d:]{8}(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?"
_PREFIX = re.compile(
    rf"""(?:
      {_OMPI}
    | \[(?P<hydra>\d{{1,7}})\](?:\ |$)                                     # hydra -prepend-rank
    | \ *(?P<srun>\d{{1,7}}):(?:\ |$)                                      # srun --label
    | {_ISO_TIME}(?:\ std(?:out|err)\ [FP])?(?:\ |$)                       # kubectl logs --timestamps, CRI
    | \[pod/(?P<pod>[^\]\s]+)\](?:\ |$)                                    # kubectl logs --prefix
    | \([\w.-]+,\ rank=(?P<ray>\d+),[^)]*\)(?:\ |$)                        # SkyPilot
    | \([\w.:-]*\ ?pid=(?P<pid>\d+)(?:,\ [^)]*)?\)(?:\ |$)                 # Ray
    | (?P<compose>[A-Za-z][\w.-]*(?:\ [A-Za-z][\w.-]*)?)\ +[|│›](?:\ |$)   # docker compose, stern
    | (?:>\ ?)+                                                            # quoted in an issue or a mail
    )""",
    re.VERBOSE | re.ASCII,
)
# Tags that a launcher writes at the start of every write, and so also inside a row that is written in pieces.
_INSIDE = re.compile(
    rf"{_OMPI}|\[(?P<hydra>\d{{1,7}})\]\ |{_ISO_TIME}\ |\ ?\b(?P<srun>\d{{1,7}}):\ ", re.VERBOSE | re.ASCII
)
_ROW_OR_REST = re.compile(r"\s*(?:-?[\d.]+|N/A)(?:\s|\[|$)", re.ASCII)
# Lines that nothing but these programs prints: what stands in front of one is a prefix, known or not.
_HEAD = re.compile(
    r"(?:#\s*)?(?:nThreads?:? \d+ nGpus:? \d|Collective test starting: |(?:nccl|rccl)-tests version |Using devices\s*$"
    r"|size\s+count\s+type\s)"
)
_HEAD_WORDS = ("nThread", "Collective test", "-tests version", "Using devices", "count")
_HOST = re.compile(r"[A-Za-z][\w.-]*: +", re.ASCII)
_BLANKS = r"\s+"
_MOST_PREFIXES = 5
_MOST_LEARNED = 8
_LONGEST_LEARNED = 200


class Prefixes:
    """Strips known prefixes, and unknown ones once they stood in front of a line that gives them away."""

    def __init__(self) -> None:
        self._learned: list[re.Pattern[str]] = []

    def strip(self, text: str) -> tuple[str, str]:
        """(tag of the process or "", text without the prefixes of launchers and loggers known so far)."""
        process, learned = "", False
        for _ in range(_MOST_PREFIXES):
            match = None if learned else self._learned_match(text)
            # Twice the same word may be the name of a host in front of its own message.
            learned = learned or match is not None
            match = match or _PREFIX.match(text)
            if match is None or match.end() == 0:
                break
            text = text[match.end() :]
            process = _tag(match) or process
        return process, text

    def learn(self, text: str) -> tuple[str, str]:
        """The same for a line that only these programs print, whatever stands in front of it."""
        head = _HEAD.search(text) if any(word in text for word in _HEAD_WORDS) else None
        if head is None or not _is_prefix(text[: head.start()]):
            return "", text
        pattern = _general(text[: head.start()])
        if len(self._learned) < _MOST_LEARNED:
            self._learned.append(pattern)
        match = pattern.match(text)
        return _tag(match) if match else "", text[head.start() :]

    def _learned_match(self, text: str) -> re.Match[str] | None:
        for pattern in self._learned:
            if match := pattern.match(text):
                return match
        return None


def _tag(match: re.Match[str]) -> str:
    return f"{match.lastgroup}:{match[match.lastgroup]}" if match.lastgroup else ""


def _is_prefix(text: str) -> bool:
    """True for what may stand in front of a head; a fork has `timestamp` as its first column name."""
    return len(text) <= _LONGEST_LEARNED and text.strip("# \t") not in ("", "timestamp")


def _general(prefix: str) -> re.Pattern[str]:
    """A pattern for this prefix with other numbers in it: a counter, a time of day. `pdsh` and `clush` name a host."""
    parts = "".join(_part(part) for part in re.split(r"([0-9]+|\s+)", prefix))
    return re.compile(rf"(?P<host>{parts.removesuffix(_BLANKS)}){_BLANKS}" if _HOST.fullmatch(prefix) else parts)


def _part(part: str) -> str:
    if part.isspace():
        return _BLANKS
    return r"[0-9]+" if part.isdecimal() else re.escape(part)


def pieces(process: str, text: str) -> Iterator[tuple[str, str]]:
    """(process, text) of a line in whose row there are tags; other lines come back as they are.

    A tag of the same writer only goes; one of another process begins that one's text.
    """
    start = 0
    # Every tag has a colon or a bracket; most rows have neither, and to search one for all four kinds takes long.
    while (":" in text or "[" in text) and _ROW_OR_REST.match(text) and (match := _INSIDE.search(text, start)):
        other = _tag(match) or process
        # A tag of another kind than the line's own is text that happens to look like one.
        if other.partition(":")[0] != process.partition(":")[0]:
            start = match.end()
        elif other == process:
            start = match.start()
            text = text[:start] + text[match.end() :]
        else:
            yield process, text[: match.start()]
            process, text, start = other, text[match.end() :], 0
    yield process, text
