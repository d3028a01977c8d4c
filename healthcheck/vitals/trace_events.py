"""The events of a Chrome trace, a batch at a time: memory does not grow with the file.

The array `traceEvents` is cut between two events near the end of every piece of the file, and msgspec decodes what lies
before the cut, only the fields that are wanted. That a piece decodes proves the cut was right, for half an event or
half a text is no JSON. A piece that does not decode is read event by event by the `json` of Python, which takes what
traces in the wild hold (`NaN`, bare control bytes), if need be after their known faults were mended
(`trace_mending.py`); what cannot be read even so is left out, counted, and its place kept.

Why not ijson: measured on 500 MB (benchmarks/vitals_trace.py) it only counts events at half the speed at which this
tells the whole answer, and it ends at the first event with a fault: a second reader would be needed anyway.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from json import JSONDecodeError
from typing import BinaryIO, NamedTuple

import msgspec

from healthcheck.errors import InputError
from healthcheck.vitals.other_files import other_file
from healthcheck.vitals.trace_fields import Event, Head, event_of
from healthcheck.vitals.trace_mending import mended

_PIECE = 1 << 20
_WINDOW = 1 << 14
_TAIL = 64
_LONGEST_HEAD = 64 << 20
_LONGEST_EVENT = 16 << 20
_ARRAY = re.compile(rb'"traceEvents"\s*:\s*\[')
# A bracket inside a broken event is not the end of the events.
_LAST = r'\]\s*(?:,\s*"|\}\s*$|$)'
_END = re.compile(_LAST)
_NEXT = re.compile(rf"\}}\s*(?:,\s*(?=\{{)|(?={_LAST}))")
_BETWEEN = re.compile(r"[\s,\x00]*")
_PARTIAL = re.compile(r"[-+\w.\\/]*\s*$")
_BLANK = b" \t\r\n"
_BROKEN = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


class _Window(NamedTuple):
    """A part of a piece. `behind`: from its begin to the end of what was read. `whole`: the piece ends with it, `last`:
    the file, too."""

    text: str
    behind: int
    whole: bool
    last: bool

    def end_of_broken(self, error: JSONDecodeError | RecursionError, at: int) -> int | None:
        """Where the event after the broken one at `at` begins; None where more text might make it whole."""
        at_error = max(at, getattr(error, "pos", at) - 1)
        if _unfinished(error, self.text) and (not self.whole or self.last or len(self.text) - at < _LONGEST_EVENT):
            return None
        found = _NEXT.search(self.text, at_error)
        if found is None and not self.whole:
            return None
        return found.end() if found else len(self.text)


class TraceEvents:
    """The events of one file; the attributes are told once `batches` has ended.

    `lost` events could not be read, the first of them near byte `lost_at` of the unpacked file. `cut`: the file ended
    inside the events. `size`: bytes read. InputError naming `file` where it is no Chrome trace.
    """

    def __init__(self, stream: BinaryIO, file: str, piece: int = _PIECE, window: int = _WINDOW) -> None:
        self._stream, self._file, self._piece, self._size = stream, file, piece, window
        self._buffer = b""
        self._done = False
        self._bare = False
        self._batch = msgspec.json.Decoder(list[Event])
        self._one = json.JSONDecoder(strict=False)
        self.head = Head()
        self.size = 0
        self.lost = 0
        self.lost_at: int | None = None
        self.cut = False

    def batches(self) -> Iterator[list[Event]]:
        """All events, in the order of the file."""
        self._open()
        while not self._done:
            full = self._more()
            piece, rest = self._split() if full else (self._buffer, b"")
            try:
                batch = self._batch.decode(b"[" + piece + b"]")
                self._buffer = rest
                self._done = not full
                self.cut |= self._done and not self._bare
            except _BROKEN:
                batch = self._one_by_one(piece, rest, full)
            yield batch

    def _more(self) -> bool:
        """One piece more in the buffer; False at the end of the file, or where a compressed one breaks off."""
        try:
            piece = self._stream.read(self._piece)
        except EOFError:
            piece, self.cut = b"", True
        self._buffer += piece
        self.size += len(piece)
        return bool(piece)

    def _open(self) -> None:
        """Up to the first event. A bare array of events is a trace, too, and may be left open (Chrome's rule)."""
        full = True
        while full and len(self._buffer) < _LONGEST_HEAD:
            full = self._more()
            start = self._buffer.lstrip(b"\xef\xbb\xbf" + _BLANK)
            if start.startswith(b"["):
                self._buffer, self._bare = start[1:], True
                return
            if what := other_file(self._buffer):
                raise InputError(self._file, f"is {what}")
            if start and not start.startswith(b"{"):
                raise InputError(self._file, f"{_NO_TRACE}: it is not JSON. {_WANTED}")
            if opened := _ARRAY.search(self._buffer):
                self._learn(self._buffer[: opened.start()].rstrip(b"," + _BLANK) + b"}")
                self._buffer = self._buffer[opened.end() :]
                return
        what = "has no `traceEvents`" if self._buffer.strip() else "is empty"
        raise InputError(self._file, f"{what}, so it is no trace of torch.profiler. {_WANTED}")

    def _split(self) -> tuple[bytes, bytes]:
        """What lies before the last place between two events, and what lies behind it."""
        end = len(self._buffer)
        while (brace := self._buffer.rfind(b"{", 0, end)) > 0:
            before = self._buffer[max(0, brace - 64) : brace].rstrip(_BLANK)
            if before.endswith(b",") and before[:-1].rstrip(_BLANK).endswith(b"}"):
                comma = self._buffer.rfind(b",", 0, brace)
                return self._buffer[:comma], self._buffer[comma + 1 :]
            end = brace
        if len(self._buffer) < _LONGEST_EVENT:
            return b"", self._buffer
        self._lose(len(self._buffer))
        return b"", b""

    def _one_by_one(self, piece: bytes, rest: bytes, full: bool) -> list[Event]:
        """The events of a piece that is not clean JSON; what of it has to wait for more of the file stays in front.

        In small windows, because Python's error counts the lines of all text that it is given.
        """
        text = piece.decode("utf-8", "replace")
        found: list[Event] = []
        at, size = 0, self._size
        while at < len(text):
            whole = at + size >= len(text)
            window = _Window(text[at : at + size], len(text) - at + len(rest), whole, whole and not full)
            used, ended = self._window(window, found)
            at += used
            if ended:
                self._close(text[at + 1 :].encode() + rest)
                return found
            if whole:
                break
            size = self._size if used else size * 2
        self._buffer = text[at:].encode() + b"," + rest if at < len(text) else rest
        self._done = not full
        self.cut |= self._done and (at < len(text) or not self._bare)
        return found

    def _window(self, window: _Window, found: list[Event]) -> tuple[int, bool]:
        """Adds the events of a window; gives where the first begins that is not whole in it, and whether the array
        ends there."""
        text = window.text
        at = _after(text, 0)
        while at < len(text):
            if text[at] == "]" and not window.whole and len(text) - at < _TAIL:
                break
            if _END.match(text, at):
                return at, True
            try:
                value, stop = self._one.raw_decode(text, at)
                event = event_of(value)
            except (JSONDecodeError, RecursionError) as error:
                end = window.end_of_broken(error, at)
                if end is None:
                    break
                stop, event = end, self._mended(text[at:end])
            if event is None:
                self._lose(window.behind - at)
            else:
                found.append(event)
            at = _after(text, stop)
        return at, False

    def _mended(self, text: str) -> Event | None:
        """The event in a text that is no JSON, if its faults are known ones."""
        try:
            return event_of(self._one.raw_decode(mended(text))[0])
        except (JSONDecodeError, RecursionError):
            return None

    def _lose(self, behind: int) -> None:
        """One event less; it began `behind` bytes before the end of what was read."""
        self.lost += 1
        if self.lost_at is None:
            self.lost_at = max(0, self.size - behind)

    def _close(self, tail: bytes) -> None:
        """The array has ended; what stands behind it may say as much as what stands before."""
        self._done, self._buffer = True, tail
        self._more()
        self.cut |= b'"ph"' in self._buffer  # it was no end
        self._learn(b"{" + self._buffer.lstrip(b"," + _BLANK))

    def _learn(self, text: bytes) -> None:
        """Keep what an object beside the events says; nothing where it cannot be read."""
        try:
            head = msgspec.convert(json.loads(text, strict=False), Head)
        except (ValueError, RecursionError, msgspec.ValidationError):
            return
        self.head.gpus = self.head.gpus or head.gpus or head.old_gpus
        self.head.distributed = self.head.distributed or head.distributed


_NO_TRACE = "is no trace of torch.profiler"
_WANTED = "Name what `prof.export_chrome_trace` or `tensorboard_trace_handler` wrote (.json or .json.gz)"


def _after(text: str, at: int) -> int:
    """The next place with anything but blanks and commas."""
    found = _BETWEEN.match(text, at)
    return found.end() if found else at


def _unfinished(error: JSONDecodeError | RecursionError, text: str) -> bool:
    """True where more of the file might make it whole."""
    if not isinstance(error, JSONDecodeError):
        return False
    return error.msg.startswith("Unterminated string") or _PARTIAL.match(text, error.pos) is not None
