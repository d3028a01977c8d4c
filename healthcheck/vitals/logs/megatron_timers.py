"""What Megatron-LM's timers say of the collectives of a step, below its iteration line.

`all-grads-sync ....: (76.32, 78.10)` is the fastest and the slowest rank, in ms a step, since 2023 with
`--timing-log-level 1`; `time (ms) | forward-compute: 152.33 | backward-params-all-reduce: 101.10 | ...` was the last
rank, before. Both have two decimals. Sends and receives of a pipeline are not taken: they hold the wait for its turn.
"""

from __future__ import annotations

import re

MARKS = ("time (ms) | ",)
"""The lines of the newer ones have a mark of the arguments: dots."""

_NAME = (
    r"(?<![\w-])(?P<name>(?:[a-z]{1,20}-){0,6}"
    r"(?:all-reduce|all-gather|reduce-scatter|grads-sync|reduce-model-grads|gather-model-params))"
)
_RANKS = re.compile(
    rf"{_NAME} \.{{2,64}}: (?:\(\d{{1,9}}\.\d\d, (?P<most>\d{{1,9}}\.\d\d)\)|(?P<ms>\d{{1,9}}\.\d\d)$)", re.ASCII
)
_LAST_RANK = re.compile(rf"\| {_NAME}: (?P<ms>\d{{1,9}}\.\d\d)(?= \||\s*$)", re.ASCII)


def timed_in(line: str) -> list[tuple[str, float]]:
    """Each timer of a collective on this line, by its name, and its seconds in a step."""
    if "time (ms) | " in line:
        return [(one["name"], _seconds(one["ms"])) for one in _LAST_RANK.finditer(line)]
    found = _RANKS.search(line) if " ..." in line else None
    return [] if found is None else [(found["name"], _seconds(found["most"] or found["ms"]))]


def _seconds(ms: str) -> float:
    return float(f"{ms}e-3")
