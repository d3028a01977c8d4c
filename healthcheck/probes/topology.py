"""How are the GPUs of a node joined?

On a board whose GPUs are joined by NVSwitch, or each with each, every pair shows the same number of NVLinks; a pair
that shows fewer, or a way over PCIe, has lost links. Whether it is such a board is read from the matrix itself: most
pairs show one and the same number of at least `BUNDLE` links. Bridged pairs of PCIe cards and the cube mesh of DGX-1,
whose neighbours share one or two links, are built otherwise and not judged here.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from itertools import combinations

from healthcheck.model.component import Component, gpu, node
from healthcheck.model.fabric_facts import Topology, distance, links_of
from healthcheck.model.finding import CheckResult
from healthcheck.model.fleet import Settings
from healthcheck.model.message import Message, say
from healthcheck.model.node import NodeFacts
from healthcheck.model.platform import Platform
from healthcheck.model.reading import Reading, ReadingState, noted
from healthcheck.model.verdict import Verdict
from healthcheck.parsing.nvidia_smi import explained, lost_lines
from healthcheck.parsing.topology import parse_topology
from healthcheck.probes.batch import GPU_DRIVER, Part, PartOutput, PartState
from healthcheck.probes.trouble import garbled, quote, usable
from healthcheck.probes.unseen import unseen

NAME = "topology"
CHECK = "gpu.topology"
SOURCE = "nvidia-smi topo -m"
BUNDLE = 3
LATE = say("evidence.late")


def part() -> Part:
    """The matrix. With a badly seated NVLink bridge it takes minutes, so it must not wait for that."""
    return Part(NAME, 15, SOURCE, GPU_DRIVER)


def read(output: PartOutput | None) -> Reading[Topology]:
    """Observed only when the matrix is whole. Stopped after its time: UNPARSABLE, and the first line says `LATE`.

    A line that says that a GPU is lost is quoted in `evidence`.
    """
    if output is not None and output.state is PartState.TIMED_OUT:
        return Reading(ReadingState.UNPARSABLE, evidence=(noted(SOURCE, LATE), *quote(SOURCE, [output.stderr])))
    answer = usable(SOURCE, output)
    if isinstance(answer, Reading):
        return answer
    topology = parse_topology(answer.stdout)
    complaints = [*answer.stderr.splitlines(), *lost_lines(answer.stdout)]
    if topology is None or not explained(answer.rc, complaints):
        return garbled(SOURCE, answer)
    return Reading(ReadingState.OBSERVED, topology, quote(SOURCE, complaints))


def judge(host: str, reading: Reading[Topology], platform: Platform | None) -> tuple[CheckResult, ...]:
    """One result for the node, or one for each GPU that has lost links to the others."""
    topology = reading.value
    if topology is None:
        if reading.evidence and reading.evidence[0].told == LATE:
            message = say("probe.topology.late", seconds=part().timeout_s)
            verdict, rule = Verdict.INCONCLUSIVE, "topology.late"
            return (CheckResult(CHECK, node(host), verdict, message, rule, stage="probe", evidence=reading.evidence),)
        return (unseen(CHECK, host, reading, say("probe.topology.hides")),)
    pairs = {(a, b): topology.cells[a][b] for a, b in combinations(range(len(topology.gpus)), 2)}
    numbers = Counter(found for cell in pairs.values() if (found := links_of(cell)))
    # Among four GPUs the pairs of a sick one are as many as the others.
    count, usual = max(((number, links) for links, number in numbers.items()), default=(0, 0))
    nvlink = platform is not None and platform.has_nvlink
    if pairs and nvlink and not numbers:
        message = say("probe.topology.no_nvlink", pairs=len(pairs))
        return (_result(node(host), Verdict.FAIL, "topology.no_nvlink", message, topology.rows),)
    if usual < BUNDLE or not (nvlink or 2 * count > len(pairs)):
        return (_result(node(host), Verdict.SKIPPED, "topology.does_not_apply", say("probe.topology.does_not_apply")),)
    bad = {pair for pair, cell in pairs.items() if links_of(cell) < usual}
    if not bad:
        return (_result(node(host), Verdict.PASS, "topology.joined", say("probe.topology.joined", links=usual)),)
    blamed = _blamed(bad, len(topology.gpus))
    if not blamed:
        rows = [topology.rows[index] for index in sorted({index for pair in bad for index in pair})]
        message = say("probe.topology.pairs", bad=len(bad), pairs=len(pairs), links=usual)
        return (_result(node(host), Verdict.FAIL, "topology.pairs", message, rows),)
    return tuple(_cut_off(host, topology, row, usual) for row in blamed)


def _blamed(bad: set[tuple[int, int]], gpus: int) -> list[int]:
    """GPUs with most of their pairs bad, where they are the fewer ones and account for every bad pair; else none."""
    count = Counter(index for pair in bad for index in pair)
    blamed = [index for index in range(gpus) if 2 * count[index] > gpus - 1]
    explained = all(first in blamed or second in blamed for first, second in bad)
    return blamed if explained and 2 * len(blamed) < gpus else []


def _cut_off(host: str, topology: Topology, row: int, usual: int) -> CheckResult:
    cells = [cell for cell in topology.cells[row][: len(topology.gpus)] if cell != "X"]
    worst = min(cells, key=lambda cell: (links_of(cell), -distance(cell)))
    lost = sum(links_of(cell) < usual for cell in cells)
    name, others = topology.gpus[row], len(cells)
    if links_of(worst):
        rule = "topology.fewer_links"
        message = say("probe.topology.fewer_links", gpu=name, found=worst, lost=lost, others=others, links=usual)
    else:
        rule = "topology.cut_off"
        message = say("probe.topology.cut_off", gpu=name, found=worst, lost=lost, others=others, links=usual)
    return _result(gpu(host, topology.index(row)), Verdict.FAIL, rule, message, [topology.rows[row]])


def _result(
    component: Component, verdict: Verdict, rule: str, message: Message, rows: list[str] | tuple[str, ...] = ()
) -> CheckResult:
    evidence = quote(SOURCE, rows)
    return CheckResult(CHECK, component, verdict, message, rule, stage="probe", evidence=evidence)


def settings(facts: NodeFacts) -> Settings:
    """`topology`: of each GPU the farthest GPU and the nearest NIC, counted: `8xNV12+8xPXB`."""
    topology = facts.topology.value
    return () if topology is None else (("topology", _fingerprint(topology)),)


# Nodes of one kind print the same matrix, and equal ones are read into one value.
@lru_cache(maxsize=256)
def _fingerprint(topology: Topology) -> str:
    size = len(topology.gpus)
    to_gpus = Counter(max(cells[:size], key=_farness) for cells in topology.cells)
    to_nics = Counter(min(cells[size:], key=_farness) for cells in topology.cells if topology.nics)
    kinds = [f"{count}x{cell}" for counts in (to_gpus, to_nics) for cell, count in sorted(counts.items())]
    return "+".join(kinds)


def _farness(cell: str) -> tuple[int, int]:
    """The GPU itself, then NVLinks, the more the nearer, then the ways over PCIe."""
    return (distance(cell) if cell != "X" and not links_of(cell) else -1, -1000 if cell == "X" else -links_of(cell))
