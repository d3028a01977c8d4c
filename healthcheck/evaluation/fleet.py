"""Is the same installed and set on every node? The minority is named, and whoever differs from what was pinned.

Nodes that did not tell a setting are not compared: not knowing is no difference. What is only listed and never judged
(kernel, operating system) stands in the record all the same, so that two runs can be compared.
"""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase

from healthcheck.model.component import FABRIC, natural, node
from healthcheck.model.finding import CheckResult
from healthcheck.model.fleet import FleetSetting, FleetValue, Settings
from healthcheck.model.message import say
from healthcheck.model.playbook import PROBE_STAGE
from healthcheck.model.reading import Evidence, noted
from healthcheck.model.verdict import Verdict
from healthcheck.parsing.nodeset import fold

DRIFT_CHECK = "fleet.drift"
PIN_CHECK = "fleet.pin"
NOT_TOLD = "(not told)"
_LONGEST_QUOTE = 600

DRIFT: dict[str, Verdict] = {
    # Ranks with different NCCL refuse each other or hang (nccl#605, nccl#1273); the others explain slowness.
    "nccl": Verdict.FAIL,
    "driver": Verdict.DEGRADED,
    "libnccl": Verdict.DEGRADED,
    "vbios": Verdict.DEGRADED,
    "hca_firmware": Verdict.DEGRADED,
    "ofed": Verdict.DEGRADED,
    "mpi": Verdict.DEGRADED,
    "nccl_settings": Verdict.DEGRADED,
}
"""What a difference is worth, by the name without its brackets; names that are not here are listed, not judged."""


def subject(name: str) -> str:
    """`hca_firmware` of `hca_firmware[MT_0000000223]`."""
    return name.partition("[")[0]


def fleet_settings(by_host: Mapping[str, Settings]) -> tuple[FleetSetting, ...]:
    """Every setting with its values, the most common first, over the nodes that told it; in the order of names."""
    found: dict[str, dict[str, list[str]]] = {}
    for host, settings in by_host.items():
        for name, value in settings:
            found.setdefault(name, {}).setdefault(value, []).append(host)
    folded: dict[tuple[str, ...], str] = {}

    def nodes(hosts: list[str]) -> str:
        # Most settings have one value, which all nodes share: folding thousands of names again and again would cost.
        key = tuple(hosts)
        if key not in folded:
            folded[key] = fold(hosts)
        return folded[key]

    return tuple(
        FleetSetting(name, tuple(FleetValue(value, nodes(hosts), len(hosts)) for value, hosts in _by_number(values)))
        for name, values in sorted(found.items(), key=lambda item: natural(item[0]))
    )


def _by_number(values: Mapping[str, list[str]]) -> list[tuple[str, list[str]]]:
    return sorted(values.items(), key=lambda item: (-len(item[1]), natural(item[0])))


def judge_drift(by_host: Mapping[str, Settings]) -> tuple[CheckResult, ...]:
    """One result for each node and setting in which it differs from most; one PASS where none does.

    Where no value has more than half of the nodes there is no majority to differ from: then the fabric gets the
    result, with all values. Nothing at all for a single node.
    """
    found: dict[str, dict[str, list[str]]] = {}
    for host, settings in by_host.items():
        for name, value in settings:
            if subject(name) in DRIFT:
                found.setdefault(name, {}).setdefault(value, []).append(host)
    compared = {name: values for name, values in found.items() if sum(map(len, values.values())) > 1}
    if not compared:
        return ()
    results = [
        result
        for name, values in compared.items()
        if len(values) > 1
        for result in _differing(name, _by_number(values))
    ]
    if results:
        return tuple(results)
    told = {host for values in compared.values() for hosts in values.values() for host in hosts}
    message = say("fleet.same", count=len(compared), nodes=len(told))
    return (CheckResult(DRIFT_CHECK, FABRIC, Verdict.PASS, message, "drift.none", PROBE_STAGE),)


def _differing(name: str, values: list[tuple[str, list[str]]]) -> list[CheckResult]:
    kind = subject(name)
    verdict, rule = DRIFT[kind], f"drift.{kind}"
    (common, most), told = values[0], sum(len(hosts) for _, hosts in values)
    who = ((value, _shown(hosts)) for value, hosts in values[:6])
    evidence = tuple(noted(name, say("evidence.value_on", value=value, hosts=hosts)) for value, hosts in who)
    if 2 * len(most) <= told:
        text = ", ".join(f"{value} ({len(hosts)})" for value, hosts in values[:6])
        message = say("fleet.no_majority", what=name, values=text)
        return [CheckResult(DRIFT_CHECK, FABRIC, verdict, message, rule, PROBE_STAGE, evidence=evidence)]
    return [
        CheckResult(
            DRIFT_CHECK,
            node(host),
            verdict,
            say("fleet.differs", what=name, value=value, common=common, count=len(most), told=told),
            rule,
            PROBE_STAGE,
            evidence=evidence,
        )
        for value, hosts in values[1:]
        for host in hosts
    ]


def _shown(hosts: list[str]) -> str:
    """All of them as a node set; one that would fill pages ends with how many they are."""
    nodes = fold(hosts)
    if len(nodes) <= _LONGEST_QUOTE:
        return nodes
    return f"{nodes[:_LONGEST_QUOTE]}... ({len(hosts)} nodes in all)"


def judge_pins(by_host: Mapping[str, Settings], pins: Mapping[str, str], source: str) -> tuple[CheckResult, ...]:
    """Who has something else than pinned: one result a node and pin, one PASS where all have it.

    A pin is a version or a pattern (`550.*`). `source` is where it stands (`playbook full`). Where a node has several
    versions side by side (`550.90.07+535.1`) all must be as pinned. A node that does not tell is INCONCLUSIVE: somebody
    asked.
    """
    results: list[CheckResult] = []
    for name, wanted in pins.items():
        for host, settings in by_host.items():
            values = [value for found, value in settings if subject(found) == name] or [NOT_TOLD]
            wrong = [value for value in values if not _meets(value, wanted)]
            if wrong:
                results.append(_unpinned(host, name, wrong[0], wanted, source))
    if results or not pins or not by_host:
        return tuple(results)
    message = say("fleet.pinned", count=len(pins), source=source)
    return (CheckResult(PIN_CHECK, FABRIC, Verdict.PASS, message, "pin.met", PROBE_STAGE),)


def _meets(value: str, wanted: str) -> bool:
    """A pin with a + of its own means the whole value: some kernels are named so."""
    if "+" in wanted:
        return fnmatchcase(value, wanted)
    return all(fnmatchcase(part, wanted) for part in value.split("+") if part)


def _unpinned(host: str, name: str, value: str, wanted: str, source: str) -> CheckResult:
    if value == NOT_TOLD:
        verdict, rule = Verdict.INCONCLUSIVE, "pin.not_told"
        message = say("fleet.pin_not_told", what=name, wanted=wanted, source=source)
    else:
        verdict, rule = Verdict.DEGRADED, "pin.differs"
        message = say("fleet.unpinned", what=name, value=value, wanted=wanted, source=source)
    evidence = (Evidence(source, f"{name}: {wanted}"), Evidence(f"{host}: {name}", value))
    return CheckResult(PIN_CHECK, node(host), verdict, message, rule, PROBE_STAGE, evidence=evidence)
