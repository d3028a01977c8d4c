"""English templates of the locks that keep two check-ups off one host."""

from __future__ import annotations

from typing import Final

LOCK_TEXTS: Final[dict[str, str]] = {
    "lock.holder": "healthcheck run {run_id} of {user}@{machine}, process {pid}, since {since}",
    "lock.nobody": "somebody its lock does not name",
    "lock.held": "in use by {who}",
    "lock.elsewhere": "in use by {who}; whether that still runs cannot be seen from this machine: if it does not, "
    "delete {file}",
    "lock.dead": "in use by {who}; that process is gone, but its lock could not be taken over: delete {file}",
    "lock.unreadable": "in use by {who}: {file} cannot be read; delete it if no check-up runs",
    "lock.held_by": "{hosts} in use by {who}",
    "lock.let_go": "left to others: too few nodes are free for this gate to prove any ({held})",
    "lock.impossible": "no lock can be made in {folder} ({problem}), so nobody would know that this run is at work "
    "here; let everyone who shares the results folder write there, or choose another with -o",
    "lock.taken_over": "{who} ended without letting go of {n} {n:host|hosts}: taken over",
    "lock.of": "{host}: {why}",
    "lock.stale": "locked by {who}, whose process is gone; the next run here takes it over",
    "lock.removed": "the lock of {host} was removed: {who} is gone",
    "lock.not_removed": "the lock of {host} was left: {why}",
    "doctor.locks": "{n} {n:host is|hosts are} locked by runs that are gone or cannot be seen from here: {which}",
}
