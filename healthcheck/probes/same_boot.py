"""Is it still the same boot of the node after the benchmarks? A machine that fell over and came back looks well."""

from __future__ import annotations

from healthcheck.model.component import node
from healthcheck.model.finding import CheckResult
from healthcheck.model.message import say
from healthcheck.model.node import NodeFacts
from healthcheck.model.reading import noted
from healthcheck.model.verdict import Verdict

CHECK = "host.same_boot"
_SOURCE = "/proc/sys/kernel/random/boot_id"


def judge_boot(before: NodeFacts, after: NodeFacts) -> tuple[CheckResult, ...]:
    """INCONCLUSIVE where it is another one; nothing where it is the same, or where a look did not tell.

    Whether it crashed or somebody booted it, what was measured lies before, and its kernel log is a new one.
    """
    then, now = _boot(before), _boot(after)
    if then is None or now is None or then == now:
        return ()
    evidence = (
        noted(say("evidence.before_benchmarks", source=_SOURCE), f"boot_id {then}"),
        noted(_SOURCE, f"boot_id {now}"),
    )
    name, message = node(after.host), say("probe.booted")
    return (CheckResult(CHECK, name, Verdict.INCONCLUSIVE, message, "host.booted", stage="probe", evidence=evidence),)


def _boot(facts: NodeFacts) -> str | None:
    identity = None if facts.identity is None else facts.identity.value
    return None if identity is None else identity.boot_id
