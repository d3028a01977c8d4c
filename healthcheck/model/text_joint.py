"""Texts of the joint diagnosis of links and training, and the page of vitals."""

from __future__ import annotations

JOINT_TEXTS: dict[str, str] = {}
