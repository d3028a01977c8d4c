"""Did the network ports count errors, losses or waiting while the benchmarks ran?

The counters are read before and after the stages; what they were before the run says nothing about it. Old counters
are short and stop at their end, and some drivers let them be reset: where growth cannot be told it is unknown.
Kernel text: https://www.kernel.org/doc/Documentation/ABI/stable/sysfs-class-infiniband
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from healthcheck.model.component import hca, node
from healthcheck.model.finding import CheckResult
from healthcheck.model.message import Message, say
from healthcheck.model.network_facts import PortCounters
from healthcheck.model.node import Hca, NodeFacts
from healthcheck.model.reading import Evidence, Reading, ReadingState, noted
from healthcheck.model.verdict import Verdict
from healthcheck.parsing.infiniband import SYSFS, read_counters
from healthcheck.probes.batch import Part, PartOutput, one_line
from healthcheck.probes.compute_ports import compute_of
from healthcheck.probes.growth import Counted, Growth, grown
from healthcheck.probes.probe import Needs
from healthcheck.probes.traffic import judge_traffic
from healthcheck.probes.trouble import garbled, usable
from healthcheck.probes.unseen import unseen

NAME = "hca_counters"
ERRORS_CHECK = "hca.errors"
TRAFFIC_CHECK = "hca.traffic"

LINK_DOWNED = "link_downed"
LINK_ERRORS = {
    "symbol_error": 10,
    "link_error_recovery": 0,
    "port_rcv_errors": 10,
    "local_link_integrity_errors": 0,
    "excessive_buffer_overrun_errors": 0,
    "port_rcv_remote_physical_errors": 10,
    "VL15_dropped": 10,
}
"""Counter -> how many in one run are noise: a link may damage a packet now and then, and a sweep of the subnet manager
may lose some of its own; a link that recovers does not do so by chance."""
RETRIES = {
    "local_ack_timeout_err": 10,
    "packet_seq_err": 10,
    "implied_nak_seq_err": 10,
    "rnr_nak_retry_err": 10,
    "req_cqe_error": 0,
    "resp_cqe_error": 0,
}
"""Counter -> noise, as above. out_of_sequence is not among them: with adaptive routing it grows on healthy fabrics."""
FLUSHED = {"req_cqe_error": "req_cqe_flush_error", "resp_cqe_error": "resp_cqe_flush_error"}
"""Counter -> the part of it that is only the clearing of queues at the end of a job."""
_TRAFFIC = ("port_xmit_data", "port_rcv_data", "port_xmit_discards", "port_xmit_wait")
_PORT_FILES = (LINK_DOWNED, *LINK_ERRORS, *_TRAFFIC)
_CARD_FILES = (*RETRIES, *FLUSHED.values())
_KNOWN = frozenset((*_PORT_FILES, *_CARD_FILES))
_SHOWN = 6

_TEXT = one_line(f"""
    seen=0;
    for dir in {SYSFS}/*/ports/*; do
        [ -d "$dir" ] || continue;
        seen=1; port=${{dir##*/}}; dev=${{dir%/ports/*}}; dev=${{dev##*/}};
        for key in {" ".join(f"counters/{name}" for name in _PORT_FILES)}
            {" ".join(f"hw_counters/{name}" for name in _CARD_FILES)}; do
            if read -r line 2>/dev/null <"$dir/$key"; then echo "$dev $port ${{key##*/}} $line"; fi;
        done;
    done;
    if [ "$seen" = 1 ]; then exit 0; fi;
    echo "{SYSFS}: no ports found" >&2; exit 127
