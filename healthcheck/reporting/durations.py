"""How long something took or will take, in words."""

from __future__ import annotations

from healthcheck.model.message import Message, say


def watch(seconds: float) -> str:
    """As on a watch: `1:14`, `0:52`, `1:05:00`."""
    minutes, left = divmod(max(0, int(seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{left:02d}" if hours else f"{minutes}:{left:02d}"


def to_go(seconds: float) -> Message:
    """How much of a plan is left: whole minutes, or tens of seconds. A plan is no promise."""
    if seconds >= 90:
        return say("progress.minutes_to_go", n=round(seconds / 60))
    return say("progress.seconds_to_go", n=max(10, round(seconds / 10) * 10))
