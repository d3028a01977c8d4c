"""Sizes, durations and changes as people write them: `8G`, `512M`, `5m`, `1h30m`, `-3.1`."""

from __future__ import annotations

import re

_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", re.IGNORECASE)
_SIZE_UNIT = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_PART_UNIT = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def signed(value: float, digits: int = 1) -> str:
    """`-3.1`, `+0.4`, and `0.0` without a sign for what rounds to nothing."""
    text = f"{value:+.{digits}f}"
    return text if text.strip("+-0.") else text[1:]


def binary(size_bytes: int) -> str:
    """`1 GiB`, `37.5 MiB`: three digits of a size that need not be round."""
    sizes = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))
    unit, name = next((each for each in sizes if size_bytes >= each[0]), (1, "B"))
    return f"{size_bytes / unit:.3g} {name}"


class Bytes(int):
    """A message size in bytes, written `512M` (binary units, as nccl-tests reads them)."""

    @classmethod
    def parse(cls, text: object) -> Bytes:
        """`512M`, `8G`, `1.5G` or a plain number of bytes; ValueError otherwise."""
        if isinstance(text, int) and not isinstance(text, bool):
            value = text
        else:
            match = _SIZE.fullmatch(str(text).strip())
            if match is None or isinstance(text, bool):
                raise ValueError(f"{text!r} is not a size; write for example 512M or 8G")
            value = int(float(match[1]) * _SIZE_UNIT[match[2].upper()])
        if value <= 0:
            raise ValueError(f"{text!r} is not a size above zero")
        return cls(value)

    def __str__(self) -> str:
        for unit in ("T", "G", "M", "K"):
            if self % _SIZE_UNIT[unit] == 0:
                return f"{int(self) // _SIZE_UNIT[unit]}{unit}"
        return str(int(self))


class Seconds(float):
    """A duration in seconds, written `90s`, `5m`, `1h30m`."""

    @classmethod
    def parse(cls, text: object) -> Seconds:
        """`90s`, `5m`, `1h30m`; ValueError otherwise. A bare number is refused: its unit would be a guess."""
        if isinstance(text, str):
            parts = _PART.findall(text.strip())
            if parts and "".join(number + unit for number, unit in parts) == text.strip():
                value = sum(float(number) * _PART_UNIT[unit] for number, unit in parts)
                if value > 0:
                    return cls(value)
        raise ValueError(f"{text!r} is not a duration; write for example 90s, 5m or 1h30m")

    def __str__(self) -> str:
        whole = round(float(self))
        for unit, size in (("h", 3600), ("m", 60)):
            if float(self) == whole and whole >= size and whole % size == 0:
                return f"{whole // size}{unit}"
        return f"{float(self):.6f}".rstrip("0").rstrip(".") + "s"
