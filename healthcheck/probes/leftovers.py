"""What of a run is still alive on a host, and its end. Pure: a command and how to read its answer.

A process belongs to the run when its environment holds `HEALTHCHECK_TOKEN=TOKEN`, or when it is the wrapper itself
(`healthcheck-run TOKEN` in its command line). It must be ours by user id as well, and only what still has the start
time it was found with is signalled, so that a pid given to somebody else meanwhile is safe.
"""

from __future__ import annotations

import re

from msgspec import Struct

from healthcheck.launchers.wrapper import RUN_MARK, TOKEN_VARIABLE
from healthcheck.model.component import node
from healthcheck.model.finding import CheckResult
from healthcheck.model.message import listed, say
from healthcheck.model.node import RunProcess
from healthcheck.model.reading import Reading, ReadingState
from healthcheck.model.verdict import Verdict
from healthcheck.probes.batch import READ_TOKEN, Part, PartOutput, one_line
from healthcheck.probes.trouble import garbled, quote, usable

NAME = "leftovers"
CHECK = "node.leftovers"
_SOURCE = "processes with a healthcheck token"
# Tokens of our own short commands: a look, a sweep, a copy and a tidying up load nothing.
_HARMLESS = ("probe-", "sweep-", "tidy-", "push-")
_SHOWN = 3
_LINE = re.compile(r"(?P<pid>[0-9]{1,10}) (?P<token>\S{1,128}) ?(?P<name>.{0,64})")
_LOOK_TEXT = one_line(f"""
    grep -lsz ^{TOKEN_VARIABLE}= /proc/[0-9]*/environ | while IFS=/ read -r a b pid c; do
        [ -O "/proc/$pid" ] || continue;
        {READ_TOKEN}
        read -r name 2>/dev/null <"/proc/$pid/comm" || continue;
        echo "$pid $token $name";
    done; exit 0
""")

SWEEP_MARK = "healthcheck-sweep"
# The last line of a sweep: an answer that broke off before it must not read as "nothing left".
SWEEP_END = "swept"

# Two greps look at all processes, however many there are; what follows costs a fork only for those found.
SWEEP_SCRIPT = f"""
token=$1 mode=$2
above=' ' pid=$$
while [ "$pid" -gt 1 ] && read -r line <"/proc/$pid/stat"; do
    above="$above$pid "
    line=${{line##*) }} line=${{line#* }} pid=${{line%% *}}
done
carriers() {{
    grep -lszxF -e "{TOKEN_VARIABLE}=$token" /proc/[0-9]*/environ
    grep -lszF -e {RUN_MARK} /proc/[0-9]*/cmdline | while read -r file; do
        case " $(tr '\\0' ' ' <"$file")" in *" {RUN_MARK} $token "*) echo "$file" ;; esac
    done
}}
found() {{
    carriers 2>/dev/null | sort -u | while IFS=/ read -r _ _ pid _; do
        case "$above$seen" in *" $pid "*) continue ;; esac
        seen="$seen $pid "
        [ -O "/proc/$pid" ] && read -r line <"/proc/$pid/stat" || continue
        name=${{line#*(}} name=${{name%)*}}
        set -- ${{line##*) }}
        case $1 in [ZX]) ;; *) echo "$pid ${{20}} $1 $name" ;; esac
    done 2>/dev/null
}}
signal() {{
    name=$1
    found | while read -r pid start _; do
        read -r line <"/proc/$pid/stat" && set -- ${{line##*) }} && [ "${{20}}" = "$start" ] && kill "-$name" "$pid"
    done 2>/dev/null
}}
none_within() {{
    n=$(($1 * 4))
    while left=$(found) && [ -n "$left" ]; do
        [ $n -gt 0 ] || return 1
        n=$((n - 1))
        sleep 0.25
    done
}}
seen=''
if [ "$mode" = end ] && [ -n "$(found)" ]; then
    signal TERM
    none_within 5 || {{ signal KILL; none_within 2; }}
fi
found | while read -r line; do echo "left $line"; done
echo "{SWEEP_END}"
exit 0
"""


class Leftover(Struct, frozen=True):
    """A process that is still there: `started` is field 22 of its stat, which with the pid names it for good."""

    pid: int
    started: str
    state: str
    name: str


def sweep_argv(token: str, *, end: bool) -> tuple[str, ...]:
    """Look for processes of our user that carry `token`; with `end`, end them (TERM, 5 s, KILL).

    Prints a line `left PID START STATE NAME` for each that is there at the end, then `swept`. Run it under another
    token.
    """
    return ("sh", "-c", SWEEP_SCRIPT, SWEEP_MARK, token, "end" if end else "look")


def parse_sweep(stdout: str) -> tuple[Leftover, ...] | None:
    """The processes a sweep left; None when its answer is not whole. Lines of login files are passed over."""
    lines = stdout.splitlines()
    if SWEEP_END not in lines:
        return None
    found = []
    for line in lines:
        words = line.split(None, 4)
        if len(words) >= 4 and words[0] == "left" and words[1].isdigit():
            found.append(Leftover(int(words[1]), words[2], words[3], words[4] if len(words) > 4 else ""))
    return tuple(found)


def part() -> Part:
    """Lines `PID TOKEN NAME` of our own processes that carry the token of any run."""
    return Part(NAME, 10, _LOOK_TEXT)


def read(output: PartOutput | None) -> Reading[tuple[RunProcess, ...]]:
    """Observed and empty only where the look itself ended well."""
    answer = usable(_SOURCE, output)
    if isinstance(answer, Reading):
        return answer
    lines = [_LINE.fullmatch(line.strip()) for line in answer.stdout.splitlines()]
    if answer.rc != 0 or None in lines:
        return garbled(_SOURCE, answer)
    found = [
        RunProcess(int(line["pid"]), line["token"], line["name"])
        for line in lines
        if line is not None and not line["token"].startswith(_HARMLESS)
    ]
    shown = [f"{process.pid} {process.token} {process.name}" for process in found]
    return Reading(ReadingState.OBSERVED, tuple(found), quote(_SOURCE, shown))


def judge(
    host: str, reading: Reading[tuple[RunProcess, ...]], own_token: str, *, allow_busy: bool = False
) -> CheckResult:
    """SKIPPED where another run of this user is at work or left something: two runs would measure each other."""
    if reading.value is None:
        message = say("probe.busy.unreadable", detail=reading.detail)
        return CheckResult(
            CHECK, node(host), Verdict.INCONCLUSIVE, message, "busy.unreadable", "probe", evidence=reading.evidence
        )
    others = tuple(process for process in reading.value if process.token != own_token)
    if not others:
        return CheckResult(CHECK, node(host), Verdict.PASS, say("probe.leftovers.none"), "busy.idle", "probe")
    who = listed(say("probe.process", name=process.name, pid=process.pid) for process in others[:_SHOWN])
    message = say("probe.leftovers.found", count=len(others), who=who, token=others[0].token)
    verdict, rule = (Verdict.PASS, "busy.allowed") if allow_busy else (Verdict.SKIPPED, "busy.leftover")
    return CheckResult(
        CHECK,
        node(host),
        verdict,
        message,
        rule,
        "probe",
        float(len(others)),
        0.0,
        "processes",
        reading.evidence,
    )
