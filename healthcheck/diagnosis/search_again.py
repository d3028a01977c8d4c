"""What a search found, by other limits than those it was made under.

A search holds node against node: who is slow does not depend on any limit, and nobody can be measured again. How bad
that is follows the job the search began with, as it did then (`search_results`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from healthcheck.diagnosis import gpus_of
from healthcheck.diagnosis.localise import MOST_SOUGHT
from healthcheck.diagnosis.search_results import NODE_CHECK, RAIL_CHECK, SEARCH_CHECK
from healthcheck.model.finding import CheckResult, Confidence
from healthcheck.model.message import say
from healthcheck.model.search import SearchRecord
from healthcheck.model.verdict import Verdict

BREAKS_ALONE = "breaks_alone.confirmed"
DOES_NOT_APPLY = "search.does_not_apply"
SLOW = (Verdict.DEGRADED, Verdict.FAIL)


class Change(Struct, frozen=True):
    """A verdict then and now; None where there was or is none."""

    then: Verdict | None
    now: Verdict | None

    @property
    def none(self) -> bool:
        """Whether it is the same."""
        return self.then is self.now


class Grounds(Struct, frozen=True):
    """What a search rests on. `joint`: the job it began with, or the worst joint one where there was no search.

    `alone` are the bandwidths of single nodes by host. `verified`: whether what it proved at its end is still proven.
    """

    joint: Change
    alone: Mapping[str, Change]
    verified: bool = True


def search_again(checks: Iterable[CheckResult], search: SearchRecord | None, grounds: Grounds) -> Iterator[CheckResult]:
    """The results of a search that still hold, in their order, each as bad as the job it explains is now.

    Where that job is fast enough now there is nothing to explain, and they are left out.
    """
    for check in checks:
        if check.check == gpus_of.CHECK:
            yield from _gpu(check, grounds.alone.get(check.component.host or "", Change(None, None)))
        elif check.rule == BREAKS_ALONE or (grounds.joint.none and grounds.verified):
            yield check
        elif grounds.joint.now is not Verdict.PASS and check.rule != DOES_NOT_APPLY:
            yield _as_bad_as(check, search, grounds.joint.now or Verdict.INCONCLUSIVE, verified=grounds.verified)


def _gpu(check: CheckResult, alone: Change) -> Iterator[CheckResult]:
    if alone.none or alone.now not in (Verdict.PASS, *SLOW):
        yield check
    elif alone.now in SLOW:
        yield check if check.verdict is Verdict.PASS else replace(check, verdict=alone.now)


def _as_bad_as(check: CheckResult, search: SearchRecord | None, slow: Verdict, *, verified: bool) -> CheckResult:
    if check.verdict is Verdict.INCONCLUSIVE and check.check in (NODE_CHECK, SEARCH_CHECK):
        return check  # lost on the way, stopped, nothing measured: that has not changed
    if check.check in (NODE_CHECK, RAIL_CHECK):
        much = _loss(check, search) >= MOST_SOUGHT or slow is Verdict.FAIL
        sure = check.check == RAIL_CHECK or check.confidence is Confidence.CONFIRMED
        return replace(check, verdict=Verdict.FAIL if much and sure else Verdict.DEGRADED)
    if check.check == SEARCH_CHECK and check.verdict is Verdict.PASS:
        if verified or search is None:
            return check
        hosts = check.message.args["hosts"]
        message = say("search.end.still_slow", hosts=hosts, unseen=round(100 * search.unseen, 1))
        return replace(check, verdict=max(Verdict.DEGRADED, slow), message=message, rule="search.unexplained")
    return replace(check, verdict=max(Verdict.DEGRADED, slow))


def _loss(check: CheckResult, search: SearchRecord | None) -> float:
    """What the node, or its rail, loses, as the search kept it."""
    if search is None:
        return 0.0
    host = check.component.host
    if check.check == NODE_CHECK:
        return next((node.loss for node in search.suspects if node.host == host), 0.0)
    rail = check.message.args.get("rail")
    losses = next((rails.losses for rails in search.rails if rails.host == host), ())
    return losses[rail] if isinstance(rail, int) and rail < len(losses) else 0.0
