"""Why a part gave no value: the same four answers for every look. None of them may ever be read as health."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Never

from msgspec.structs import replace

from healthcheck.model.message import say
from healthcheck.model.reading import Evidence, Reading, ReadingState, noted
from healthcheck.probes.batch import PartOutput, PartState

QUOTED_LINES = 6
QUOTED_CHARS = 300
_MOST_LINES, _LONGEST_LINE = 5000, 2000
_NOT_FOUND = re.compile(r"(command )?not found|No such file or directory", re.IGNORECASE)
_DENIED = re.compile(r"permission denied|insufficient permissions|operation not permitted", re.IGNORECASE)
_CONTROL = re.compile(r"[^\x20-\x7e\xa0-\uffff]+")


def quote(source: str, lines: Iterable[str]) -> tuple[Evidence, ...]:
    """The first lines that say something, without control characters and bounded in number and length."""
    kept: list[Evidence] = []
    for line in lines:
        text = _CONTROL.sub(" ", line[: 2 * QUOTED_CHARS]).strip()[:QUOTED_CHARS]
        if text:
            kept.append(Evidence(source, text))
        if len(kept) == QUOTED_LINES:
            break
    return tuple(kept)


def said(output: PartOutput) -> list[str]:
    """What a part said, its complaints first."""
    return [*output.stderr.split("\n", 50)[:50], *output.stdout.split("\n", 50)[:50]]


def garbled(source: str, output: PartOutput) -> Reading[Never]:
    """It answered, but not in a form we understand."""
    evidence = quote(source, said(output)) or (noted(source, say("evidence.no_output")),)
    return Reading(ReadingState.UNPARSABLE, evidence=evidence)


def usable(source: str, output: PartOutput | None) -> PartOutput | Reading[Never]:
    """The output when it ended by itself and found its tool; else why it cannot be used at all.

    An exit code other than 0, 126 and 127 is left to the caller: some tools report a sick device that way.
    """
    if output is None:
        evidence = (noted(source, say("evidence.no_answer")),)
        return Reading(ReadingState.UNPARSABLE, evidence=evidence)
    if output.state is not PartState.ENDED:
        why = {
            PartState.TIMED_OUT: "evidence.timed_out",
            PartState.CUT: "evidence.cut",
            PartState.TRUNCATED: "evidence.truncated",
            PartState.NOT_ASKED: "evidence.not_asked",
        }[output.state]
        return Reading(ReadingState.UNPARSABLE, evidence=(noted(source, say(why)), *quote(source, said(output))))
    output = replace(output, stdout=_bounded(output.stdout), stderr=_bounded(output.stderr))
    text = "\n".join(said(output))
    if output.rc == 127 or (output.rc not in (0, None) and not output.stdout and _NOT_FOUND.search(output.stderr)):
        return Reading(ReadingState.TOOL_MISSING, evidence=quote(source, said(output)))
    if output.rc == 126 or (output.rc != 0 and _DENIED.search(text)):
        return Reading(ReadingState.DENIED, evidence=quote(source, said(output)))
    return output


def _bounded(text: str) -> str:
    """No answer we understand has more or longer lines; the readers' patterns need not fear them."""
    if len(text) <= _LONGEST_LINE:
        return text
    return "\n".join(line[:_LONGEST_LINE] for line in text.split("\n", _MOST_LINES)[:_MOST_LINES])
