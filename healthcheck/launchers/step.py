"""One srun step that runs a command of its own on each of many nodes, and brings every answer back apart. Pure.

srun gives one stream for all of its tasks, and speaks in it itself. So each task sends what its command prints as
lines, which slurmd hands on whole as long as they are below 1,024 bytes; NONCE is new for every step:

    @@NONCE MEMBER up         the task has begun
    @@NONCE MEMBER o BASE64   a piece of stdout; `e` of stderr; `.` instead of a piece ends that stream
    @@NONCE MEMBER rc CODE    the command has ended; what still holds its output open is given 10 s more, the rest none

A task finds its command by the name slurmd has for its node. Words that several commands share travel once: SPEC has
a line `NODE MEMBER I J K ...` for each, the numbers of its words. stdin of the step goes to all tasks: a line with the
number of a member ends that one (its wrapper then ends the command), the end of stdin ends all; or, where the step
brings a file, it is that file.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Sequence

from msgspec import Struct

from healthcheck.launchers.srun import step_words
from healthcheck.model.slurm import SlurmJob

STEP_MARK = "healthcheck-step"
"""$0 of the script."""

STDOUT, STDERR = "o", "e"
CONTROL, FILE = "control", "file"
"""What the stdin of a step is."""

HELD_OPEN_S = 10
"""Seconds from the end of a command until its task ends: on a node that is busy its last words may still be coded."""

STEP_SCRIPT = "\n".join(
    (
        # What the shell itself has to say, of a helper that it ended, is no answer of the command.
        "exec 2>/dev/null; nonce=$1 mode=$2 spec=$3; shift 3",
        "node=${SLURMD_NODENAME:-$(uname -n)} who= list=",
        "while read -r name number words; do",
        'if [ "$name" = "$node" ]; then who=$number list=$words; break; fi; done <<END',
        "$spec",
        "END",
        '[ "$who" ] || exit 0',
        'line=; for i in $list; do line="$line \\"\\${$i}\\""; done',
        'eval "set -- $line"',
        'tag="@@$nonce $who"',
        "coded() {",
        'while d=$(dd bs=65536 count=1 2>/dev/null | base64 -w 720) && [ "$d" ]; do',
        "for l in $d; do printf '%s %s %s\\n' \"$tag\" $1 $l; done; done",
        "printf '%s %s .\\n' \"$tag\" $1; }",
        "watch() { read -r p x </proc/self/stat; echo $p;",
        'while read -r x; do if [ "$x" = "$who" ]; then exit; fi; done; }',
        "ended() { printf '%s rc %s\\n' \"$tag\" $1 >&4;",
        f"( sleep {HELD_OPEN_S}; kill -KILL 0 ) </dev/null >/dev/null 2>&1 3>&- 4>&- & }}",
        'run() { read -r p; "$@" 2>&3 3>&- 4>&-; ended $?; kill $p; }',
        "printf '%s up\\n' \"$tag\"",
        f"if [ $mode = {FILE} ]; then",
        '{ { { "$@" 2>&3 3>&- 4>&-; ended $?; } | coded o >&4; } 3>&1 | coded e >&4; } 4>&1',
        'else { { watch | run "$@" | coded o >&4; } 3>&1 | coded e >&4; } 4>&1; fi',
        # Both streams have ended: the helper of `ended`, or what the command left behind, is not waited for.
        "trap '' TERM; kill -TERM 0; exit 0",
    )
)


class Member(Struct, frozen=True):
    """One command of a step: the name Slurm has for its node, and its words."""

    node: str
    words: tuple[str, ...]


class Frame(Struct, frozen=True):
    """One line of a task. `kind` is `up`, `rc`, or a stream; `data` a piece of it, None at its end."""

    member: int
    kind: str
    data: bytes | None = None
    code: int | None = None


def step_argv(members: Sequence[Member], nonce: str, mode: str, slurm: SlurmJob) -> tuple[str, ...]:
    """The srun command line of one step with one task a member; the nodes of the members differ."""
    numbers: dict[str, int] = {}
    for member in members:
        for word in member.words:
            numbers.setdefault(word, len(numbers) + 1)
    spec = "\n".join(
        " ".join((member.node, str(index), *(str(numbers[word]) for word in member.words)))
        for index, member in enumerate(members)
    )
    count = len(members)
    return (
        *step_words(slurm),
        *("--mpi=none", "--kill-on-bad-exit=0", "--quiet", "--input=all", "--job-name=healthcheck"),
        f"--nodelist={','.join(member.node for member in members)}",
        *(f"--nodes={count}", f"--ntasks={count}", "--ntasks-per-node=1"),
        *([f"--gpus-per-node={slurm.gpus_per_node}"] if slurm.gpus_per_node is not None else []),
        *("sh", "-c", STEP_SCRIPT, STEP_MARK, nonce, mode, spec, *numbers),
    )


class Frames:
    """Reads the frames out of what srun prints, in pieces of any length; everything else there is dropped."""

    def __init__(self, nonce: str) -> None:
        self._begin = f"@@{nonce} ".encode()
        self._rest = b""

    def read(self, data: bytes) -> list[Frame]:
        """The frames that are whole now."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        return [frame for line in lines if (frame := self._frame(line)) is not None]

    def _frame(self, line: bytes) -> Frame | None:
        at = line.find(self._begin)
        if at < 0:
            return None
        words = line[at + len(self._begin) :].decode("ascii", "replace").split()
        if len(words) < 2 or not words[0].isdecimal():
            return None
        member, kind, value = int(words[0]), words[1], words[2] if len(words) == 3 else ""
        if kind == "up":
            return Frame(member, kind)
        if kind == "rc":
            return Frame(member, kind, code=int(value)) if value.isdecimal() else None
        if kind not in (STDOUT, STDERR):
            return None
        try:
            return Frame(member, kind, None if value == "." else base64.b64decode(value, validate=True))
        except binascii.Error:
            return None


_ON_NODE = re.compile(r"(?:launch|connect)[^\n]{0,200}? (?:failed on|on|to) node (?P<node>[\w.-]+)", re.IGNORECASE)
_NO_JOB = re.compile(
    r"Invalid job id|already completing or completed|Unable to confirm allocation|Job has been revoked|"
    r"[Jj]ob \S* ?(?:has )?(?:expired|been cancelled)",
)
_NOISE = re.compile(r"lacks support for cpu binding|Job step aborted|Force Terminated")


def blamed_nodes(text: str) -> frozenset[str]:
    """The nodes of which srun says that it could not start its task there."""
    return frozenset(match["node"].rstrip(".") for match in _ON_NODE.finditer(text))


def job_is_over(text: str) -> bool:
    """Whether srun says that there is no such job any more: no other node will do better."""
    return _NO_JOB.search(text) is not None


def complaint(text: str, node: str = "") -> str:
    """The line in which srun says what was wrong, of one node where it names it; empty where it said nothing."""
    lines = [line.strip() for line in text.splitlines() if line.strip() and _NOISE.search(line) is None]
    named = [line for line in lines if node and node in line]
    line = next(iter((*named, *lines)), "")
    return re.sub(r"^srun: (?:error: )?", "", line)[:200]
