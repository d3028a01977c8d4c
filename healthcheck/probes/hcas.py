"""Are the ports of the compute network there, up, as fast as promised, and known to a subnet manager?

Which ports are compute ports: `compute_ports.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

from healthcheck.model.component import node
from healthcheck.model.finding import CheckResult
from healthcheck.model.fleet import Settings
from healthcheck.model.message import Message, say
from healthcheck.model.node import Hca, NodeFacts
from healthcheck.model.platform import NicSpec, Platform
from healthcheck.model.reading import Evidence, Reading, ReadingState, noted
from healthcheck.model.verdict import Verdict
from healthcheck.parsing.infiniband import (
    IBSTAT,
    IBV_DEVINFO,
    RDMA_LINK,
    SYSFS,
    read_ibstat,
    read_ibv_devinfo,
    read_rdma_link,
    read_sysfs,
)
from healthcheck.probes.batch import Part, PartOutput, one_line
from healthcheck.probes.compute_ports import ETHERNET, ComputePorts, compute_of, compute_ports
from healthcheck.probes.hca_rate import judge_rate, quoted
from healthcheck.probes.nearness import UNKNOWN, Nearness
from healthcheck.probes.other_type import LargerType
from healthcheck.probes.subnet import judge_subnet
from healthcheck.probes.trouble import garbled, usable

NAME = "hcas"
COUNT_CHECK = "hca.count"
RATE_CHECK = "hca.rate"
SUBNET_CHECK = "hca.subnet"

# `cd -P` turns the link to the PCI device into its address without starting a process; sysfs is read by the shell
# itself, so sixteen cards cost no fork. A tool that fails is not the answer: the next one may know.
_TEXT = one_line(f"""
    seen=0;
    for dir in {SYSFS}/*; do
        [ -d "$dir/ports" ] || continue;
        seen=1; dev=${{dir##*/}};
        for key in fw_ver hca_type board_id; do
            if read -r line 2>/dev/null <"$dir/$key"; then echo "$dev 0 $key $line"; fi;
        done;
        if cd -P "$dir/device" 2>/dev/null; then
            echo "$dev 0 pci ${{PWD##*/}}";
            if cd -P driver 2>/dev/null; then echo "$dev 0 driver ${{PWD##*/}}"; fi;
        fi;
        for port in "$dir"/ports/*; do
            for key in state phys_state rate link_layer lid sm_lid; do
                if read -r line 2>/dev/null <"$port/$key"; then echo "$dev ${{port##*/}} $key $line"; fi;
            done;
            net=; read -r net 2>/dev/null <"$port/gid_attrs/ndevs/0";
            if [ -z "$net" ]; then set -- "$dir"/device/net/*; if [ -d "$1" ]; then net=${{1##*/}}; fi; fi;
            if [ "$net" ]; then echo "$dev ${{port##*/}} netdev $net"; fi;
            if [ "$net" ] && read -r line 2>/dev/null <"/sys/class/net/$net/mtu"; then
                echo "$dev ${{port##*/}} mtu $line";
            fi;
        done;
    done;
    if [ "$seen" = 1 ]; then exit 0; fi;
    failed=;
    for tool in "{IBSTAT}" "{IBV_DEVINFO} -v" "{RDMA_LINK}"; do
        command -v "${{tool%% *}}" >/dev/null || continue;
        if text=$($tool 2>&1) && [ "$text" ]; then
            echo "#$tool"; printf "%s\\n" "$text" | grep -v "GID\\[";
            exit 0;
        fi;
        if [ "$text" ]; then failed="$failed $tool: $text"; fi;
    done;
    if [ -r {SYSFS} ]; then echo "#none"; exit 0; fi;
    case $failed in "" | " {RDMA_LINK}: "*) echo "{SYSFS}: not found; {IBSTAT}: not found" >&2; exit 127 ;; esac;
    echo "$failed" >&2; exit 1
