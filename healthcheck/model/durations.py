"""How long something took, in words."""

from __future__ import annotations

from healthcheck.model.message import Message, say


def span(seconds: float) -> Message:
    """`1 min 14 s`, `52 s`, `30 min`, `1 h 05 min`."""
    whole = max(0, round(seconds))
    hours, rest = divmod(whole, 3600)
    minutes, left = divmod(rest, 60)
    if hours:
        return say("progress.time_h", hours=hours, minutes=minutes)
    if minutes and not left:
        return say("progress.time_minutes", minutes=minutes)
    if minutes:
        return say("progress.time_min", minutes=minutes, seconds=left)
    return say("progress.time_s", seconds=left)
