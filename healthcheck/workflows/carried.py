"""Which results of a stored run no raw output holds, so that they stand as they were; and the order of all of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from enum import StrEnum

from msgspec import Struct

from healthcheck.evaluation.fresh import REUSED
from healthcheck.evaluation.integrity import CHECK as INTEGRITY_CHECK
from healthcheck.model.finding import CheckResult
from healthcheck.model.lock import HELD, LET_GO, UNLOCKABLE
from healthcheck.probes import gpu_processes, leftovers
from healthcheck.workflows import allocation

STAGE = "localise"
REACHED_CHECK = "host.reached"
MAY_STILL_RUN = "leftovers.may_still_run"


class Kind(StrEnum):
    """What such a result is about."""

    REACHED = "reached"  # a host that gave no answer
    ALLOCATION = "allocation"  # what Slurm said of a host
    BUSY = "busy"  # somebody was at work when a job was to start
    NOT_RUN = "not_run"  # a stage or a job that was not run, and why
    REUSED = "reused"  # a pass of an earlier run
    SEARCH = "search"  # what the search concluded


class Carried(Struct, frozen=True):
    """A result that stands as it was. `later`: it was found after the first look at its host."""

    kind: Kind
    check: CheckResult
    later: bool = False


def carried(checks: Iterable[CheckResult], looked_at: Collection[str]) -> tuple[Carried, ...]:
    """The results that stand, in their order. `looked_at`: the hosts whose first look was kept.

    Of a host that was looked at, the first result of a kind comes from that look and is made anew.
    """
    seen: set[tuple[str, str]] = set()
    found = []
    for check in checks:
        host = check.component.host or ""
        first = (check.check, host) not in seen
        seen.add((check.check, host))
        kind = _kind(check, made_anew=first and host in looked_at)
        if kind is not None:
            later = host in looked_at if kind is Kind.REACHED else not first
            found.append(Carried(kind, check, later))
    return tuple(found)


def _kind(check: CheckResult, *, made_anew: bool) -> Kind | None:
    if check.check == REACHED_CHECK or check.rule in (HELD, UNLOCKABLE, LET_GO):
        return Kind.REACHED
    if check.check == allocation.CHECK:
        return Kind.ALLOCATION
    if check.check in (gpu_processes.CHECK, leftovers.CHECK):
        return None if made_anew or check.rule == MAY_STILL_RUN else Kind.BUSY
    if check.check == "stage.run" or (check.check == INTEGRITY_CHECK and check.rule == "integrity.not_run"):
        return Kind.NOT_RUN
    if check.rule == REUSED:
        return Kind.REUSED
    return Kind.SEARCH if check.stage == STAGE and check.check.startswith(f"{STAGE}.") else None


def in_their_order(checks: Sequence[CheckResult], before: Iterable[CheckResult]) -> list[CheckResult]:
    """`checks` in the order of a record; what is new to it stands behind what it came after.

    Nodes answer in any order, so a record keeps one that nothing else could tell.
    """
    places: dict[tuple[str, ...], list[int]] = {}
    for place, check in enumerate(before):
        places.setdefault(_key(check), []).append(place)
    for found in places.values():
        found.reverse()
    last, keyed = -1, []
    for number, check in enumerate(checks):
        known = places.get(_key(check))
        is_new = not known
        if known:
            last = known.pop()
        keyed.append((last, is_new, number, check))
    return [entry[-1] for entry in sorted(keyed, key=lambda entry: entry[:-1])]


def _key(check: CheckResult) -> tuple[str, ...]:
    return check.check, check.component.text, check.stage, check.job
