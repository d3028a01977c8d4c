"""Which peak is that of a GPU, by the name that nvidia-smi or a log prints? An unknown one has none."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence

from healthcheck.model.vitals_mfu import Dtype, GpuPeak, GpuRow

_WORD = re.compile(r"[a-z0-9]+")
# A slice of a GPU prints the name of the whole one.
_SLICES = frozenset({"mig", "grid", "vgpu"})


def row_of(printed_gpu: str, table: Sequence[GpuRow]) -> GpuRow | None:
    """The row of a printed name (`NVIDIA A100-SXM4-80GB`), the longest name first.

    None for an unknown one, for a slice (MIG, vGPU), and where two GPUs are named. H20 is a word of its own: it is
    not found inside H200.
    """
    words = _words(printed_gpu)
    if _SLICES.intersection(words):
        return None
    fits = [
        (name, row)
        for row in table
        for name in map(_words, row.names)
        if _in_order(name, words) and not any(_in_order(_words(other), words) for other in row.but_not)
    ]
    if not fits:
        return None
    longest, row = max(fits, key=lambda fit: len("".join(fit[0])))
    return row if all(_in_order(name, longest) for name, _ in fits) else None


def peak_of(printed_gpu: str, dtype: Dtype, table: Sequence[GpuRow]) -> GpuPeak | None:
    """The dense peak of a printed name; None where the GPU, or its peak in this dtype, is not known."""
    row = row_of(printed_gpu, table)
    tflops = None if row is None else row.dense_tflops.get(dtype)
    return None if row is None or tflops is None else GpuPeak(row.gpu, dtype, tflops, row.source)


def near(printed_gpu: str, table: Sequence[GpuRow]) -> tuple[str, ...]:
    """Names of the table that share a word with an unknown one, or look like it; all of them where none does."""
    words = [word for word in _words(printed_gpu) if any(char.isdigit() for char in word)]
    known = {word for row in table for word in _words(row.gpu)}
    alike = {close for word in words for close in (word, *difflib.get_close_matches(word, known, n=2, cutoff=0.75))}
    return tuple(row.gpu for row in table if alike.intersection(_words(row.gpu))) or tuple(row.gpu for row in table)


def _words(name: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(name.lower()))


def _in_order(name: tuple[str, ...], words: tuple[str, ...]) -> bool:
    """Every word of `name` among `words`, in this order; others may stand between them."""
    rest = iter(words)
    return bool(name) and all(word in rest for word in name)
