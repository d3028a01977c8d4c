"""The plain-sh wrapper every remote command runs in, so that nothing outlives us on a host.

`wrap` makes the one line a login shell gets:

    sh -c SCRIPT healthcheck-run TOKEN DEADLINE_S COUNT KEY=VALUE*COUNT ARGV...

What it promises there (dash, bash, busybox; Linux, for it reads /proc):

- ARGV runs in its own session and process group, stdin from /dev/null, `HEALTHCHECK_TOKEN=TOKEN` in its environment.
  Its exit code passes through, 128 + n for a signal; 124 when the deadline passed (as `timeout` does it).
- When the stdin of the wrapper ends (the SSH channel was closed, or the connection broke) or DEADLINE_S passes, the
  session is ended: INT to the group, 5 s later TERM, 5 s later KILL to every process of the session.
- What ARGV leaves behind in its process group after a normal end is ended too (TERM, 5 s, KILL).
- A command that ends by itself costs no waiting: the script sleeps in `read` on a pipe, into which the command, the
  watcher of stdin and the timer write one line each when something happens. None of them stays behind.

How it is built. The command is a foreground child of the left side of a pipe, because a shell starts background
commands with INT ignored, which a program inherits and INT could then never end it. Each process tells the right
side its own pid (the first word of /proc/self/stat, read without a fork); the right side is the only one that ends
processes, and always with KILL where they are our own watchers, so there is no race over a pid not yet known.
One line, without `!`, backslash or quote, because csh and fish read those inside single quotes.
"""

from __future__ import annotations

import re
import shlex

from healthcheck.errors import InputError
from healthcheck.model.command import Command

RUN_MARK = "healthcheck-run"
"""$0 of the script: with the token behind it, what the sweep looks for in command lines."""

TOKEN_VARIABLE = "HEALTHCHECK_TOKEN"  # noqa: S105 - the name of a mark, not a secret
DEADLINE_EXIT_CODE = 124
"""Exit code of the wrapper when the deadline passed. A command may use it too: the transport looks at the time."""

END_STEPS_S = 5.0
"""Seconds between INT, TERM and KILL."""

_PARTS = (
    "exec 3<&0 4>&1 5>&2 2>/dev/null",
    f"{TOKEN_VARIABLE}=$1",
    f"export {TOKEN_VARIABLE}",
    "d=$2 n=$3",
    "shift 3",
    # tell: "KIND PID" of whoever calls it, down the pipe
    'tell() { read -r x y </proc/self/stat; echo "$1 $x"; }',
    # members: stat lines of the living processes of the session $p (fields: pid (comm) state ppid pgrp session)
    'members() { grep -hs "^[0-9]* (.*) [^ZX] [0-9]* [0-9]* $p " /proc/[0-9]*/stat; }',
    "live() { members | grep -q . || kill -0 $p; }",
    "all() { members | while read -r x y; do kill -$1 $x; done; }",
    "end() { for s; do"
    " kill -$s -$p || kill -$s $p;"
    " if [ $s = INT ]; then :; else all $s; fi;"
    " i=0; while [ $i -lt 20 ] && live; do sleep 0.25 || sleep 1; i=$((i+1)); done;"
    " live || break; done; }",
    # left side of the pipe: the watcher of stdin, the timer, the command
    "{ ( tell bg; while read -r x; do :; done; echo eof ) <&3 3<&- 4>&- 5>&- &"
    " ( tell bg; ( tell bg; exec sleep $d >/dev/null ); echo late ) </dev/null 3<&- 4>&- 5>&- &"
    ' ( tell pid; while [ $n -gt 0 ]; do export "$1"; shift; n=$((n-1)); done;'
    ' exec setsid "$@" </dev/null >&4 2>&5 3<&- 4>&- 5>&- );'
    ' echo "rc $?"; } |'
    # right side: hears what happened first, ends what has to be ended
    " { exec 3<&- 4>&- 5>&-; p= r= w= b= done=;"
    " while read -r k v; do case $k in"
    " pid) p=$v;;"
    ' bg) if [ "$r$done" ]; then kill -KILL $v; else b="$b $v"; fi;;'
    " rc) r=$v; kill -KILL $b;;"
    ' *) [ "$r" ] || w=${w:-$k};; esac;'
    ' if [ "$w" ] && [ "$p" ] && [ -z "$r$done" ]; then done=1; end INT TERM KILL; kill -KILL $b; fi; done;'
    " kill -0 -$p && live && end TERM KILL;"
    f" if [ late = $w ]; then exit {DEADLINE_EXIT_CODE}; fi; exit ${{r:-255}}; }}",
)
SCRIPT = "; ".join(_PARTS)

_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_TOKEN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def wrap(command: Command) -> str:
    """The shell line that runs `command` on a host; every word of it is quoted.

    InputError for an environment name no shell can export.
    """
    _, _, _, mark, *words = wrapped_words(command)
    return " ".join(("sh -c", shlex.quote(SCRIPT), mark, *map(shlex.quote, words)))


def wrapped_words(command: Command) -> tuple[str, ...]:
    """The same as an argv, for what starts programs without a shell."""
    if _TOKEN.fullmatch(command.token) is None:
        raise ValueError(f"not a token: {command.token!r}")
    for key, value in command.env:
        if _KEY.fullmatch(key) is None:
            raise InputError(f"env: {key}", "not a name for an environment variable; letters, digits and _ only")
        if "\0" in value:
            raise InputError(f"env: {key}", "its value contains a NUL byte, which no environment can hold")
    assignments = [f"{key}={value}" for key, value in command.env]
    words = (command.token, _seconds(command.deadline_s), str(len(assignments)), *assignments, *command.argv)
    return ("sh", "-c", SCRIPT, RUN_MARK, *words)


def unwrap(line: str) -> Command | None:
    """The command inside a line made by `wrap`; None for any other line."""
    try:
        words = shlex.split(line)
        if words[:2] != ["sh", "-c"] or words[2:4] != [SCRIPT, RUN_MARK]:
            return None
        token, deadline, count = words[4:7]
        first = 7 + int(count)
        pairs = tuple((key, value) for key, _, value in (word.partition("=") for word in words[7:first]))
        return Command(argv=tuple(words[first:]), deadline_s=float(deadline), token=token, env=pairs)
    except ValueError:
        return None


def _seconds(value: float) -> str:
    """`sleep` of a small system takes whole seconds only: no fraction is written where there is none."""
    return str(int(value)) if float(value).is_integer() else repr(float(value))
