"""The earlier run that the pages of a run are held against: found in its results folder, kept beside its inputs.

Nothing in here stops the pages: what cannot be read is no past, and a note says so.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from healthcheck.edge.digests import OPTIONS, read_digest, simulated_fleet
from healthcheck.edge.history_index import DirectoryIndex
from healthcheck.edge.places import is_file
from healthcheck.edge.rejudged import is_rejudged
from healthcheck.errors import HealthcheckError, InputError
from healthcheck.evaluation.earlier_of import MOST_RUNS, kinds, same_cluster, told_of
from healthcheck.evaluation.past_of import Asking, comparable
from healthcheck.model.earlier import Earlier
from healthcheck.model.history import PastRun
from healthcheck.model.message import Message, say
from healthcheck.model.playbook import BENCHMARK_STAGES
from healthcheck.model.record import RunRecord
from healthcheck.parsing.earlier import decode_earlier, encode_earlier
from healthcheck.ports import RunStore
from healthcheck.workflows.files_only import read_file

STORED = "inputs/earlier.json"


def settled_earlier(record: RunRecord, store: RunStore) -> Earlier | None:
    """What the pages of a run are held against: as it was kept beside its inputs, else found now and kept.

    None where nobody asks: the run was to measure nothing.
    """
    kept = _stored(store.folder)
    found = known_earlier(record, store.folder)
    if kept is None and found is not None and found.why is None and not is_rejudged(store.folder):
        # The pages are what matters: without it they are only not the same when they are made again.
        with contextlib.suppress(HealthcheckError, OSError):
            store.write(STORED, encode_earlier(found))
    return found


def known_earlier(record: RunRecord, folder: Path) -> Earlier | None:
    """The same for the run in `folder`, of which nothing is changed. A judgement of a run has the past of the run."""
    of = folder.parent if is_rejudged(folder) else folder
    kept = _stored(of)
    return kept if kept is not None else find_earlier(record, of)


def find_earlier(record: RunRecord, folder: Path) -> Earlier | None:
    """The newest earlier run of the same nodes in the results folder around `folder`, and the last few of them."""
    if record.platform is None or not any(job.rows for job in record.jobs):
        return Earlier(why=say("report.since.not_measured")) if _was_to_measure(record) else None
    if record.simulated and simulated_fleet(folder) is None:
        return Earlier(why=say("report.since.not_kept"))
    try:
        past = DirectoryIndex(folder.parent).past()
    except (HealthcheckError, OSError, ValueError) as error:
        return Earlier(notes=(say("report.since.unreadable", what=str(error)),))
    candidates = list(_comparable(record, folder, past.runs))
    notes: list[Message] = []
    for place, run in enumerate(candidates):
        try:
            before = read_digest(folder.parent / run.folder)
        except (HealthcheckError, OSError, ValueError) as error:
            notes.append(say("report.since.unreadable", what=str(error)))
            continue
        runs = tuple(told_of(one) for one in reversed(candidates[place : place + MOST_RUNS]))
        return Earlier(before, runs, tuple(notes))
    # A record without the inputs of its run was taken out of its results folder: what lies around it says nothing.
    return Earlier(notes=tuple(notes), why=None if is_file(folder / OPTIONS) else say("report.since.not_kept"))


def _was_to_measure(record: RunRecord) -> bool:
    only = record.provenance.only
    return any(stage.name in BENCHMARK_STAGES and only in ("", stage.name) for stage in record.playbook.stages)


def _comparable(record: RunRecord, folder: Path, oldest_first: tuple[PastRun, ...]) -> Iterator[PastRun]:
    """Complete runs before this one, newest first, that measured something this one measured, on the same nodes."""
    hosts = frozenset(host.name for host in record.hosts)
    asking = Asking(record.run_id, record.platform.name if record.platform else "", record.simulated, hosts)
    mine = {(job.stage, job.collective) for job in record.jobs if job.rows}
    fleet = simulated_fleet(folder)
    for run in reversed(oldest_first):
        if run.state != "complete" or not (run.started_at, run.run_id) < (record.started_at, record.run_id):
            continue
        if not comparable(asking, run) or not same_cluster(run, hosts) or mine.isdisjoint(kinds(run)):
            continue
        if record.simulated:
            other = simulated_fleet(folder.parent / run.folder)
            if fleet is None or other is None or other.seed != fleet.seed:
                continue
        yield run


def _stored(folder: Path) -> Earlier | None:
    """As it was kept; None where nothing was, an empty past with a note where it is damaged."""
    path = folder / STORED
    if not is_file(path):
        return None
    try:
        return decode_earlier(read_file(path), str(path))
    except InputError as error:
        return Earlier(notes=(say("report.since.unreadable", what=str(error)),))
    except OSError as error:
        return Earlier(notes=(say("report.since.unreadable", what=f"{path}: {error.strerror}"),))
