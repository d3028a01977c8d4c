"""Texts of the calculators of the training side: MFU, HFU, budgets of collectives."""

from __future__ import annotations

MFU_TEXTS: dict[str, str] = {}
