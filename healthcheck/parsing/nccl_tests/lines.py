"""Physical lines -> lines worth reading, without what launchers and loggers put in front of them."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from healthcheck.parsing.nccl_tests.embedded import inner_lines
from healthcheck.parsing.nccl_tests.leftover import Leftover
from healthcheck.parsing.nccl_tests.prefixes import Prefixes, pieces
from healthcheck.parsing.nccl_tests.telltale import ROW, Block, may_have_rows

Source = Iterable[str] | Iterable[bytes] | str | bytes

_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\^_])")
_INFO = "NCCL INFO"
_UNREAD = ("NCCL TRACE", "NCCL CALL")
_CHAIN = re.compile(r"\.(?:cc|cu|h):\d+ -> \d")
_BLOCK_CHARS = 1 << 16
_LONGEST_INFO = 1024  # a longer line holds more than one
_NARROWEST_ROW = 30
_MAX_CHARS = 4096  # longer lines are no text of ours; a row has 250, a device list of one process 2048
_LONGEST_LINE = 1 << 20  # as the reader of files cuts lines
# A -J document, or a line of its copy of the environment where a tool spread it over lines.
_SECRET = re.compile(r'\s*\{\s*"version"\s*:|\s*"[A-Za-z_]\w*=.*",?\s*$')


class Line(NamedTuple):
    """One line. `number` counts from 1, `process` is the launcher's tag of the writer ("" without one).

    `terminated` is False for a last line without line end: it may have been cut anywhere.
    """

    number: int
    text: str
    process: str = ""
    terminated: bool = True


class Lines:
    """Iterates over every line worth a look; the rest goes to `leftover`, most of NCCL's own log nowhere.

    The reader sets `torn` while a row waits for its rest, `in_table` between config line and footer: then more is worth
    a look.
    """

    def __init__(self, source: Source, leftover: Leftover, numbered: bool = True) -> None:
        self.torn = False
        self.in_table = False
        self._source = source
        self._leftover = leftover
        self._numbered = numbered
        self._prefixes = Prefixes()

    def __iter__(self) -> Iterator[Line]:
        number = 1
        for block in _blocks(self._source):
            texts = block.split("\n")
            ended = texts[-1] == "" and len(texts) > 1
            if ended:
                texts.pop()
            yield from self._look(_without_chatter(block, texts, number), number + len(texts) - 1, ended)
            number += len(texts) if ended else len(texts) - 1

    def _look(self, block: Block, last: int, ended: bool) -> Iterator[Line]:
        """Of a block only the lines with a sign in them; while a row is torn, every one."""
        hits = block.telling_lines(self.in_table)
        at, hit = 0, 0
        while at < len(block.texts):
            while hit < len(hits) and hits[hit] < at:
                hit += 1
            following = at if self.torn else hits[hit] if hit < len(hits) else len(block.texts)
            if following > at:
                numbers = block.numbers[at:following] if self._numbered else None
                self._leftover.add_block(block.texts[at:following], numbers)
                at = following
                continue
            number = block.numbers[at]
            yield from self._clean(block.texts[at], number, ended or number < last)
            at += 1

    def _clean(self, text: str, number: int, ended: bool) -> Iterator[Line]:
        parts = text.split("\r")
        for index, part in enumerate(parts, 1):
            process, plain = self._prefixes.strip(part.lstrip("\ufeff\ufffd"))
            whole = ended or index < len(parts)
            if "NCCL WARN" in plain and plain[0].isalpha():  # no row, and there may be millions
                yield Line(number, plain[:_MAX_CHARS].rstrip(), process, whole)
                continue
            if _SECRET.match(plain):
                return
            inside = inner_lines(plain.lstrip())
            if inside is None:
                yield from self._in_row(number, process, plain, whole)
                continue
            for inner, closed in inside:
                tag, plain = self._prefixes.strip(inner)
                yield from self._in_row(number, tag or process, plain, closed)

    def _in_row(self, number: int, process: str, text: str, ended: bool) -> Iterator[Line]:
        tag, text = self._prefixes.learn(text[:_MAX_CHARS])
        found = list(pieces(process or tag, text))
        for index, (writer, piece) in enumerate(found, 1):
            yield Line(number, piece.strip(), writer, ended and index == len(found))


def _without_chatter(block: str, texts: list[str], first: int) -> Block:
    """The block without what NCCL prints by the million and nobody reads here."""
    numbers: Sequence[int] = range(first, first + len(texts))
    for words in (_INFO, *_UNREAD):
        if words not in block:
            continue
        if words is _INFO and (_says_something(block) or _has_torn_rows(block)):
            kept = [index for index, text in enumerate(texts) if not _is_chatter(text)]
        else:
            kept = [index for index, text in enumerate(texts) if words not in text or len(text) > _LONGEST_INFO]
        texts, numbers = [texts[index] for index in kept], [numbers[index] for index in kept]
        block = "\n".join(texts)
    return Block(block, texts, numbers)


def _says_something(text: str) -> bool:
    if "Init COMPLETE" in text or "Got completion" in text:
        return True
    return " -> " in text and _CHAIN.search(text) is not None


def _has_torn_rows(block: str) -> bool:
    return "   " in block and may_have_rows(block) and ROW.search(block) is not None


def _is_chatter(text: str) -> bool:
    """Most NCCL INFO lines: not the number of ranks, chains of `file.cc:N -> R`, broken transfers, nor torn rows."""
    before = text.find(_INFO)
    if before < 0 or len(text) > _LONGEST_INFO or _says_something(text):
        return False
    return before <= _NARROWEST_ROW or ROW.search(text[:before]) is None


def _blocks(source: Source) -> Iterator[str]:
    """The text in pieces of about 64 KiB that end where a line ends, cleaned of what no line of text has in it."""
    kept: list[str] | list[bytes] = []
    size = 0
    glue: str | None = None
    for raw in _raw_lines(source):
        if glue is None:
            # Lines may come without their ends; a whole file without any is cut by its reader.
            ends = raw.endswith("\n") if isinstance(raw, str) else raw.endswith(b"\n")
            bare = not ends and len(raw) < _LONGEST_LINE
            glue = "\n" if bare else ""
        kept.append(raw)  # type: ignore[arg-type]  # a source is all text or all bytes
        size += len(raw) + 1
        if size >= _BLOCK_CHARS:
            yield _text(kept, glue)
            kept, size = [], 0
    if kept and glue is not None:
        yield _text(kept, glue)


def _text(raws: list[str] | list[bytes], glue: str) -> str:
    """One text of the lines; `raws` holds one kind only."""
    if isinstance(raws[0], bytes):
        text = glue.encode().join(raw for raw in raws if isinstance(raw, bytes)).decode("utf-8", "replace")
    else:
        text = glue.join(raw for raw in raws if isinstance(raw, str))
    text = without_escapes(text + glue)
    if "\xa0" in text:
        text = text.replace("\xa0", " ")
    return text.replace("\r\n", "\n") if "\r\n" in text else text


def without_escapes(text: str) -> str:
    """The text without colours and cursor movements of a terminal, and without NUL."""
    if "\0" in text:  # also what makes UTF-16 out of ASCII
        text = text.replace("\0", "")
    return _ANSI.sub("", text) if "\x1b" in text else text


def _raw_lines(source: Source) -> Iterable[str | bytes]:
    if isinstance(source, str):
        return io.StringIO(source, newline="\n")
    return io.BytesIO(source) if isinstance(source, bytes) else source
