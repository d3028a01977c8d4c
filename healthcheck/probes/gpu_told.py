"""Which fields should a GPU tell, and does not?

N/A is an answer where the whole model lacks a feature. It is none where its model is known to have it, or where other
GPUs of the same model of this node tell it; neither is an error, nor a word that nobody knows.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from healthcheck.model.gpu_facts import GpuState
from healthcheck.model.gpu_fields import tells

_ECC_COUNTS = frozenset({"ecc.errors.uncorrected.volatile.total", "ecc.errors.uncorrected.aggregate.sram"})
_ECC_COUNT = frozenset({"ecc.errors.uncorrected.volatile.total"})


def untold(gpus: Iterable[GpuState]) -> dict[int, frozenset[str]]:
    """By index of a GPU: the fields, as in `FIELDS`, that it should tell and does not."""
    gpus = tuple(gpus)
    lacking: dict[str, frozenset[str]] = {}
    for gpu in gpus:
        name = gpu.name or ""
        lacking[name] = lacking[name].intersection(gpu.absent) if name in lacking else frozenset(gpu.absent)
    return {
        gpu.index: _untold(gpu.name or "", gpu.absent, gpu.unreadable, lacking[gpu.name or ""], gpu.ecc) for gpu in gpus
    }


# The GPUs of a fleet all lack the same.
@lru_cache(maxsize=1024)
def _untold(
    name: str, absent: tuple[str, ...], unreadable: tuple[str, ...], lacking: frozenset[str], ecc: str | None
) -> frozenset[str]:
    off = (ecc or "").lower() == "disabled"
    due = {field for field in absent if tells(name, field) or field not in lacking}
    if (ecc or "").lower() == "enabled":
        due |= _ECC_COUNT.intersection(absent)
    elif off:  # nobody counts errors then
        due -= _ECC_COUNTS
    return frozenset(due.union(unreadable))
