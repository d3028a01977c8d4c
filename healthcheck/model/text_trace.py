"""Texts of profiles of training steps: kineto traces, Nsight Systems exports, captures."""

from __future__ import annotations

TRACE_TEXTS: dict[str, str] = {}
