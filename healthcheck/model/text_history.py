"""Texts about the past: the index over run directories, and the command `history`."""

from __future__ import annotations

HISTORY_TEXTS: dict[str, str] = {
    "history.unreadable": "left out: {record} {problem}",
    "history.copies": "left out: {n} {n:run directory|run directories} with the id of another one",
    "history.not_kept": "the index over the runs could not be kept, so the next look reads every record again: "
    "{problem}",
}
