"""Are the ports of the compute network there, up, and as fast as promised?

Which ports count. The platform says how many compute ports of which link layer and rate a node has. Other link
layers never count. Where a node has more ports of the right kind than promised, the ones that are up at the
promised rate are taken first; when they are enough, the others are storage or management ports and produce no
finding. When they are not enough, the firmware most of the good ones run tells compute cards from others; where
even that leaves a choice, the node is named with all candidates, never one card by guess.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from healthcheck.model.component import Component, hca, node
from healthcheck.model.finding import CheckResult
from healthcheck.model.message import Message, say
from healthcheck.model.node import Hca
from healthcheck.model.platform import NicSpec, Platform
from healthcheck.model.reading import Evidence, Reading, ReadingState
from healthcheck.model.verdict import Verdict
from healthcheck.probes.batch import Part, PartOutput, one_line
from healthcheck.probes.trouble import garbled, quote, usable

NAME = "hcas"
COUNT_CHECK = "hca.count"
RATE_CHECK = "hca.rate"
BROKEN_FRACTION = 0.5
SYSFS = "/sys/class/infiniband"
_KEYS = ("state", "phys_state", "rate", "link_layer")
_TEXT = one_line(f"""
    seen=0;
    for dir in {SYSFS}/*; do
        [ -d "$dir/ports" ] || continue;
        seen=1; dev=${{dir##*/}};
        if read -r line 2>/dev/null <"$dir/fw_ver"; then echo "$dev 0 fw_ver $line"; fi;
        for port in "$dir"/ports/*; do
            for key in {" ".join(_KEYS)}; do
                if read -r line 2>/dev/null <"$port/$key"; then echo "$dev ${{port##*/}} $key $line"; fi;
            done;
        done;
    done;
    if [ "$seen" = 1 ]; then exit 0; fi;
    if command -v ibstat >/dev/null; then echo "#ibstat"; ibstat; exit; fi;
    if [ -d {SYSFS} ]; then echo "#none"; exit 0; fi;
    echo "{SYSFS}: not found; ibstat: not found" >&2; exit 127
