"""How wide a text is on a terminal, where a Chinese character takes two columns: padding, cutting, wrapping by it."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Sequence

ELLIPSIS = "..."
_NEVER_FIRST = "，。、；：？！）》】」』”’…％"
"""What no line begins with in Chinese."""


_MOST, _LEAST = 96, 40


def readable(width: int) -> int:
    """The columns to write in on a terminal of this width: no more than are read well, no fewer than words need."""
    return max(_LEAST, min(width, _MOST))


def spaced(blocks: Iterable[Sequence[str]]) -> list[str]:
    """The lines of all blocks that have any, an empty line between two of them."""
    lines: list[str] = []
    for block in filter(None, blocks):
        lines += [*([""] if lines else []), *block]
    return lines


def width_of(text: str) -> int:
    """Columns that one line of text takes."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def left(text: str, width: int) -> str:
    """Set left in `width` columns; a wider text stays as it is."""
    return text + " " * (width - width_of(text))


def right(text: str, width: int) -> str:
    """Set right in `width` columns; a wider text stays as it is."""
    return " " * (width - width_of(text)) + text


def cut(text: str, width: int) -> str:
    """The text in at most `width` columns, with three dots where something was left out."""
    if width_of(text) <= width:
        return text
    room, kept = width - len(ELLIPSIS), ""
    if room < 1:
        return ""
    for char in text:
        room -= width_of(char)
        if room < 0:
            break
        kept += char
    return kept.rstrip() + ELLIPSIS


def wrapped(
    text: str, width: int, indent: str = "", hanging: str | None = None, *, break_long: bool = True
) -> list[str]:
    """`text` in lines of at most `width` columns, behind `indent` and then `hanging` (None: the same).

    Lines break between words, and between any two Chinese characters. A word wider than a line is broken only with
    `break_long`: a path or a command is there to be copied.
    """
    follow = indent if hanging is None else hanging
    if f"{text}{indent}{follow}".isascii():
        return textwrap.wrap(
            text,
            width,
            initial_indent=indent,
            subsequent_indent=follow,
            break_on_hyphens=False,
            break_long_words=break_long,
        )
    lines: list[str] = []
    line, room, glue = indent, width - width_of(indent), ""
    begun = False
    for space, piece in _pieces(text):
        glue = " " if space and begun else ""
        for part in _parts(piece, width - width_of(follow)) if break_long else (piece,):
            need = width_of(glue + part)
            if begun and need > room:
                lines.append(line)
                line, room, glue = follow, width - width_of(follow), ""
                need = width_of(part)
            line += glue + part
            room -= need
            begun, glue = True, ""
    return [*lines, line] if begun else lines


def _pieces(text: str) -> list[tuple[bool, str]]:
    """(a blank stands before it, what must stay together) of a text, in order."""
    pieces: list[tuple[bool, str]] = []
    for word in text.split():
        first = True
        for piece in re.findall(rf"[^\u2e80-\uffef]+[{_NEVER_FIRST}]*|.[{_NEVER_FIRST}]*", word):
            pieces.append((first, piece))
            first = False
    return pieces


def _parts(piece: str, width: int) -> list[str]:
    if width_of(piece) <= width or width < 2:
        return [piece]
    parts, line = [], ""
    for char in piece:
        if width_of(line + char) > width:
            parts.append(line)
            line = ""
        line += char
    return [*parts, line]
