"""Which two runs `compare --last` means: the newest one that measured anything, and the newest before it that fits."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from healthcheck.evaluation.change_frames import has_numbers, paired_jobs
from healthcheck.evaluation.comparability import refusals
from healthcheck.model.digest import RunDigest
from healthcheck.model.message import Message, say


class Newest(Struct, frozen=True):
    """The pair, None where there is none; `notes` name the runs that were passed over and why.

    `runs` is how many were looked at. `alone` is the newest that measured anything, where no other one fits it.
    """

    pair: tuple[RunDigest, RunDigest] | None
    notes: tuple[Message, ...]
    runs: int
    alone: RunDigest | None = None


def newest_pair(newest_first: Iterable[RunDigest]) -> Newest:
    """The two newest complete runs that share a stage and a collective, on the same machine type; reads no further."""
    notes: list[Message] = []
    after: RunDigest | None = None
    runs = 0
    for runs, run in enumerate(newest_first, start=1):
        why = _passed_over(run, after)
        if why is not None:
            notes.append(say("compare.note.passed_over", run_id=run.run_id, why=why))
        elif after is None:
            after = run
        else:
            notes.append(say("compare.note.newest", before=run.run_id, after=after.run_id))
            return Newest((run, after), tuple(notes), runs)
    return Newest(None, tuple(notes), runs, after)


def _passed_over(run: RunDigest, after: RunDigest | None) -> Message | None:
    if run.state != "complete":
        return say("compare.passed_over.state", state=run.state)
    measured = _kinds(run)
    if not measured:
        return say("compare.passed_over.nothing")
    if after is not None and (refusals(run, after) or measured.isdisjoint(_kinds(after))):
        return say("compare.passed_over.other")
    return None


def _kinds(run: RunDigest) -> set[tuple[str, str]]:
    return {(job.stage, job.collective) for job in paired_jobs(run) if has_numbers(job)}