""")
_SYSFS_LINE = re.compile(
    r"(?P<dev>\w[\w.\-]{0,63}) (?P<port>\d{1,3}) (?P<key>state|phys_state|rate|link_layer|fw_ver) (?P<value>.*)",
    re.ASCII,
)
_RATE = re.compile(r"(\d{1,4}(?:\.\d{1,3})?)(?: Gb/sec\b.*)?", re.ASCII)
_IBSTAT_CA = re.compile(r"CA '(?P<dev>\w[\w.\-]{0,63})'")
_IBSTAT_PORT = re.compile(r"\s+Port (?P<port>\d{1,3}):")
_IBSTAT_KEYS = {
    "state": "state",
    "physical state": "phys_state",
    "rate": "rate",
    "link layer": "link_layer",
    "firmware version": "fw_ver",
}


def part() -> Part:
    """Lines `<dev> <port> <key> <value>` from sysfs; else `#ibstat` and its output; `#none`: a tree without cards."""
    return Part(NAME, 8, _TEXT)


def read(output: PartOutput | None) -> Reading[tuple[Hca, ...]]:
    """All ports of all cards, compute or not. Observed and empty: the node really has no card."""
    answer = usable(NAME, output)
    if isinstance(answer, Reading):
        return answer
    lines = answer.stdout.splitlines()
    if answer.rc == 0 and lines == ["#none"]:
        return Reading(ReadingState.OBSERVED, (), (Evidence(SYSFS, "(empty)"),))
    from_ibstat = lines[:1] == ["#ibstat"]
    values = _ibstat(lines[1:]) if from_ibstat else _sysfs(lines)
    ports = _ports(values)
    if answer.rc != 0 or not ports:
        return garbled("ibstat" if from_ibstat else SYSFS, answer)
    return Reading(ReadingState.OBSERVED, ports)


def _sysfs(lines: Iterable[str]) -> dict[tuple[str, int], dict[str, str]]:
    values: dict[tuple[str, int], dict[str, str]] = {}
    for line in lines:
        match = _SYSFS_LINE.fullmatch(line[:400].rstrip())
        if match is not None:
            values.setdefault((match["dev"], int(match["port"])), {})[match["key"]] = match["value"].strip()
    return values


def _ibstat(lines: Iterable[str]) -> dict[tuple[str, int], dict[str, str]]:
    values: dict[tuple[str, int], dict[str, str]] = {}
    device, port = "", 0
    for line in lines:
        card, numbered = _IBSTAT_CA.match(line), _IBSTAT_PORT.match(line)
        if card is not None:
            device, port = card["dev"], 0
        elif numbered is not None:
            port = int(numbered["port"])
        elif device and ":" in line:
            key, _, value = line[:400].partition(":")
            known = _IBSTAT_KEYS.get(key.strip().lower())
            if known is not None:
                values.setdefault((device, port), {})[known] = value.strip()
    return values


def _ports(values: dict[tuple[str, int], dict[str, str]]) -> tuple[Hca, ...]:
    ports: list[Hca] = []
    for (device, port), found in values.items():
        if port == 0 or not ({"state", "rate"} & found.keys()):
            continue
        rate = found.get("rate", "")
        number = _RATE.fullmatch(rate)
        ports.append(
            Hca(
                device=device,
                port=port,
                state=found.get("state", ""),
                physical_state=found.get("phys_state", ""),
                rate_gbit_s=float(number[1]) if number is not None else None,
                rate_text=rate,
                link_layer=found.get("link_layer", ""),
                firmware=values.get((device, 0), {}).get("fw_ver"),
            )
        )
    return tuple(ports)


def judge(host: str, reading: Reading[tuple[Hca, ...]], platform: Platform | None) -> tuple[CheckResult, ...]:
    """`hca.count` of the node; `hca.rate` of each port that is not as promised, or once for the node when all are."""
    if not reading.observed or reading.value is None:
        missing = reading.state is ReadingState.TOOL_MISSING
        rule = "hca.tool_missing" if missing else "hca.unreadable"
        message = say("probe.hca.tool_missing") if missing else say("probe.hca.unreadable", detail=reading.detail)
        return (_of_node(host, COUNT_CHECK, Verdict.INCONCLUSIVE, rule, message, reading.evidence),)
    if platform is None:
        message = say("probe.hca.no_platform", found=len(reading.value))
        return (_of_node(host, COUNT_CHECK, Verdict.INCONCLUSIVE, "hca.no_platform", message, ()),)
    promised = platform.nics
    of_kind = [port for port in reading.value if port.link_layer.lower() in ("", promised.link_layer.lower())]
    compute, candidates = compute_ports(of_kind, promised)
    open_places = min(promised.count - len(compute), len(candidates))
    active = sum(port.active for port in compute) + min(open_places, sum(port.active for port in candidates))
    present = len(compute) + open_places
    results = [_count(host, reading, promised, present, active)]
    results += [result for port in compute if (result := _slow(host, port, promised)) is not None]
    if open_places:
        results.append(_one_of(host, candidates, open_places, promised))
    if len(results) == 1 and present:
        message = say("probe.hca.at_rate", count=present, rate=promised.rate_gbit_s)
        results.append(_of_node(host, RATE_CHECK, Verdict.PASS, "hca.at_rate", message, _rates(compute)))
    return tuple(results)


def compute_ports(of_kind: list[Hca], promised: NicSpec) -> tuple[list[Hca], list[Hca]]:
    """(ports that surely are compute ports, candidates for the places still open); see the head of this file."""
    if len(of_kind) <= promised.count:
        return of_kind, []
    good = [port for port in of_kind if port.active and (port.rate_gbit_s or 0) >= promised.rate_gbit_s]
    if len(good) >= promised.count:
        return good[: promised.count], []
    rest = [port for port in of_kind if port not in good]
    places = promised.count - len(good)
    for likely in (
        _same_firmware(rest, good),
        [port for port in rest if "disabled" not in port.physical_state.lower()],
    ):
        narrowed = [port for port in rest if port in likely]
        if len(narrowed) >= places:
            rest = narrowed
    return ([*good, *rest], []) if len(rest) == places else (good, rest)


def _same_firmware(rest: list[Hca], good: list[Hca]) -> list[Hca]:
    common = Counter(port.firmware for port in good if port.firmware is not None).most_common(1)
    return [port for port in rest if common and port.firmware == common[0][0]]


def _count(host: str, reading: Reading[tuple[Hca, ...]], promised: NicSpec, present: int, active: int) -> CheckResult:
    args: dict[str, str | int] = {"expected": promised.count, "kind": promised.link_layer}
    if present < promised.count:
        verdict, rule = Verdict.FAIL, "hca.missing"
        message = say("probe.hca.missing", present=present, **args)
    elif active < promised.count:
        verdict, rule = Verdict.FAIL, "hca.inactive"
        message = say("probe.hca.inactive", active=active, **args)
    else:
        verdict, rule, message = Verdict.PASS, "hca.all_there", say("probe.hca.all_there", **args)
    names = " ".join(f"{port.device}/{port.port}" for port in reading.value or ()) or "none"
    return CheckResult(
        COUNT_CHECK,
        node(host),
        verdict,
        message,
        rule,
        stage="probe",
        observed=float(min(present, active)),
        expected=float(promised.count),
        unit="ports",
        evidence=quote(SYSFS, [f"ports found: {names}"]),
    )


def _slow(host: str, port: Hca, promised: NicSpec) -> CheckResult | None:
    found = _rate_of(port, promised)
    if found is None:
        return None
    verdict, rule, message = found
    return _rate_result(hca(host, port.device), verdict, rule, message, port.rate_gbit_s, promised, quoted(port))


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


def _one_of(host: str, candidates: list[Hca], places: int, promised: NicSpec) -> CheckResult:
    """The defect is certain, which of the candidates is the compute port is not: the mildest reading is reported."""
    wrong = [found[0] for port in candidates if (found := _rate_of(port, promised)) is not None]
    names = ", ".join(port.device for port in candidates)
    message = say("probe.hca.one_of", places=places, names=names, expected=promised.rate_gbit_s)
    evidence = tuple(entry for port in candidates[:4] for entry in quoted(port))
    return _rate_result(node(host), min(wrong), "hca.one_of", message, None, promised, evidence)


def _rate_result(
    component: Component,
    verdict: Verdict,
    rule: str,
    message: Message,
    rate: float | None,
    promised: NicSpec,
    evidence: tuple[Evidence, ...],
) -> CheckResult:
    return CheckResult(
        RATE_CHECK,
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


def _of_node(
    host: str, check: str, verdict: Verdict, rule: str, message: Message, evidence: tuple[Evidence, ...]
) -> CheckResult:
    return CheckResult(check, node(host), verdict, message, rule, stage="probe", evidence=evidence)


def _rates(ports: list[Hca]) -> tuple[Evidence, ...]:
    return quote(SYSFS, [", ".join(f"{port.device}: {port.rate_text}" for port in ports)])


def quoted(port: Hca) -> tuple[Evidence, ...]:
    """The lines a judgement of this port rests on, as the node printed them."""
    if ":" in port.state:
        folder = f"{SYSFS}/{port.device}/ports/{port.port}"
        return (*quote(f"{folder}/state", [port.state]), *quote(f"{folder}/rate", [port.rate_text or "(empty)"]))
    return quote(f"ibstat {port.device} {port.port}", [f"State: {port.state}", f"Rate: {port.rate_text}"])