""")
_READERS = {
    f"#{IBSTAT}": (IBSTAT, read_ibstat),
    f"#{IBV_DEVINFO} -v": (IBV_DEVINFO, read_ibv_devinfo),
    f"#{RDMA_LINK}": (RDMA_LINK, read_rdma_link),
}


def part() -> Part:
    """Lines `<dev> <port> <key> <value>` from sysfs; else `#TOOL` and what it prints; `#none`: a tree without cards."""
    return Part(NAME, 8, _TEXT)


def read(output: PartOutput | None) -> Reading[tuple[Hca, ...]]:
    """All ports of all cards, compute or not. Observed and empty: the node really has no card."""
    answer = usable(NAME, output)
    if isinstance(answer, Reading):
        return answer
    lines = answer.stdout.splitlines()
    if answer.rc == 0 and lines == ["#none"]:
        return Reading(ReadingState.OBSERVED, (), (noted(SYSFS, say("evidence.empty")),))
    source, reader = _READERS.get(lines[0] if lines else "", (SYSFS, read_sysfs))
    ports = reader(lines)
    if answer.rc != 0 or not ports:
        return garbled(source, answer)
    return Reading(ReadingState.OBSERVED, ports)


def settings(facts: NodeFacts) -> Settings:
    """What should be the same on every node: firmware by kind of card, since cards of two kinds have two, and MTU."""
    compute = compute_of(facts, None).likely
    found: dict[str, set[str]] = {}
    for port in compute:
        board = port.board_id or port.hca_type
        if port.firmware:
            found.setdefault(f"hca_firmware[{board}]" if board else "hca_firmware", set()).add(port.firmware)
        if port.mtu is not None and port.link_layer.lower() == ETHERNET:
            found.setdefault("hca_mtu", set()).add(str(port.mtu))
    return tuple((name, "+".join(sorted(values))) for name, values in sorted(found.items()))


def judge(
    host: str,
    reading: Reading[tuple[Hca, ...]],
    platform: Platform | None,
    ways: Nearness = UNKNOWN,
    larger: LargerType | None = None,
) -> tuple[CheckResult, ...]:
    """`hca.count` of the node; `hca.rate` and `hca.subnet` of each port that is not as it should be, or once for the
    node when all are. `larger`: what the node looks like where it has more compute ports than `platform`."""
    if platform is not None and platform.nics.count == 0:
        message = say("probe.hca.none_promised", platform=platform.name)
        return (_of_node(host, COUNT_CHECK, Verdict.SKIPPED, "hca.does_not_apply", message, ()),)
    if not reading.observed or reading.value is None:
        missing = reading.state is ReadingState.TOOL_MISSING
        rule = "hca.tool_missing" if missing else "hca.unreadable"
        message = say("probe.hca.tool_missing") if missing else say("probe.hca.unreadable", detail=reading.detail)
        return (_of_node(host, COUNT_CHECK, Verdict.INCONCLUSIVE, rule, message, reading.evidence),)
    if platform is None:
        message = say("probe.hca.no_platform", found=len(reading.value))
        return (_of_node(host, COUNT_CHECK, Verdict.INCONCLUSIVE, "hca.no_platform", message, ()),)
    promised = platform.nics
    compute = compute_ports(reading.value, platform, ways)
    return (
        _count(host, reading.value, promised, compute, larger),
        *judge_rate(RATE_CHECK, host, compute, promised),
        *judge_subnet(SUBNET_CHECK, host, compute, promised),
    )


def _count(
    host: str, ports: Sequence[Hca], promised: NicSpec, compute: ComputePorts, larger: LargerType | None
) -> CheckResult:
    args: dict[str, str | int] = {"expected": promised.count, "kind": promised.link_layer}
    present = len(compute.sure) + compute.places
    active = sum(port.active for port in compute.sure)
    active += min(compute.places, sum(port.active for port in compute.candidates))
    names = " ".join(f"{port.device}/{port.port}" for port in ports) or "none"
    evidence: tuple[Evidence, ...] = (noted(SYSFS, say("evidence.ports_found", ports=names)),)
    if larger is not None:
        present = active = larger.ports
        verdict, rule = Verdict.INCONCLUSIVE, "hca.other_type"
        message = say("probe.hca.other_type", found=larger.ports, names=", ".join(larger.names), **args)
    elif present < promised.count and (strangers := _of_other_layer(ports, compute.possible)):
        verdict, rule = Verdict.FAIL, "hca.other_link_layer"
        named = ", ".join(f"{port.device}/{port.port}" for port in strangers)
        message = say(
            "probe.hca.other_link_layer", names=named, count=len(strangers), other=strangers[0].link_layer, **args
        )
        evidence = tuple(
            Evidence(f"{SYSFS}/{port.device}/ports/{port.port}/link_layer", port.link_layer) for port in strangers[:4]
        )
    elif present < promised.count:
        verdict, rule = Verdict.FAIL, "hca.missing"
        message = say("probe.hca.missing", present=present, **args)
    elif active < promised.count:
        verdict, rule = Verdict.FAIL, "hca.inactive"
        message = say("probe.hca.inactive", active=active, **args)
    elif compute.doubtful:
        verdict, rule = Verdict.INCONCLUSIVE, "hca.unclear"
        names = ", ".join(port.device for port in compute.candidates)
        message = say("probe.hca.unclear_place", near=len(compute.sure), names=names, **args)
        evidence += tuple(entry for port in compute.candidates[:2] for entry in quoted(port))
    else:
        verdict, rule, message = Verdict.PASS, "hca.all_there", say("probe.hca.all_there", **args)
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
        evidence=evidence,
    )


def _of_other_layer(ports: Sequence[Hca], compute: Sequence[Hca]) -> list[Hca]:
    """Ports of the same kind of card as the compute ports, with another link layer: set up wrong, not missing."""
    boards = {port.board_id for port in compute if port.board_id}
    return [port for port in ports if port not in compute and port.board_id in boards and port.link_layer]


def _of_node(
    host: str, check: str, verdict: Verdict, rule: str, message: Message, evidence: tuple[Evidence, ...]
) -> CheckResult:
    return CheckResult(check, node(host), verdict, message, rule, stage="probe", evidence=evidence)
