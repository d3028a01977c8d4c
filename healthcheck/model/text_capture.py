"""Texts of profiles by Nsight Systems: what their exports lack, and what became of a capture."""

from __future__ import annotations

from typing import Final

CAPTURE_TEXTS: Final[dict[str, str]] = {
    "nsys.steps_by_optimiser": "no range is named a step, so a step lasts from the end of one optimizer call to the "
    "end of the next; name the ranges with --step-range PATTERN if there are better ones",
}
