"""Is each compute port up and at its promised rate?"""

from __future__ import annotations

from healthcheck.model.component import Component, hca, node
from healthcheck.model.finding import CheckResult
from healthcheck.model.message import Message, say
from healthcheck.model.node import Hca
from healthcheck.model.platform import NicSpec
from healthcheck.model.reading import Evidence
from healthcheck.model.verdict import Verdict
from healthcheck.parsing.infiniband import SYSFS
from healthcheck.probes.compute_ports import ComputePorts
from healthcheck.probes.trouble import quote

BROKEN_FRACTION = 0.5


def judge_rate(check: str, host: str, compute: ComputePorts, promised: NicSpec) -> tuple[CheckResult, ...]:
    """One result for each port that is not as promised, and one for all candidates; one for the node when all are well.

    Nothing is said of a node without any port.
    """
    results = [result for port in compute.sure if (result := _slow(check, host, port, promised)) is not None]
    results += _one_of(check, host, compute, promised)
    if not results and compute.possible:
        message = say("probe.hca.at_rate", count=len(compute.sure) + compute.places, rate=promised.rate_gbit_s)
        rates = quote(SYSFS, [", ".join(f"{port.device}: {port.rate_text}" for port in compute.possible)])
        results.append(
            CheckResult(check, node(host), Verdict.PASS, message, "hca.at_rate", stage="probe", evidence=rates)
        )
    return tuple(results)


def _slow(check: str, host: str, port: Hca, promised: NicSpec) -> CheckResult | None:
    found = _rate_of(port, promised)
    if found is None:
        return None
    verdict, rule, message = found
    return _rate_result(check, hca(host, port.device), verdict, rule, message, port.rate_gbit_s, promised, quoted(port))


def _rate_of(port: Hca, promised: NicSpec) -> tuple[Verdict, str, Message] | None:
    """What is wrong with one compute port; None when it is up and as fast as promised."""
    if not port.active:
        state = " / ".join(text for text in (port.state, port.physical_state) if text) or "unknown"
        return Verdict.FAIL, "hca.down", say("probe.hca.down", device=port.device, port=port.port, state=state)
    if port.rate_gbit_s is None:
        message = say("probe.hca.rate_unknown", device=port.device, printed=port.rate_text)
        return Verdict.INCONCLUSIVE, "hca.rate_unknown", message
    if port.rate_gbit_s >= promised.rate_gbit_s:
        return None
    broken = port.rate_gbit_s <= BROKEN_FRACTION * promised.rate_gbit_s
    message = say("probe.hca.slow", device=port.device, rate=port.rate_gbit_s, expected=promised.rate_gbit_s)
    return (Verdict.FAIL, "hca.rate_broken", message) if broken else (Verdict.DEGRADED, "hca.rate_low", message)


def _one_of(check: str, host: str, compute: ComputePorts, promised: NicSpec) -> list[CheckResult]:
    """Where too few candidates are well the defect is certain, and which of the others is the compute port is not: the
    mildest reading is reported. Where enough are well, the others may all be storage ports, or none of them."""
    wrong = [(port, found[0]) for port in compute.candidates if (found := _rate_of(port, promised)) is not None]
    if not wrong:
        return []
    broken = compute.places - (len(compute.candidates) - len(wrong))
    names = ", ".join(port.device for port, _ in wrong)
    evidence = tuple(entry for port, _ in wrong[:4] for entry in quoted(port))
    if broken > 0:
        verdict, rule = min(verdict for _, verdict in wrong), "hca.one_of"
        message = say("probe.hca.one_of", places=broken, names=names, expected=promised.rate_gbit_s)
    else:
        verdict, rule = Verdict.INCONCLUSIVE, "hca.unclear"
        message = say("probe.hca.unclear", names=names, count=len(wrong), expected=promised.rate_gbit_s)
    return [_rate_result(check, node(host), verdict, rule, message, None, promised, evidence)]


def _rate_result(
    check: str,
    component: Component,
    verdict: Verdict,
    rule: str,
    message: Message,
    rate: float | None,
    promised: NicSpec,
    evidence: tuple[Evidence, ...],
) -> CheckResult:
    return CheckResult(
        check,
        component,
        verdict,
        message,
        rule,
        stage="probe",
        observed=rate,
        expected=promised.rate_gbit_s,
        unit="Gb/s",
        evidence=evidence,
    )


def quoted(port: Hca) -> tuple[Evidence, ...]:
    """The lines a judgement of this port rests on, as the node printed them."""
    if port.source == SYSFS:
        folder = f"{SYSFS}/{port.device}/ports/{port.port}"
        return (*quote(f"{folder}/state", [port.state]), *quote(f"{folder}/rate", [port.rate_text or "(empty)"]))
    return quote(f"{port.source} {port.device} {port.port}", [f"State: {port.state}", f"Rate: {port.rate_text}"])
