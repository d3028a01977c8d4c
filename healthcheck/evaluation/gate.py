"""From the results of a run to one verdict a host, one for the run, and the exit code."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from healthcheck.model.component import Kind
from healthcheck.model.finding import CheckResult
from healthcheck.model.gate import GateRecord
from healthcheck.model.message import Message, listed, say
from healthcheck.model.playbook import Gate
from healthcheck.model.record import RunRecord
from healthcheck.model.verdict import Verdict, worst


def checks_by_host(checks: Iterable[CheckResult]) -> dict[str, list[CheckResult]]:
    """The checks about each host and its parts, in their order; what lies between hosts is not among them."""
    found: dict[str, list[CheckResult]] = {}
    for check in checks:
        host = check.component.host
        if host is not None:
            found.setdefault(host, []).append(check)
    return found


def host_verdict(checks: Iterable[CheckResult], measured: bool, planned: bool) -> Verdict:
    """The verdict of one host from everything found about it and its parts.

    A host on which a benchmark was planned and none was measured is never PASS, whatever its probes say; one that
    was set aside (SKIPPED) stays SKIPPED unless something worse was found on it.
    """
    checks = tuple(checks)
    found = max((check.verdict for check in checks), default=Verdict.INCONCLUSIVE)
    if found >= Verdict.DEGRADED or measured or not planned:
        return Verdict.INCONCLUSIVE if found is Verdict.SKIPPED and measured else found
    return Verdict.SKIPPED if any(check.sets_aside for check in checks) else Verdict.INCONCLUSIVE


def run_verdict(hosts: Mapping[str, Verdict], checks: Sequence[CheckResult]) -> Verdict:
    """The worst of all hosts and of what lies between them.

    A host that was named and left unmeasured makes the whole run at least INCONCLUSIVE: somebody wanted to know.
    """
    parts: list[Verdict] = [
        Verdict.INCONCLUSIVE if verdict is Verdict.SKIPPED else verdict for verdict in hosts.values()
    ]
    parts += [check.verdict for check in checks if check.component.kind in (Kind.FABRIC, Kind.PATH, Kind.LINK)]
    return worst(parts)


def counted(gate: GateRecord | None, ready: int) -> GateRecord | None:
    """The gate with the answer whether enough nodes were proven; `ready` is how many, none in an unfinished run."""
    if gate is None or gate.asked.min_nodes is None:
        return gate
    return replace(gate, met=ready >= gate.asked.min_nodes)


def gated(verdict: Verdict, gate: GateRecord | None) -> Verdict:
    """The verdict of a run by what was asked of a gate: as many nodes as wanted, proven together, are enough.

    Where they are not there, or a list that was asked for could not be written, nothing passes.
    """
    if gate is not None and gate.unwritten:
        return max(verdict, Verdict.INCONCLUSIVE)
    if gate is None or gate.met is None:
        return verdict
    if gate.met:
        return Verdict.PASS
    return verdict if verdict > Verdict.PASS else Verdict.INCONCLUSIVE


def exit_code(
    verdict: Verdict, gate: Gate, allow_degraded: bool, asked: GateRecord | None = None, ready: int = 0
) -> int:
    """The exit code of a verdict; DEGRADED passes where the user or the playbook said so.

    Not where a number of proven nodes, or a list of the `ready` ones, was `asked` for and is not there: to be allowed
    is not to be proven, and a script goes on to read the list.
    """
    missed = asked is not None and (asked.met is False or (asked.asked.wants_list and not ready))
    if verdict is Verdict.DEGRADED and (allow_degraded or gate.degraded == "allow") and not missed:
        return 0
    return verdict.exit_code


def without_lists(record: RunRecord, unwritten: tuple[Message, ...]) -> RunRecord:
    """The record of a gate whose lists could not be written: all that was measured is in it, and it does not pass."""
    if record.gate is None or not unwritten:
        return record
    gate = replace(record.gate, unwritten=unwritten)
    verdict = gated(record.verdict, gate)
    return replace(
        record,
        gate=gate,
        verdict=verdict,
        exit_code=verdict.exit_code,
        notes=(*record.notes, unwritten_note(unwritten)),
    )


def unwritten_note(unwritten: tuple[Message, ...]) -> Message:
    """What the notes of a record say of lists that could not be written."""
    return say("gate.note.unwritten", what=listed(unwritten, "text.semicolon"))


def proven_together(
    jobs: Sequence[tuple[str, tuple[str, ...], Verdict]],
    hosts: Mapping[str, Verdict],
    checks: Iterable[CheckResult] = (),
    verified: Sequence[str] = (),
) -> tuple[str, ...]:
    """Hosts that were measured together, fast enough, in the rank order proven, whatever else is held against them.

    `jobs` are (stage, hosts, verdict) in the order they ran. A single host is proven by its own job alone. `checks`
    of multi_node say what was planned there and did not run: then less was proven than was asked for, so nothing is.
    `verified` are those that a search proved at its end, whatever was slow before.
    """
    if verified:
        return tuple(verified)
    together = [(members, verdict) for stage, members, verdict in jobs if stage == "multi_node"]
    if any(check.stage == "multi_node" and check.component.host is None and _spoils(check) for check in checks):
        return ()
    if together:
        members = together[-1][0]
        slow = any(verdict is not Verdict.PASS for found, verdict in together if found == members)
        return () if slow else members
    return tuple(hosts) if len(hosts) == 1 and any(verdict is Verdict.PASS for _, _, verdict in jobs) else ()


def proven_hosts(together: Sequence[str], hosts: Mapping[str, Verdict]) -> tuple[str, ...]:
    """Hosts to start on: of those proven `together` the ones that have nothing else against them, in their order."""
    return tuple(name for name in together if hosts.get(name) is Verdict.PASS)


def _spoils(check: CheckResult) -> bool:
    return check.verdict not in (Verdict.PASS, Verdict.SKIPPED)
