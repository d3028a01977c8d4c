"""Which mpirun would start the ranks here?"""

from __future__ import annotations

import re

from msgspec.structs import replace

from healthcheck.model.component import node
from healthcheck.model.finding import CheckResult
from healthcheck.model.message import say
from healthcheck.model.node import MpiFlavour
from healthcheck.model.reading import Reading, ReadingState
from healthcheck.model.verdict import Verdict
from healthcheck.probes.batch import Part, PartOutput, one_line
from healthcheck.probes.trouble import garbled, quote, usable

NAME = "mpi"
CHECK = "mpi.launcher"
_SOURCE = "mpirun --version"
# Other nodes start ranks here through orted, which Open MPI 4 finds in PATH or beside its mpirun.
_TEXT = one_line("""
    mpirun --version && {
        command -v orted >/dev/null || [ -x "$(dirname "$(readlink -f "$(command -v mpirun)")")/orted" ]
        || echo "orted missing";
    }
""")
_NO_DAEMON = re.compile(r"^orted missing$", re.MULTILINE)
_FAMILIES = (
    ("openmpi", re.compile(r"(?:mpirun|mpiexec|prterun) \(Open MPI\) (?P<version>\d+\.\d+[\w.\-]*)")),
    ("hydra", re.compile(r"HYDRA build details:\s+Version:\s+(?P<version>\d+\.\d+[\w.\-]*)")),
    ("hydra", re.compile(r"Intel\(R\) MPI Library\b.{0,80}?Version (?P<version>\d+[\w.]*)")),
)


def part() -> Part:
    """The output of `mpirun --version`, and a line `orted missing` where that is so."""
    return Part(NAME, 10, _TEXT)


def read(output: PartOutput | None) -> Reading[MpiFlavour]:
    """Open MPI 4 and 5, MPICH's hydra and Intel MPI (which is hydra too)."""
    answer = usable(_SOURCE, output)
    if isinstance(answer, Reading):
        return answer
    for family, pattern in _FAMILIES:
        match = pattern.search(answer.stdout[:20_000])
        if match is not None and answer.rc == 0:
            shown = [match[0].splitlines()[0] if family == "openmpi" else " ".join(match[0].split())]
            flavour = MpiFlavour(family, match["version"])
            if family == "openmpi" and flavour.major == 4 and _NO_DAEMON.search(answer.stdout):
                flavour = replace(flavour, daemon_missing=True)
            return Reading(ReadingState.OBSERVED, flavour, quote(_SOURCE, shown))
    return garbled(_SOURCE, answer)


def judge(host: str, reading: Reading[MpiFlavour], launcher: str | None) -> CheckResult:
    """`launcher` is the family the playbook wants (`openmpi`, `hydra`); None takes either."""
    wanted = launcher or "mpirun"
    if reading.observed and reading.value is not None:
        found = f"{reading.value.family} {reading.value.version}"
        if launcher is not None and reading.value.family != launcher:
            verdict, rule = Verdict.INCONCLUSIVE, "mpi.other_family"
            message = say("probe.mpi.other_family", found=found, wanted=wanted)
        elif reading.value.daemon_missing:
            verdict, rule, message = Verdict.INCONCLUSIVE, "mpi.no_daemon", say("probe.mpi.no_daemon", found=found)
        else:
            verdict, rule, message = Verdict.PASS, "mpi.found", say("probe.mpi.found", found=found)
    elif reading.state is ReadingState.TOOL_MISSING:
        verdict, rule, message = Verdict.INCONCLUSIVE, "mpi.missing", say("probe.mpi.missing", wanted=wanted)
    else:
        verdict, rule, message = Verdict.INCONCLUSIVE, "mpi.unreadable", say("probe.mpi.unreadable")
    return CheckResult(CHECK, node(host), verdict, message, rule, stage="probe", evidence=reading.evidence)
