"""The table of peaks: YAML to rows, every number positive and with its source, no name twice."""

from __future__ import annotations

import math

from msgspec import Struct

from healthcheck.model.vitals_mfu import Dtype, GpuRow
from healthcheck.parsing.strict_types import convert
from healthcheck.parsing.strict_yaml import load


class _Table(Struct, frozen=True, forbid_unknown_fields=True):
    gpus: tuple[GpuRow, ...]


def parse_peaks(text: str, source: str) -> tuple[GpuRow, ...]:
    """The rows in `text`; InputError `source:line: gpus[1].names: ...` for the first thing that is wrong."""
    document = load(text, source)
    rows = convert(document, _Table).gpus
    seen: dict[str, str] = {}
    for index, row in enumerate(rows):
        for name in row.names:
            words = name.lower()
            if not words.strip() or words in seen:
                raise document.error(("gpus", index, "names"), f"{name!a} is empty or stands at {seen.get(words)}")
            seen[words] = row.gpu
        for dtype, tflops in row.dense_tflops.items():
            if not (math.isfinite(tflops) and tflops > 0) or Dtype(dtype) in row.lacks:
                raise document.error(("gpus", index, "dense_tflops", dtype), "must be above 0, and not among lacks")
        if not row.source.startswith("https://"):
            raise document.error(("gpus", index, "source"), "must be an address")
    return rows
