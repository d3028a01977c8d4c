"""Lines inside a line: a logger wrote the output, or each line of it, as a JSON string or with `\\n` in it."""

from __future__ import annotations

import ast
import re

import msgspec

from healthcheck.parsing.nccl_tests.telltale import ROW, signs_in

_ENDS = re.compile(r"(?:\\+r)?\\+n")
_ESCAPES = re.compile(r"\\+(?:u001b|x1b|033|e)\[[0-9;]*m|(?P<tab>\\+t)|\\+(?P<quote>[\"'])")
_HEADISH = re.compile(r"nThreads?:? \d|Avg bus bandwidth|algbw\s+busbw|Using devices|Test failure|-tests version")
_LIST_ITEM = re.compile(r"(?P<quote>[\"'])(?P<text>.*)(?P=quote),?\s*$")
_QUOTES = "\"'`"
_DEEPEST = 4


def inner_lines(text: str, deep: int = 0) -> list[tuple[str, bool]] | None:
    """(line, does it end) for all lines inside this one; None when it is an ordinary line."""
    if deep == 0 and '"busBw"' in text:
        return None  # a result of rccl-tests: read as such
    if text[:1] in ("{", "[") and deep < _DEEPEST:
        document = _decoded(text)
        if document is not None:
            return [line for string in _strings(document, 0) for line in _lines_of(string, deep + 1)]
    if item := _LIST_ITEM.match(text):
        return [(_plain(item["text"]), True)]
    if "\\n" in text and _HEADISH.search(text):
        return _unescaped(text)
    return None


def _decoded(text: str) -> object:
    """JSON, or a list as Python prints it."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        pass
    if not (text.startswith("['") and _HEADISH.search(text)):
        return None
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None


def _strings(value: object, deep: int) -> list[str]:
    """The strings of a document that may be output of a program, in its order."""
    if isinstance(value, str):
        return [value] if "\n" in value or signs_in(value) or ROW.search(value) else []
    if deep > _DEEPEST:
        return []
    inside: list[object] = []
    if isinstance(value, dict):
        inside = list(value.values())
    elif isinstance(value, list):
        inside = value
    return [string for one in inside for string in _strings(one, deep + 1)]


def _lines_of(string: str, deep: int) -> list[tuple[str, bool]]:
    inside = inner_lines(string.strip(), deep) if string.lstrip().startswith("{") else None
    # One message a line: what its logger closed has ended.
    return [(line, True) for line in string.splitlines()] if inside is None else inside


def _unescaped(text: str) -> list[tuple[str, bool]]:
    first, *middle, last = _ENDS.split(text)
    first = first[max(map(first.rfind, _QUOTES)) + 1 :]
    end = min((at for at in map(last.find, _QUOTES) if at >= 0), default=-1)
    lines = [(_plain(line), True) for line in (first, *middle)]
    return [*lines, (_plain(last[:end]), True) if end >= 0 else (_plain(last), False)]


def _plain(text: str) -> str:
    return _ESCAPES.sub(lambda match: "\t" if match["tab"] else match["quote"] or "", text)
