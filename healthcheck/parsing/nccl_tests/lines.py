"""Physical lines -> lines worth reading, without what launchers and loggers put in front of them."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from healthcheck.parsing.nccl_tests.embedded import inner_lines
from healthcheck.parsing.nccl_tests.leftover import Leftover
from healthcheck.parsing.nccl_tests.prefixes import Prefixes, pieces
from healthcheck.parsing.nccl_tests.telltale import IN_TABLE, ROW, Sign, may_have_rows, signs_in

Source = Iterable[str] | Iterable[bytes] | str | bytes

_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\^_])")
_INFO = "NCCL INFO"
_BLOCK_CHARS = 1 << 16
_LONGEST_INFO = 1024  # a longer line holds more than one
_NARROWEST_ROW = 30
_MAX_CHARS = 4096  # longer lines are no text of ours; a row has 250, a device list of one process 2048
_LONGEST_LINE = 1 << 20  # as the reader of files cuts lines
SECRET = re.compile(r'\s*\{\s*"version"\s*:')  # a -J document: holds the environment of the run


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
            # NCCL's own log may be nearly all there is: the words are looked up in the rest only.
            rest = "\n".join([text for text in texts if _INFO not in text]) if _INFO in block else block
            signs, typed = signs_in(rest), may_have_rows(rest)
            if signs or typed or self.torn or self.in_table or rest is not block:
                yield from self._look(texts, number, signs, typed, ended)
            else:
                self._leftover.add_block(texts, number if self._numbered else None)
            number += len(texts) if ended else len(texts) - 1

    def _look(self, texts: list[str], number: int, signs: list[Sign], typed: bool, ended: bool) -> Iterator[Line]:
        last = number + len(texts) - 1
        for at, text in enumerate(texts, number):
            if _INFO in text and len(text) < _LONGEST_INFO:
                if not _says_something(text):
                    continue
            elif not self.torn and not self._is_worth_it(text, signs, typed):
                if not text.isspace():
                    self._leftover.add(text, at if self._numbered else None)
                continue
            elif "NCCL TRACE" in text or "NCCL CALL" in text:
                continue
            yield from self._clean(text, at, ended or at < last)

    def _is_worth_it(self, text: str, signs: list[Sign], typed: bool) -> bool:
        if self.in_table:
            if IN_TABLE.search(text):
                return True
        elif typed and ROW.search(text):
            return True
        for sign in signs:  # noqa: SIM110 - runs on every line of logs of many gigabytes
            if sign.in_line(text):
                return True
        return False

    def _clean(self, text: str, number: int, ended: bool) -> Iterator[Line]:
        parts = text.split("\r")
        for index, part in enumerate(parts, 1):
            process, plain = self._prefixes.known(part.lstrip("\ufeff\ufffd"))
            if SECRET.match(plain):
                return
            whole = ended or index < len(parts)
            inside = inner_lines(plain)
            if inside is None:
                yield from self._in_row(number, process, plain, whole)
                continue
            for inner, closed in inside:
                tag, plain = self._prefixes.known(inner)
                yield from self._in_row(number, tag or process, plain, closed)

    def _in_row(self, number: int, process: str, text: str, ended: bool) -> Iterator[Line]:
        found = list(pieces(process, self._prefixes.unknown(text[:_MAX_CHARS])))
        for index, (writer, piece) in enumerate(found, 1):
            yield Line(number, piece.strip(), writer, ended and index == len(found))


def _says_something(text: str) -> bool:
    """The few NCCL INFO lines that matter: number of ranks, chains of `file.cc:N -> R`, broken transfers.

    Spelled out because it runs on every line of logs of many gigabytes.
    """
    if " -> " in text and (".cc:" in text or ".cu:" in text or ".h:" in text):
        return True
    if "Init COMPLETE" in text or "Got completion" in text:
        return True
    before = text.find(_INFO)
    return before > _NARROWEST_ROW and ROW.search(text[:before]) is not None  # written into a row


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
    text += glue
    if "\0" in text:  # also what makes UTF-16 out of ASCII
        text = text.replace("\0", "")
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    return text.replace("\r\n", "\n") if "\r\n" in text else text


def _raw_lines(source: Source) -> Iterable[str | bytes]:
    if isinstance(source, str):
        return io.StringIO(source, newline="\n")
    return io.BytesIO(source) if isinstance(source, bytes) else source
