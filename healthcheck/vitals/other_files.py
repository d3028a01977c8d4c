"""Files that are neither a log nor a trace, by how they begin: what each is, and what makes one of it."""

from __future__ import annotations

from typing import Final

_UTF_16: Final = "text in UTF-16: turn it into UTF-8 (iconv -f UTF-16 -t UTF-8)"
_BEGINNINGS: Final = {
    b"PK\x03\x04": "a zip archive: unpack it",
    b"\xfd7zXZ": "packed by xz: unpack it (xz -d)",
    b"(\xb5/\xfd": "packed by zstd: unpack it (zstd -d)",
    b"BZh": "packed by bzip2: unpack it (bunzip2)",
    b"\x7fELF": "a program",
    b"\xff\xfe": _UTF_16,
    b"\xfe\xff": _UTF_16,
}
_LOOKED_AT: Final = 64


def other_file(head: bytes) -> str | None:
    """What begins with `head`, as a sentence that begins with `is`; None for what may be a log or a trace."""
    for beginning, what in _BEGINNINGS.items():
        if head.startswith(beginning):
            return what
    start = head[:_LOOKED_AT]
    even, odd = start[::2], start[1::2]
    # Without a mark of the byte order: beside each letter of ASCII stands a NUL.
    wide = len(start) > 3 and any(start) and (not any(even) or not any(odd))
    return _UTF_16 if wide else None
