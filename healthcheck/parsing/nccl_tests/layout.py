"""Which column is where: read from the words of the header, never from positions or versions.

nccl-tests has printed eleven layouts since 2017, forks more; all of them name their columns. A row is then read from
the right, because the redop column may be blank in the middle of it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from msgspec import Struct

from healthcheck.model.measurement import CollectiveRow, Placement

_TIME_WORDS = frozenset({"time", "cputime"})
_WRONG = "#wrong"
_COUNTED = frozenset({_WRONG})
_DELTA = frozenset({"error", "res", "delta"})
_LEFT = {"size": "size", "bytes": "size", "count": "count", "N": "count", "type": "type", "redop": "redop"}
_LEFT |= {"op": "redop", "root": "root", "timestamp": "timestamp"}
_TIMESTAMP_TOKENS = 2  # date and time of day under the one word `timestamp`
_MS_PER_US = 1000
NUMBER = r"-?(?:\d+(?:\.\d+)?(?:e[+-]?\d+)?|nan|inf)"
_NUMBER = re.compile(NUMBER, re.ASCII)
_WORD = re.compile(r"[a-z]\w*", re.ASCII)
_COUNT = re.compile(r"\d{1,18}", re.ASCII)
_ROOT = re.compile(r"-1|\d{1,8}", re.ASCII)


class Layout(Struct, frozen=True):
    """The columns of one table. `halves` name the placements in printed order, `half` the words of one of them.

    `time_scale` turns the printed time into microseconds (the oldest era printed milliseconds).
    """

    left: tuple[str, ...]
    halves: tuple[str, ...]
    half: tuple[str, ...]
    tail_tokens: int
    time_scale: int

    @property
    def width(self) -> int:
        """Tokens of a full row."""
        left = len(self.left) + (_TIMESTAMP_TOKENS - 1 if "timestamp" in self.left else 0)
        return left + len(self.halves) * len(self.half) + self.tail_tokens

    @property
    def ends_of_halves(self) -> frozenset[int]:
        """Tokens up to the end of each half; one less where the redop is blank."""
        ends = {self.width - self.tail_tokens - index * len(self.half) for index in range(len(self.halves))}
        return frozenset(ends | {end - 1 for end in ends} if "redop" in self.left else ends)

    def row(self, tokens: Sequence[str]) -> CollectiveRow | None:
        """The row these tokens are; None unless every column is there and is what its header says."""
        data_end = len(tokens) - self.tail_tokens
        left_end = data_end - len(self.halves) * len(self.half)
        if left_end < 0:
            return None
        left = self._left(tokens[:left_end])
        if left is None:
            return None
        placements: dict[str, Placement] = {}
        for index, name in enumerate(self.halves):
            start = left_end + index * len(self.half)
            placement = self._placement(tokens[start : start + len(self.half)])
            if placement is None:
                return None
            placements[name] = placement
        return CollectiveRow(
            size_bytes=int(left["size"]),
            count=int(left["count"]),
            dtype=left["type"],
            redop=left.get("redop"),
            root=int(left["root"]) if "root" in left else None,
            out_of_place=placements.get("out_of_place"),
            in_place=placements.get("in_place"),
        )

    def _left(self, tokens: Sequence[str]) -> dict[str, str] | None:
        tokens = tokens[_TIMESTAMP_TOKENS:] if "timestamp" in self.left else tokens
        names = [name for name in self.left if name != "timestamp"]
        if len(tokens) == len(names) - 1 and "redop" in names:
            names.remove("redop")
        if len(tokens) != len(names):
            return None
        values = dict(zip(names, tokens, strict=True))
        if not (_COUNT.fullmatch(values["size"]) and _COUNT.fullmatch(values["count"])):
            return None
        if not _WORD.fullmatch(values["type"]) or not _WORD.fullmatch(values.get("redop", "none")):
            return None
        if not _ROOT.fullmatch(values.get("root", "0")):
            return None
        return values

    def _placement(self, tokens: Sequence[str]) -> Placement | None:
        wrong: float | None = None
        delta: float | None = None
        numbers: list[float | None] = []
        for name, word in zip(self.half, tokens, strict=True):
            if word == "N/A" and (name in _COUNTED or name in _DELTA):
                continue
            if not _NUMBER.fullmatch(word):
                return None
            value = number(word)
            if name in _COUNTED:
                wrong = value
            elif name in _DELTA:
                delta = value
            else:
                numbers.append(value)
        time, algbw, busbw = numbers[:3]
        time_us = None if time is None else round(time * self.time_scale, 6)
        return Placement(time_us, algbw, busbw, wrong=wrong, max_delta=delta)


def number(token: str) -> float | None:
    """The value of a printed number; None for nan and inf, which say that there is none."""
    value = float(token)
    return value if math.isfinite(value) else None


def is_header(words: Sequence[str]) -> bool:
    """True for the line of column names, whatever the era."""
    return "algbw" in words and "busbw" in words and "type" in words and not _TIME_WORDS.isdisjoint(words)


def read_header(words: Sequence[str], title: Sequence[str]) -> Layout | None:
    """The layout the column names describe; None when essential ones are missing.

    `words` are the names without `#` in front, `title` the words of the line above (it tells which halves exist).
    """
    words = [_WRONG if word.endswith("wrong") else word for word in words]  # its `#` suffers from every formatter
    times = [index for index, word in enumerate(words) if word in _TIME_WORDS]
    left = tuple(_LEFT[word] for word in words[: times[0]] if word in _LEFT)
    if len(left) != times[0] or not {"size", "count", "type"} <= set(left) or len(times) > 2:
        return None
    last = list(words[times[-1] :])
    half = list(words[times[0] : times[1]]) if len(times) == 2 else _cut_tail(last)
    if last[: len(half)] != half or half[1:3] != ["algbw", "busbw"] or not {*half} & (_COUNTED | _DELTA):
        return None
    tail = last[len(half) :]
    return Layout(
        left=left,
        halves=("out_of_place", "in_place") if len(times) == 2 else (_only_half(title),),
        half=tuple(half),
        tail_tokens=sum(_TIMESTAMP_TOKENS if word == "timestamp" else 1 for word in tail),
        time_scale=_MS_PER_US if "bytes" in words or "res" in words else 1,
    )


def _cut_tail(words: list[str]) -> list[str]:
    """The words of the only half: up to its correctness column and the per-iteration columns behind it."""
    end = 3
    while end < len(words) and (words[end] in _COUNTED | _DELTA or words[end].startswith("i_")):
        end += 1
    return words[:end]


def _only_half(title: Sequence[str]) -> str:
    return "in_place" if "in-place" in title and "out-of-place" not in title else "out_of_place"
