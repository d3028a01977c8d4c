"""The paths inside a node: PCIe, its switches, the way from a GPU to its card."""

from __future__ import annotations

from healthcheck.diagnosis.cause import Cause

FABRIC_CAUSES: tuple[Cause, ...] = ()
