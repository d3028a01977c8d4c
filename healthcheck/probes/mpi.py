"""Which mpirun would start the ranks here?"""

from __future__ import annotations

import re

from healthcheck.model.component import node
from healthcheck.model.finding import CheckResult
from healthcheck.model.message import say
from healthcheck.model.node import MpiFlavour
from healthcheck.model.reading import Reading, ReadingState
from healthcheck.model.verdict import Verdict
from healthcheck.probes.batch import Part, PartOutput
from healthcheck.probes.trouble import Trouble, garbled, quote, usable

NAME = "mpi"
CHECK = "mpi.launcher"
_SOURCE = "mpirun --version"
_FAMILIES = (
    ("openmpi", re.compile(r"(?:mpirun|mpiexec|prterun) \(Open MPI\) (?P<version>\d+\.\d+[\w.\-]*)")),
    ("hydra", re.compile(r"HYDRA build details:\s+Version:\s+(?P<version>\d+\.\d+[\w.\-]*)")),
    ("hydra", re.compile(r"Intel\(R\) MPI Library\b.{0,80}?Version (?P<version>\d+[\w.]*)")),
)


def part() -> Part:
    """The output of `mpirun --version`."""
    return Part(NAME, 10, "mpirun --version")


def read(output: PartOutput | None) -> Reading[MpiFlavour]:
    """Open MPI 4 and 5, MPICH's hydra and Intel MPI (which is hydra too)."""
    answer = usable(_SOURCE, output)
    if isinstance(answer, Trouble):
        return Reading(answer.state, None, answer.evidence)
    for family, pattern in _FAMILIES:
        match = pattern.search(answer.stdout[:20_000])
        if match is not None and answer.rc == 0:
            shown = [match[0].splitlines()[0] if family == "openmpi" else " ".join(match[0].split())]
            return Reading(ReadingState.OBSERVED, MpiFlavour(family, match["version"]), quote(_SOURCE, shown))
    problem = garbled(_SOURCE, answer)
    return Reading(problem.state, None, problem.evidence)


def judge(host: str, reading: Reading[MpiFlavour], launcher: str | None) -> CheckResult:
    """`launcher` is the family the playbook wants (`openmpi`, `hydra`); None takes either."""
    wanted = launcher or "mpirun"
    if reading.observed and reading.value is not None:
        found = f"{reading.value.family} {reading.value.version}"
        if launcher is not None and reading.value.family != launcher:
            verdict, rule = Verdict.INCONCLUSIVE, "mpi.other_family"
            message = say("probe.mpi.other_family", found=found, wanted=wanted)
        else:
            verdict, rule, message = Verdict.PASS, "mpi.found", say("probe.mpi.found", found=found)
    elif reading.state is ReadingState.TOOL_MISSING:
        verdict, rule, message = Verdict.INCONCLUSIVE, "mpi.missing", say("probe.mpi.missing", wanted=wanted)
    else:
        verdict, rule, message = Verdict.INCONCLUSIVE, "mpi.unreadable", say("probe.mpi.unreadable")
    return CheckResult(CHECK, node(host), verdict, message, rule, stage="probe", evidence=reading.evidence)
