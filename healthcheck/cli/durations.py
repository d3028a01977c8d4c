"""Durations as they are typed behind an option."""

from __future__ import annotations

from healthcheck.errors import InputError
from healthcheck.model.units import Seconds


def duration_s(option: str, text: str) -> float:
    """`5m` in seconds; InputError that names the option for what is no duration."""
    try:
        return float(Seconds.parse(text))
    except ValueError as error:
        raise InputError(option, str(error)) from None


def duration_or_zero_s(option: str, text: str) -> float:
    """The same where `0` is allowed: no time at all."""
    return 0.0 if text.strip() in ("0", "0s") else duration_s(option, text)
