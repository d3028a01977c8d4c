"""What the driver can tell of a GPU by its model: where it says N/A all the same, it has not answered."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from healthcheck.model.gpu_models import has_ecc_on

_SINCE_AMPERE = r"A100|A800|A30|H100|H200|H800|H20|B[23]00"
# A part of a GPU that is handed to a virtual machine; its driver tells less.
_PART_OF_A_GPU = re.compile(r"\bGRID\b")


def _one_of(names: str) -> Callable[[str], bool]:
    pattern = re.compile(rf"\b({names})\b", re.IGNORECASE)
    return lambda name: pattern.search(name) is not None


_DATA_CENTRE = _one_of(rf"P100|V100|T4|A40|L4|L40S?|GH200|GB[23]00|{_SINCE_AMPERE}")
_ON_PCIE = _one_of(rf"P100|V100|T4|A40|L4|L40S?|{_SINCE_AMPERE}")
_MODERN = _one_of(rf"GH200|GB[23]00|{_SINCE_AMPERE}")

REMAPPED_ROWS = "remapped_rows"
_PROMISED: dict[str, Callable[[str], bool]] = {
    "mig.mode.current": _MODERN,
    "compute_mode": _DATA_CENTRE,
    "ecc.mode.current": has_ecc_on,
    "ecc.mode.pending": has_ecc_on,
    "ecc.errors.uncorrected.volatile.total": has_ecc_on,
    "pcie.link.width.current": _ON_PCIE,
    "pcie.link.width.max": _ON_PCIE,
    "clocks_event_reasons.active": _DATA_CENTRE,
    "temperature.gpu": _DATA_CENTRE,
    REMAPPED_ROWS: _MODERN,
}
"""By field of nvidia-smi: which models have it (https://man.archlinux.org/man/nvidia-smi.1.raw)."""


@lru_cache(maxsize=1024)
def tells(name: str, field: str) -> bool:
    """Whether a GPU of this name has what the field is about, so that N/A is no answer."""
    promised = _PROMISED.get(field)
    return promised is not None and promised(name) and _PART_OF_A_GPU.search(name) is None
