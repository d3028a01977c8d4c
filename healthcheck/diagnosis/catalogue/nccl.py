"""What NCCL writes when a call fails or a faster way is closed."""

from __future__ import annotations

from healthcheck.diagnosis.cause import Cause

NCCL_CAUSES: tuple[Cause, ...] = ()
