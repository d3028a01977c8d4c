"""`healthcheck prune`: which stored runs go. The newest of each kind stay, and whatever is not over."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from healthcheck.model.message import say
from healthcheck.model.record import Owner
from healthcheck.model.retention import KeptRun, Left


def choose(
    runs: Iterable[KeptRun], keep: int, is_dead: Callable[[Owner], bool]
) -> tuple[tuple[KeptRun, ...], tuple[Left, ...]]:
    """(those that go, oldest first; the incomplete ones that stay, with the reason).

    Of each kind the newest `keep` complete runs stay, and everything newer than the last of them. An interrupted run
    proves nothing and takes no place, but may still be resumed: it goes when it is older than all that stay. One that
    is not over never goes, however old: it may be running, or have left something on its nodes.
    """
    by_kind: dict[tuple[str, str, bool, bool], list[KeptRun]] = {}
    left: list[Left] = []
    for run in sorted(runs, key=lambda run: run.run_id):
        if run.state != "incomplete":
            by_kind.setdefault(run.kind, []).append(run)
            continue
        owner = run.owner
        code = "prune.cut_off" if is_dead(owner) else "prune.running"
        why = say(code, run_id=run.run_id, user=owner.user, machine=owner.machine, pid=owner.pid)
        left.append(Left(run.run_id, why))
    gone: list[KeptRun] = []
    for kind in by_kind.values():
        complete = [run for run in kind if run.state == "complete"]
        if len(complete) >= keep:
            oldest = complete[-keep].run_id
            gone += [run for run in kind if run.run_id < oldest]
    return tuple(sorted(gone, key=lambda run: run.run_id)), tuple(left)
