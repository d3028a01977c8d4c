"""Texts of training logs: what a reader met, step time, goodput and its losses."""

from __future__ import annotations

TRAINING_TEXTS: dict[str, str] = {}