""")


def part() -> Part:
    """Lines `<dev> <port> <counter> <value>` from sysfs."""
    return Part(NAME, 8, _TEXT)


def read(output: PartOutput | None) -> Reading[tuple[PortCounters, ...]]:
    """The counters of all ports. TOOL_MISSING: there are ports, and their driver counts nothing."""
    answer = usable(SYSFS, output)
    if isinstance(answer, Reading):
        return answer
    lines = answer.stdout.splitlines()
    ports = read_counters(lines, _KNOWN)
    if ports and answer.rc == 0:
        return Reading(ReadingState.OBSERVED, ports)
    if answer.rc == 0 and all("N/A" in line for line in lines) and not answer.stderr:
        return Reading(ReadingState.TOOL_MISSING, evidence=(noted(SYSFS, say("evidence.no_counters")),))
    return garbled(SYSFS, answer)


def judge(facts: NodeFacts, needs: Needs) -> tuple[CheckResult, ...]:
    """Before the stages there is nothing to compare: only whether they can be read. EFA counts none of these."""
    host, reading = facts.host, facts.hca_counters
    if reading.observed:
        return ()
    if any(port.efa for port in compute_of(facts, needs.platform).likely):
        message = say("probe.counters.efa")
        return (CheckResult(ERRORS_CHECK, node(host), Verdict.SKIPPED, message, "hca.does_not_apply", stage="probe"),)
    if needs.platform is not None and needs.platform.nics.count == 0:
        message = say("probe.mtu.no_port")
        return (CheckResult(ERRORS_CHECK, node(host), Verdict.SKIPPED, message, "hca.does_not_apply", stage="probe"),)
    return (unseen(ERRORS_CHECK, host, reading, say("probe.counters.hides")),)


def judge_after(before: NodeFacts, after: NodeFacts, needs: Needs) -> tuple[CheckResult, ...]:
    """`hca.errors` and `hca.traffic`: of each port with something against it, else of the node."""
    first, second = before.hca_counters, after.hca_counters
    if first.value is None:
        return ()  # said before the stages
    if second.value is None:
        return (unseen(ERRORS_CHECK, before.host, second, say("probe.counters.hides")),)
    compute = compute_of(before, needs.platform)
    growth = grown(first.value, second.value, [(port.device, port.port) for port in compute.likely])
    return (
        *_errors(before.host, growth, compute.likely, first.value),
        *judge_traffic(TRAFFIC_CHECK, before.host, growth, compute, needs),
    )


def _errors(
    host: str, growth: Sequence[Growth], compute: Sequence[Hca], first: Sequence[PortCounters]
) -> tuple[CheckResult, ...]:
    """The worst of each card, else one result for the node."""
    worst: dict[str, CheckResult] = {}
    for result in (*_vanished(host, growth, compute, first), *(found for port in growth for found in _of(host, port))):
        known = worst.get(result.component.text)
        if known is None or result.verdict > known.verdict:
            worst[result.component.text] = result
    if worst:
        return tuple(worst.values())
    lost = [
        (port, counted) for port in growth for counted in port.counters.values() if _is_error(counted.name, counted)
    ]
    if lost:
        evidence = tuple(_quoted(port, counted) for port, counted in lost[:_SHOWN])
        hides = say("probe.counters.lost", count=len(lost))
        return (unseen(ERRORS_CHECK, host, Reading(ReadingState.UNPARSABLE, None, evidence), hides, needed=False),)
    if not growth:
        return ()
    message = say("probe.counters.clean")
    return (CheckResult(ERRORS_CHECK, node(host), Verdict.PASS, message, "hca.no_errors", stage="probe"),)


def _is_error(name: str, counted: Counted) -> bool:
    """Whether this is an error counter that cannot say whether it grew."""
    return counted.growth is None and (name == LINK_DOWNED or name in LINK_ERRORS or name in RETRIES)


def _of(host: str, port: Growth) -> list[CheckResult]:
    """What speaks against one port, its worst only."""
    errors = _above(LINK_ERRORS, {name: port.of(name) for name in LINK_ERRORS})
    times = port.of(LINK_DOWNED)
    if times:
        message = say("probe.counters.link_downed", device=port.device, times=times)
        return [_against(host, port, Verdict.FAIL, "hca.link_downed", message, (LINK_DOWNED, *errors))]
    if errors:
        message = say("probe.counters.errors", device=port.device, grown=_written(errors))
        return [_against(host, port, Verdict.DEGRADED, "hca.link_errors", message, tuple(errors))]
    repeated = _above(RETRIES, {name: _not_flushed(port, name) for name in RETRIES})
    if repeated:
        message = say("probe.counters.retries", device=port.device, grown=_written(repeated))
        return [_against(host, port, Verdict.DEGRADED, "hca.retries", message, tuple(repeated))]
    return []


def _above(noise: Mapping[str, int], growth: Mapping[str, int | None]) -> dict[str, int]:
    return {name: by for name, by in growth.items() if by is not None and by > noise[name]}


def _not_flushed(port: Growth, name: str) -> int | None:
    """Growth without what the end of a job clears away; unknown where the card does not count that apart."""
    total, part_of = port.of(name), FLUSHED.get(name)
    if part_of is None or total is None:
        return total
    flushed = port.of(part_of)
    return None if flushed is None else total - flushed


def _vanished(
    host: str, growth: Sequence[Growth], compute: Sequence[Hca], first: Sequence[PortCounters]
) -> list[CheckResult]:
    """Ports that had counters before the stages and are gone from the second look."""
    had, have = {(port.device, port.port) for port in first}, {(port.device, port.port) for port in growth}
    return [
        CheckResult(
            ERRORS_CHECK,
            hca(host, port.device),
            Verdict.FAIL,
            say("probe.counters.vanished", device=port.device, port=port.port),
            "hca.vanished",
            stage="probe",
            evidence=(noted(f"{SYSFS}/{port.device}/ports/{port.port}/counters", say("evidence.counters_gone")),),
        )
        for port in compute
        if (port.device, port.port) in had - have
    ]


def _against(
    host: str, port: Growth, verdict: Verdict, rule: str, message: Message, names: Sequence[str]
) -> CheckResult:
    evidence = tuple(_quoted(port, port.counters[name]) for name in names[:_SHOWN])
    grown_by = port.of(names[0])
    return CheckResult(
        ERRORS_CHECK,
        hca(host, port.device),
        verdict,
        message,
        rule,
        stage="probe",
        observed=None if grown_by is None else float(grown_by),
        expected=0.0,
        unit=names[0],
        evidence=evidence,
    )


def _written(grown_by: Mapping[str, int]) -> str:
    return ", ".join(f"{name} +{by}" for name, by in grown_by.items())


def _quoted(port: Growth, counted: Counted) -> Evidence:
    folder = "hw_counters" if counted.name in _CARD_FILES else "counters"
    return Evidence(f"{SYSFS}/{port.device}/ports/{port.port}/{folder}/{counted.name}", counted.line)
