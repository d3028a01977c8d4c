"""Is every planted fault found by its own cause, and nothing found where nothing is?

    python -m benchmarks.faults [--seeds 200] [--each 10] [--verbose]

Whole check-ups inside the process, in virtual time: healthy clusters, every fault of the contract alone, and pairs of
faults on two nodes. A seed decides noise, platform (in turn, of those that every fault can be planted on) and
generation of driver and NCCL. What is particular to other machines: tests/property/test_every_platform.py.

A healthy cluster must end PASS, without a finding, and without a check that is neither PASS nor said to be not seen or
not applicable. One with faults must have one finding for each of them, on its component and under its cause, before
everything that only follows from them.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from healthcheck.cli.asked import Asked, new_request, read_inputs
from healthcheck.cli.console import Console
from healthcheck.edge.shipped import shipped_platforms
from healthcheck.edge.store import DirectoryStore
from healthcheck.model.finding import CheckResult
from healthcheck.model.platform import Platform
from healthcheck.model.record import RunRecord
from healthcheck.model.verdict import Verdict
from healthcheck.simulator.chips import chip_named
from healthcheck.simulator.expected import expected, primary
from healthcheck.simulator.faults import DipFault, NoiseFault, parse_fault
from healthcheck.simulator.generations import GENERATIONS, of_seed
from healthcheck.workflows.engine import Engine
from healthcheck.workflows.run import check_up

NODES = 5
GPUS = 8
SEEDS, EACH = 200, 10
FIRST, SECOND = "node02", "node04"
KINDS = (
    "hca={hca},rate=0.5",
    "hca={hca},down",
    "nvlink=0.6",
    "corrupt",
    "hang",
    "unreachable",
    "gpus=7",
    "busy",
    "gdr=off",
    "socket",
    "driver=535.54.03",
)
"""Every fault of one node that can be planted, without its node."""


class Case(Struct, frozen=True):
    """One check-up: faults as a user writes them, and the seed that decides the rest."""

    faults: tuple[str, ...]
    seed: int

    @property
    def platform(self) -> Platform:
        """In turn, each with all generations of software."""
        platforms = places()
        return platforms[self.seed // len(GENERATIONS) % len(platforms)]

    def __str__(self) -> str:
        software = of_seed(self.seed, chip_named(self.platform.gpu.names[0]).oldest_driver)
        where = f"seed {self.seed}, {self.platform.name}, driver {software.driver}, NCCL {software.nccl}"
        return f"{' and '.join(self.faults) or 'healthy'} ({where})"


@cache
def places() -> tuple[Platform, ...]:
    """The platforms on which every fault can be planted: eight GPUs with NVLink, and ports that NCCL itself drives."""
    shipped = sorted(shipped_platforms().items())
    return tuple(one for _, one in shipped if one.has_nvlink and one.has_verbs and one.gpu.count == GPUS)


def planted(kind: str, node: str, seed: int) -> str:
    """A fault on a node; which card is sick changes with the seed."""
    count = Case((), seed).platform.nics.count
    return f"{node}:{kind.format(hca=f'mlx5_{seed % count}')}"


def alone(kind: str, seeds: Sequence[int]) -> list[Case]:
    """One fault, with these seeds."""
    return [Case((planted(kind, FIRST, seed),), seed) for seed in seeds]


def pairs() -> list[Case]:
    """Every two kinds of faults, on two nodes."""
    return [
        Case((planted(one, FIRST, seed), planted(two, SECOND, seed)), seed)
        for seed, (one, two) in enumerate(itertools.combinations_with_replacement(KINDS, 2))
    ]


def measured(case: Case, nodes: int = NODES) -> RunRecord:
    """The whole check-up of one case."""
    return checked_up(case.platform.name, case.faults, case.seed, nodes)


def checked_up(
    platform: str, faults: Sequence[str] = (), seed: int = 0, nodes: int = NODES, *, detect: bool = False
) -> RunRecord:
    """The whole check-up of simulated nodes of a platform; with `detect` nobody says which one it is."""
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder)
        asked = Asked(hosts=None, simulate=nodes, seed=seed, faults=tuple(faults), platform=platform, results=results)
        inputs, outside = read_inputs(asked)
        store = DirectoryStore.create(results, outside.clock)
        request = new_request(asked, inputs, store.folder.name)
        if detect:
            request = replace(request, platform=None)
        quiet = Console(outside.clock, quiet=True)
        return check_up(request, Engine(outside.transport, outside.local, outside.clock, quiet, store), {})


def wrong(case: Case, record: RunRecord) -> list[str]:
    """What the record says that was not planted, and what it does not say of what was; empty when it is exact."""
    faults = [fault for fault in map(parse_fault, case.faults) if not isinstance(fault, NoiseFault | DipFault)]
    if not faults:
        return [*_not_healthy(record), *(f"{check.check} {check.rule}: {check.message}" for check in _not_well(record))]
    wanted = [expected(fault) for fault in faults]
    own = primary(record.findings)
    first = record.findings[: len(wanted)]
    lines = [
        f"{want.component} is not among the first findings as {' or '.join(sorted(want.causes))}"
        for want in wanted
        if not any(want.met_by(finding) for finding in first)
    ]
    lines += [
        f"beyond the planted: {finding.component} {finding.cause.code} ({finding.verdict.name})"
        for finding in own
        if not any(want.met_by(finding) for want in wanted)
    ]
    lines += [f"{len(own)} findings for {len(wanted)} faults"] if len(own) != len(wanted) and not lines else []
    unquoted = [finding for finding in own if not finding.evidence]
    return lines + [f"without evidence: {finding.component} {finding.cause.code}" for finding in unquoted]


def _not_healthy(record: RunRecord) -> list[str]:
    lines = [] if record.verdict is Verdict.PASS else [f"the verdict is {record.verdict.name}"]
    return lines + [f"finding: {finding.component} {finding.cause.code}" for finding in record.findings]


def _not_well(record: RunRecord) -> list[CheckResult]:
    """Checks that are neither PASS nor said to be hidden from this user or not applicable to the machine."""
    return [
        check
        for check in record.checks
        if check.verdict is not Verdict.PASS
        and not (check.verdict is Verdict.SKIPPED and (check.rule in MAY_BE_UNSEEN or check.rule.endswith(NOT_HERE)))
    ]


MAY_BE_UNSEEN = frozenset({"unseen.denied"})
NOT_HERE = ".does_not_apply"


def main() -> int:
    """Print the table; exit 1 when a case was not exact."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=SEEDS, help="healthy clusters")
    parser.add_argument("--each", type=int, default=EACH, help="seeds for each fault")
    parser.add_argument("--verbose", action="store_true", help="every case that was not exact, not three of a row")
    options = parser.parse_args()
    rows = [("healthy", [Case((), seed) for seed in range(options.seeds)])]
    rows += [(kind.format(hca="mlx5_N"), alone(kind, range(options.each))) for kind in KINDS]
    rows.append(("pairs", pairs()))
    print(f"{'planted':<22} {'runs':>5} {'exact':>6} {'s a run':>8}  not exact")
    failed = 0
    for name, cases in rows:
        begin = time.monotonic()
        found = [(case, lines) for case in cases if (lines := wrong(case, measured(case)))]
        each = (time.monotonic() - begin) / max(1, len(cases))
        failed += len(found)
        summary = Counter(lines[0] for _, lines in found).most_common(1)
        print(
            f"{name:<22} {len(cases):5d} {len(cases) - len(found):6d} {each:8.2f}  {summary[0][0] if summary else ''}"
        )
        for case, lines in found if options.verbose else found[:3]:
            print(f"    {case}")
            for line in lines[:8]:
                print(f"        {line}")
        sys.stdout.flush()
    print("every case was exact" if not failed else f"{failed} cases were not exact")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
