"""The table of GPU peaks as it lies in the package."""

from __future__ import annotations

from functools import lru_cache
from importlib import resources

from healthcheck.model.vitals_mfu import GpuRow
from healthcheck.parsing.gpu_peaks import parse_peaks


@lru_cache(maxsize=1)
def shipped_peaks() -> tuple[GpuRow, ...]:
    """Every row of vitals/peaks.yaml, in its order."""
    text = (resources.files("healthcheck.vitals") / "peaks.yaml").read_text(encoding="utf-8")
    return parse_peaks(text, "peaks.yaml")
