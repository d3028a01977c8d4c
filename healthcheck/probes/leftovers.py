"""What of a run is still alive on a host, and its end. Pure: a command and how to read its answer.

A process belongs to the run when its environment holds `HEALTHCHECK_TOKEN=TOKEN`, or when it is the wrapper itself
(`healthcheck-run TOKEN` in its command line). It must be ours by user id as well, and only what still has the start
time it was found with is signalled, so that a pid given to somebody else meanwhile is safe.
"""

from __future__ import annotations

from msgspec import Struct

from healthcheck.launchers.wrapper import RUN_MARK, TOKEN_VARIABLE

SWEEP_MARK = "healthcheck-sweep"

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

    Prints a line `left PID START STATE NAME` for each that is there at the end. Run it under another token.
    """
    return ("sh", "-c", SWEEP_SCRIPT, SWEEP_MARK, token, "end" if end else "look")


def parse_sweep(stdout: str) -> tuple[Leftover, ...]:
    """The processes a sweep left; lines of login files and the like are passed over."""
    found = []
    for line in stdout.splitlines():
        words = line.split(None, 4)
        if len(words) >= 4 and words[0] == "left" and words[1].isdigit():
            found.append(Leftover(int(words[1]), words[2], words[3], words[4] if len(words) > 4 else ""))
    return tuple(found)
