"""Did every compute port carry its share of a job between nodes, and could the ports send what they were given?"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from healthcheck.model.component import hca, node
from healthcheck.model.finding import CheckResult
from healthcheck.model.message import Message, say
from healthcheck.model.reading import Evidence, Reading, ReadingState, noted
from healthcheck.model.verdict import Verdict
from healthcheck.parsing.infiniband import SYSFS
from healthcheck.probes.compute_ports import ComputePorts
from healthcheck.probes.growth import Growth
from healthcheck.probes.probe import Needs
from healthcheck.probes.unseen import unseen

WORD_BYTES = 4
"""port_xmit_data counts words of four bytes."""
LEAST_MOVED_GBYTE = 1.0
"""Below this the ports of a node are not compared: that is no benchmark between nodes."""
UNUSED_SHARE = 0.05
"""Of the median of the ports of the node; every ring uses every port alike."""
DISCARD_NOISE = 10
WAITS_PER_WORD = 1.0
"""Ticks waited for each word sent. How long a tick is, is up to the card; one for every word is far beyond what a busy
link shows."""
_SENT, _DISCARDS, _WAITS = "port_xmit_data", "port_xmit_discards", "port_xmit_wait"


def judge_traffic(
    check: str, host: str, growth: Sequence[Growth], compute: ComputePorts, needs: Needs
) -> tuple[CheckResult, ...]:
    """DEGRADED for each port that stayed silent and for a node whose ports are congested; else one result.

    Nothing is said where no job over several nodes was to run. Only ports that surely are compute ports are compared:
    a storage port has nothing to do in such a job.
    """
    if needs.began_at is None or not needs.together or not growth:
        return ()
    if not compute.sure:
        message = say("probe.traffic.unclear")
        return (CheckResult(check, node(host), Verdict.SKIPPED, message, "hca.does_not_apply", stage="probe"),)
    up = {(port.device, port.port) for port in compute.sure if port.active}
    sent = {
        (port.device, port.port): words * WORD_BYTES / 1e9
        for port in growth
        if (port.device, port.port) in up and (words := port.of(_SENT)) is not None
    }
    dropped = _discards(check, host, growth)
    if dropped:
        return dropped
    if not sent:
        said = noted(SYSFS, say("evidence.not_comparable", counter=_SENT))
        reading = Reading[object](ReadingState.UNPARSABLE, None, (said,))
        return (unseen(check, host, reading, say("probe.traffic.hides"), needed=False),)
    middle = median(sent.values())
    if middle < LEAST_MOVED_GBYTE:
        message = say("probe.traffic.none")
        return (CheckResult(check, node(host), Verdict.SKIPPED, message, "hca.does_not_apply", stage="probe"),)
    found = [
        _unused(check, host, port, moved, middle)
        for port in growth
        if (moved := sent.get((port.device, port.port))) is not None and moved < UNUSED_SHARE * middle
    ]
    found += _waits(check, host, growth)
    if found:
        return tuple(found)
    message = say("probe.traffic.even")
    return (CheckResult(check, node(host), Verdict.PASS, message, "hca.traffic_even", stage="probe"),)


def _unused(check: str, host: str, port: Growth, sent_gbyte: float, middle_gbyte: float) -> CheckResult:
    return CheckResult(
        check,
        hca(host, port.device),
        Verdict.DEGRADED,
        say("probe.traffic.unused", device=port.device, sent=sent_gbyte, median=middle_gbyte),
        "hca.unused",
        stage="probe",
        observed=sent_gbyte,
        expected=middle_gbyte,
        unit="GB",
        evidence=(_quoted(port, _SENT),),
    )


def _discards(check: str, host: str, growth: Sequence[Growth]) -> tuple[CheckResult, ...]:
    """Packets dropped for want of room; those a lost link drops are its own and said as such."""
    dropped = [(port, by) for port in growth if not port.of("link_downed") and (by := port.of(_DISCARDS) or 0)]
    total = sum(by for _, by in dropped)
    if total <= DISCARD_NOISE:
        return ()
    shown = ", ".join(f"{port.device} {_DISCARDS} +{by}" for port, by in dropped)
    message = say("probe.traffic.discards", discards=total, grown=shown)
    return (_congested(check, host, message, [port for port, _ in dropped], _DISCARDS),)


def _waits(check: str, host: str, growth: Sequence[Growth]) -> list[CheckResult]:
    """All ports together: one that waits alone has a slow partner, and its rate says so."""
    for port in growth:
        waits, words = port.of(_WAITS), port.of(_SENT)
        if waits is None or words is None or waits <= WAITS_PER_WORD * words:
            return []
    shown = ", ".join(f"{port.device} {_WAITS} +{port.of(_WAITS)}, {_SENT} +{port.of(_SENT)}" for port in growth)
    return [_congested(check, host, say("probe.traffic.waits", grown=shown), list(growth), _WAITS)]


def _congested(check: str, host: str, message: Message, ports: Sequence[Growth], name: str) -> CheckResult:
    evidence = tuple(_quoted(port, name) for port in ports)
    return CheckResult(check, node(host), Verdict.DEGRADED, message, "hca.congestion", stage="probe", evidence=evidence)


def _quoted(port: Growth, name: str) -> Evidence:
    return Evidence(f"{SYSFS}/{port.device}/ports/{port.port}/counters/{name}", port.counters[name].line)
