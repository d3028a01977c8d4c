"""What `vitals trace` makes of traces of torch.profiler that a test wrote."""

from __future__ import annotations

import io

from healthcheck.model.vitals_trace import TraceVitals
from healthcheck.vitals.kineto import read_kineto
from healthcheck.vitals.trace_answer import trace_vitals
from healthcheck.vitals.trace_rank import RankTold, rank_told


def told(text: str | bytes, file: str = "t.json", whole: bool = False) -> list[RankTold]:
    raw = text.encode() if isinstance(text, str) else text
    return [found for columns in read_kineto(io.BytesIO(raw), file) if (found := rank_told(columns, whole))]


def vitals(*texts: str | bytes, whole: bool = False) -> TraceVitals:
    files = [f"{number}.json" for number in range(len(texts))]
    ranks = [rank for text, file in zip(texts, files, strict=True) for rank in told(text, file, whole)]
    return trace_vitals(ranks, files, [], "kineto")


def codes(found: TraceVitals) -> set[str]:
    notes = [note for rank in found.ranks for note in rank.notes]
    return {note.code for note in (*found.notes, *found.missing, *notes)}


def us(seconds: float | None) -> float:
    assert seconds is not None
    return round(seconds * 1e6, 3)
