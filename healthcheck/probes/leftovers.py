"""What of a run is still alive on a host, and its end. (First cut; see the transport's contract tests.)"""

from __future__ import annotations

from msgspec import Struct

SWEEP_MARK = "healthcheck-sweep"
SWEEP_SCRIPT = r"""
token=$1 mode=$2 me=$(id -u)
find_ours() {
    grep -lszE "^HEALTHCHECK_TOKEN=$token\$" /proc/[0-9]*/environ 2>/dev/null | while IFS=/ read -r a b pid c; do
        [ "$(stat -c %u "/proc/$pid" 2>/dev/null)" = "$me" ] || continue
        read -r stat 2>/dev/null <"/proc/$pid/stat" || continue
        rest=${stat##*) }
        set -- $rest
        [ "$1" = Z ] || echo "$pid ${20} $1 $(cat "/proc/$pid/comm" 2>/dev/null)"
    done
}
before=$(find_ours)
if [ "$mode" = end ] && [ -n "$before" ]; then
    for signal in TERM KILL; do
        find_ours | while read -r pid start rest; do
            case "$before" in *"$pid $start "*) kill -$signal "$pid" 2>/dev/null ;; esac
        done
        i=0
        while [ $i -lt 20 ] && [ -n "$(find_ours)" ]; do sleep 0.25; i=$((i + 1)); done
    done
fi
find_ours | sed 's/^/left /'
"""


class Leftover(Struct, frozen=True):
    """A process that is still there: `started` is field 22 of its stat, which with the pid names it for good."""

    pid: int
    started: str
    state: str
    name: str


def sweep_argv(token: str, *, end: bool) -> tuple[str, ...]:
    """Look for processes of our user that carry `token`; with `end`, end them (TERM, 5 s, KILL)."""
    return ("sh", "-c", SWEEP_SCRIPT, SWEEP_MARK, token, "end" if end else "look")


def parse_sweep(stdout: str) -> tuple[Leftover, ...]:
    """The processes a sweep left, from its `left <pid> <start> <state> <name>` lines."""
    found = []
    for line in stdout.splitlines():
        words = line.split(None, 4)
        if len(words) >= 4 and words[0] == "left" and words[1].isdigit():
            found.append(Leftover(int(words[1]), words[2], words[3], words[4] if len(words) > 4 else ""))
    return tuple(found)
