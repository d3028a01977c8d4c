"""Kernel, limits, clock and settings of a node."""

from __future__ import annotations

from healthcheck.diagnosis.cause import Cause

SYSTEM_CAUSES: tuple[Cause, ...] = ()
