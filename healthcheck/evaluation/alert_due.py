"""Whether a run is worth an alert: against the last complete run of the same playbook on the same hosts."""

from __future__ import annotations

from collections.abc import Iterable

from healthcheck.model.alert import NotifyOn
from healthcheck.model.history import PastRun
from healthcheck.model.record import RunRecord
from healthcheck.model.verdict import Verdict

INTERRUPTED_BY_HAND = 130


def last_alike(record: RunRecord, oldest_first: Iterable[PastRun]) -> PastRun | None:
    """The newest complete run before this one of the same playbook and exactly these hosts; None where none is.

    Of the same part of it: somebody's look at nodes that are down must not be the reason why the check-up of the night
    tells nobody of them.
    """
    hosts = {host.name for host in record.hosts}
    found = None
    for run in oldest_first:
        same = (run.playbook, run.part) == (record.playbook.name, record.provenance.only)
        same = same and run.simulated == record.simulated
        before = (run.started_at, run.run_id) < (record.started_at, record.run_id)
        if run.state == "complete" and same and before and {host.name for host in run.hosts} == hosts:
            found = run
    return found


def is_due(when: NotifyOn, record: RunRecord, before: PastRun | None) -> bool:
    """Whether an alert goes out. Whoever stops a run by Ctrl-C knows, and needs none; SIGTERM may be a machine."""
    if record.exit_code == INTERRUPTED_BY_HAND:
        return False
    if when is NotifyOn.ALWAYS:
        return True
    if when is NotifyOn.NOT_PASS or before is None:
        return verdict_told(record) is not Verdict.PASS
    return verdict_told(record) is not _told_before(before)


def verdict_told(record: RunRecord) -> Verdict:
    """The verdict an alert is about. A gate that passes on enough nodes leaves the sick ones out, and whoever mends
    them has to hear of it; nodes that others use are SKIPPED, and nothing to mend."""
    if record.gate is None or not record.gate.met:
        return record.verdict
    return max((record.verdict, *(host.verdict for host in record.hosts)))


def _told_before(run: PastRun) -> Verdict | None:
    """That of an earlier run; of one that is no gate no host is worse than the run."""
    names = (run.verdict, *(host.verdict for host in run.hosts))
    return max((Verdict[name] for name in names if name in Verdict.__members__), default=None)
