"""Can programs reach the cards from user space?

NCCL opens each card through its file /dev/infiniband/uverbs*. Without it (no ib_uverbs, a container without the
devices) it finds no InfiniBand and takes TCP, without an error. ibv_devinfo, where it is installed, also tells the
MTU each port really uses, which sysfs does not.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from healthcheck.model.component import node
from healthcheck.model.finding import CheckResult
from healthcheck.model.message import say
from healthcheck.model.network_facts import PathMtu, UverbsNode, Verbs
from healthcheck.model.node import Hca
from healthcheck.model.reading import Evidence, Reading, ReadingState, noted
from healthcheck.model.verdict import Verdict
from healthcheck.parsing.infiniband import IBV_DEVINFO, read_ibv_devinfo
from healthcheck.probes.batch import Part, PartOutput, one_line
from healthcheck.probes.compute_ports import compute_ports
from healthcheck.probes.nearness import UNKNOWN, Nearness
from healthcheck.probes.probe import Needs
from healthcheck.probes.trouble import garbled, quote, usable
from healthcheck.probes.unseen import unseen

NAME = "verbs"
CHECK = "hca.verbs"
DEVICES = "/dev/infiniband"
SHOWN = 8

# Only opening the file shows what a device cgroup forbids; nothing is created or written, since the file is there.
_TEXT = one_line(f"""
    for file in {DEVICES}/uverbs*; do
        [ -e "$file" ] || continue;
        dev=; read -r dev 2>/dev/null <"/sys/class/infiniband_verbs/${{file##*/}}/ibdev";
        if true 2>/dev/null 3<>"$file"; then way=ok;
        elif [ -r "$file" ] && [ -w "$file" ]; then way=broken;
        else way=denied; fi;
        echo "node ${{file##*/}} ${{dev:--}} $way";
    done;
    if command -v {IBV_DEVINFO} >/dev/null; then
        text=$({IBV_DEVINFO}); code=$?; echo "#devinfo $code";
        printf "%s\\n" "$text" | grep -e hca_id: -e port: -e state: -e active_mtu:;
    else echo "#devinfo missing"; fi;
    exit 0
""")
_NODE = re.compile(r"node (?P<name>uverbs\d{1,4}) (?P<dev>-|\w[\w.\-]{0,63}) (?P<way>ok|broken|denied)", re.ASCII)


def part() -> Part:
    """Lines `node uverbs0 mlx5_0 ok`; `#devinfo <exit code>` or `#devinfo missing`, then lines of ibv_devinfo."""
    return Part(NAME, 8, _TEXT)


def read(output: PartOutput | None) -> Reading[Verbs]:
    """Observed without a single node: there is no way to a card, or there is no card."""
    answer = usable(NAME, output)
    if isinstance(answer, Reading):
        return answer
    lists, mark, devinfo = answer.stdout.partition("#devinfo ")
    nodes: list[UverbsNode] = []
    for line in lists.splitlines():
        found = _NODE.fullmatch(line.strip())
        if found is None:
            return garbled(NAME, answer)
        device = None if found["dev"] == "-" else found["dev"]
        nodes.append(UverbsNode(found["name"], device, found["way"]))
    if not mark or answer.rc != 0:
        return garbled(NAME, answer)
    return Reading(ReadingState.OBSERVED, Verbs(tuple(nodes), _mtus(devinfo, answer.stderr)))


# All healthy nodes of one kind print the same.
@lru_cache(maxsize=32)
def _mtus(devinfo: str, complaints: str) -> Reading[tuple[PathMtu, ...]]:
    code, _, text = devinfo.partition("\n")
    if code == "missing":
        absent = noted(IBV_DEVINFO, say("evidence.not_found", source=IBV_DEVINFO))
        return Reading(ReadingState.TOOL_MISSING, evidence=(absent,))
    mtus = tuple(
        PathMtu(port.device, port.port, port.active_mtu)
        for port in read_ibv_devinfo(text.splitlines())
        if port.active_mtu is not None
    )
    if code != "0" or not mtus:
        said = quote(IBV_DEVINFO, [*complaints.splitlines(), *text.splitlines()])
        return Reading(ReadingState.UNPARSABLE, evidence=said or (noted(IBV_DEVINFO, say("evidence.no_port")),))
    return Reading(ReadingState.OBSERVED, mtus)


def judge(
    host: str, reading: Reading[Verbs], cards: Reading[tuple[Hca, ...]], needs: Needs, ways: Nearness = UNKNOWN
) -> CheckResult:
    """FAIL where a job over several nodes is to come and a compute card cannot be opened; DEGRADED before others."""
    if not reading.observed or reading.value is None:
        return unseen(CHECK, host, reading, say("probe.verbs.hides"))
    if cards.value is None:
        return unseen(CHECK, host, cards, say("probe.verbs.hides"))
    compute = list(dict.fromkeys(port.device for port in compute_ports(cards.value, needs.platform, ways).likely))
    nodes = reading.value.nodes
    closed = [one for one in nodes if one.access != "ok" and (one.device is None or one.device in compute)]
    without = _without_node(compute, nodes)
    verdict = Verdict.FAIL if needs.together else Verdict.DEGRADED
    evidence: tuple[Evidence, ...] = ()
    if not compute:
        verdict, rule, message = Verdict.SKIPPED, "hca.does_not_apply", say("probe.verbs.no_card")
    elif not nodes:
        rule, message = "hca.verbs_missing", say("probe.verbs.missing", count=len(compute))
        evidence = (noted(f"{DEVICES}/uverbs*", say("evidence.no_file")),)
    elif closed or without:
        rule = "hca.verbs_closed"
        names = [one.device or one.name for one in closed] + without
        message = say("probe.verbs.closed", names=", ".join(names[:SHOWN]), count=len(names), total=len(compute))
        evidence = (
            *(Evidence(f"{DEVICES}/{one.name}", one.access) for one in closed[:SHOWN]),
            *(noted(DEVICES, say("evidence.no_uverbs", device=device)) for device in without[:SHOWN]),
        )
    else:
        verdict, rule, message = Verdict.PASS, "hca.verbs_ready", say("probe.verbs.ready")
    return CheckResult(CHECK, node(host), verdict, message, rule, stage="probe", evidence=evidence)


def _without_node(compute: Sequence[str], nodes: Sequence[UverbsNode]) -> list[str]:
    """The cards no file belongs to; unknown, so none, where a file does not tell its card."""
    if any(one.device is None for one in nodes):
        return []
    having = {one.device for one in nodes}
    return [device for device in compute if device not in having]
