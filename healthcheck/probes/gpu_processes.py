"""Is anyone computing here? A node with a foreign GPU process is never loaded by us."""

from __future__ import annotations

import re

from healthcheck.model.component import node
from healthcheck.model.finding import CheckResult
from healthcheck.model.message import Arg, Message, few, say
from healthcheck.model.node import Gpu, GpuProcess
from healthcheck.model.reading import Reading, ReadingState
from healthcheck.model.verdict import Verdict
from healthcheck.parsing.nvidia_smi import explained, says_lost
from healthcheck.probes.batch import GPU_DRIVER, READ_TOKEN, Part, PartOutput, one_line
from healthcheck.probes.trouble import garbled, quote, usable

NAME = "gpu_processes"
CHECK = "node.busy"
_SOURCE = "nvidia-smi --query-compute-apps"
_END = "end"
_MOST_BYTES = 200_000
# Nothing printed means that nobody computes. So what was printed is kept to the last line end, and the exit code behind
# it shows that it is whole.
_TEXT = one_line(rf"""
    apps=$({{ {_SOURCE}=pid,gpu_uuid,name --format=csv,noheader; printf "\nrc %s" "$?"; }} | head -c {_MOST_BYTES});
    nl=$(printf "\nx"); nl=${{nl%x}};
    case $apps in *"$nl"rc\ [0-9]*) ;; *) printf %s "$apps"; exit 1 ;; esac;
    code=${{apps##*rc }}; apps=${{apps%?rc *}};
    case $apps in ""|*"$nl") printf %s "$apps" ;; *) printf "%s\n" "$apps" ;; esac;
    [ "$code" = 0 ] || exit "$code";
    printf "%s\n" "$apps" | cut -d, -f1 | sort -u | while read -r pid; do
        [ "$pid" -gt 0 ] 2>/dev/null || continue;
        user=$(stat -c %U "/proc/$pid" 2>/dev/null);
        if [ "$user" ]; then echo "user $pid $user"; fi;
        {READ_TOKEN}
        if [ "$token" ]; then echo "token $pid $token"; fi;
    done 2>/dev/null;
    echo {_END}; exit 0
""")
_APP = re.compile(r"(?P<pid>\d{1,10}), *(?P<gpu>[^,]{1,80}), *(?P<name>.{0,1000})")
_MARK = re.compile(r"(?P<what>user|token) (?P<pid>\d{1,10}) (?P<value>\S{1,128})")
_NOBODY = re.compile(r"No running processes found\.?", re.IGNORECASE)
SHOWN = 3


def part() -> Part:
    """`pid, gpu_uuid, name` lines of nvidia-smi, `user <pid> <user>` and `token <pid> <token>` from /proc, `end`."""
    return Part(NAME, 20, _TEXT, GPU_DRIVER)


def read(output: PartOutput | None, gpus: Reading[tuple[Gpu, ...]]) -> Reading[tuple[GpuProcess, ...]]:
    """Observed and empty only where nvidia-smi ended well and every line was understood.

    That it lists nobody counts only where the same look shows that its driver answers: `gpus`.
    """
    answer = usable(_SOURCE, output)
    if isinstance(answer, Reading):
        return answer
    if not gpus.observed:
        return Reading(ReadingState.UNPARSABLE, None, gpus.evidence)
    *told, end = answer.stdout.splitlines() or [""]
    blank = sum(not line.strip() for line in told)
    if end != _END or blank > 1 or not explained(answer.rc, answer.stderr.splitlines()):
        return garbled(_SOURCE, answer)
    names: dict[int, str] = {}
    marks: dict[tuple[str, int], str] = {}
    lines: list[str] = []
    for line in told:
        app, mark = _APP.fullmatch(line.strip()), _MARK.fullmatch(line.strip())
        if mark is not None:
            marks[mark["what"], int(mark["pid"])] = mark["value"]
        elif app is not None:
            names.setdefault(int(app["pid"]), app["name"].strip())
            lines.append(line)
        elif line.strip() and not _NOBODY.fullmatch(line.strip()):
            return garbled(_SOURCE, answer)
    # A process of a lost GPU is not listed, and a user without a process was not told by the same answer.
    if answer.rc != 0 or says_lost(answer.stderr) or not {pid for _, pid in marks} <= names.keys():
        return garbled(_SOURCE, answer)
    processes = tuple(
        GpuProcess(pid, name, marks.get(("user", pid)), marks.get(("token", pid))) for pid, name in names.items()
    )
    return Reading(ReadingState.OBSERVED, processes, quote(_SOURCE, lines))


def foreign(reading: Reading[tuple[GpuProcess, ...]], own_token: str) -> tuple[GpuProcess, ...] | None:
    """The processes that are not of this run; None where that could not be seen."""
    if not reading.observed or reading.value is None:
        return None
    return tuple(process for process in reading.value if process.token is None or process.token != own_token)


def judge(
    host: str, reading: Reading[tuple[GpuProcess, ...]], own_token: str, *, allow_busy: bool = False
) -> CheckResult:
    """SKIPPED where somebody computes, INCONCLUSIVE where that cannot be seen: neither may be loaded."""
    others = foreign(reading, own_token)
    if others is None:
        tool_missing = reading.state is ReadingState.TOOL_MISSING
        rule = "busy.tool_missing" if tool_missing else "busy.unreadable"
        verdict, message = Verdict.INCONCLUSIVE, say("probe.busy.unreadable", detail=reading.detail)
    elif not others:
        verdict, rule, message = Verdict.PASS, "busy.idle", say("probe.busy.idle")
    elif allow_busy:
        verdict, rule = Verdict.PASS, "busy.allowed"
        message = say("probe.busy.allowed", count=len(others), who=who(others))
    else:
        verdict = Verdict.SKIPPED
        rule, message = _busy(others)
    count = None if others is None else float(len(others))
    return CheckResult(
        CHECK,
        node(host),
        verdict,
        message,
        rule,
        stage="probe",
        observed=count,
        expected=0.0,
        unit="processes",
        evidence=reading.evidence,
    )


def _busy(others: tuple[GpuProcess, ...]) -> tuple[str, Message]:
    tokens = sorted({process.token for process in others if process.token is not None})
    if len(tokens) == 1 and all(process.token for process in others):
        return "busy.leftover", say("probe.busy.leftover", count=len(others), who=who(others), token=tokens[0])
    return "busy.foreign", say("probe.busy.foreign", count=len(others), who=who(others))


def who(processes: tuple[GpuProcess, ...]) -> Arg:
    """`python (pid 4711, user alice)` of the first few, and how many more."""
    return few([_one(process) for process in processes], SHOWN)


def _one(process: GpuProcess) -> Message:
    name: Arg = process.name.rpartition("/")[2][:60] or say("probe.process.nameless")
    if not process.user:
        return say("probe.process", name=name, pid=process.pid)
    return say("probe.process.of", name=name, pid=process.pid, user=process.user)
