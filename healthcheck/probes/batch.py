"""All looks at a node in one remote command: one round trip, whatever hangs or shouts on the far side.

The parts run one after the other, on purpose: nothing is written to a disk that may be full or read-only, a node
with a job on it is hardly disturbed, and what was read before something broke has already arrived. Quick looks
come first, those that ask the GPU driver last; a part that hangs costs its own timeout and no more. Where several
parts ask one and the same, they are a group: after one of them hung, the others are not asked.

Every part is printed between marker lines that carry a nonce made up for this one batch:

    @@NONCE gpus out          what it wrote to stdout, at most OUTPUT_LIMIT bytes
    @@NONCE gpus err 0        its exit code, then what it wrote to stderr
    @@NONCE gpus end 0        0: ended by itself; 124 or 137: it was stopped after its timeout
    @@NONCE nvlink skip       alone: not asked

The first line of all is empty, so that a greeting without a line end does not swallow the first marker.
A login banner, a part that prints marker-like lines, or a stream cut anywhere can therefore cost one part, but
never move text from one part into another.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from healthcheck.launchers.wrapper import TOKEN_VARIABLE

PROBE_MARK = "healthcheck-probe"
OUTPUT_LIMIT = 256 * 1024
STDERR_LIMIT = 64 * 1024
GPU_DRIVER = "gpu_driver"
"""The group of the parts that ask the NVIDIA driver: where it hangs for one, it hangs for all."""
KILL_AFTER_S = 2
"""Seconds between the TERM at the timeout of a part and the KILL of what is still there."""

_TIMED_OUT = (124, 137)
_MARKER = re.compile(r"(?P<name>[a-z_]+) (?P<what>out|err|end|skip)(?: (?P<code>\d+))?\r?")
_SIGPIPE = 141


def one_line(script: str) -> str:
    """A readable script as one line: a login shell like csh takes no line end inside quotes."""
    return " ".join(line.strip() for line in script.strip().splitlines())


# Runs one part: $1 nonce, $2 name, $3 text. Descriptor 3 is the batch's stdout, 4 the pipe that bounds the part's
# stdout, 5 collects exit code and stderr. Only the part itself dies of the TERM of the timeout; the shells around it
# live on to print what it had said by then. A process stuck in the kernel survives even the KILL that follows, but
# holds only the inner pipes, so nothing the batch waits for.
_PART_SCRIPT = one_line(rf"""
    late=0; trap "late=1" TERM; exec 3>&1;
    answer=$(
        trap : TERM;
        {{ {{ {{ trap : TERM; ( trap - TERM; eval "$3" ) 3>&- 4>&- 5>&-; echo "$?" >&5; }} 2>&1 >&4 |
        {{ trap "" TERM; text=$(head -c {STDERR_LIMIT}; cat >/dev/null); printf %s "$text"; }} >&5; }} 4>&1 |
        {{ trap "" TERM; text=$(head -c {OUTPUT_LIMIT}; echo .); text=${{text%.}};
            printf "@@%s %s out\n%s\n" "$1" "$2" "$text"; }} >&3;
        }} 5>&1
    );
    printf "@@%s %s err %s\n" "$1" "$2" "$answer";
    code=0; if [ "$late" = 1 ]; then code=124; fi;
""")

# Without GNU's timeout: a session of its own for the part, ended from inside. HUP ends the watchdog afterwards.
_WATCHDOG = one_line(f"""
    {{ trap "" TERM; sleep "$4"; kill -TERM 0; sleep {KILL_AFTER_S}; kill -KILL 0; }} </dev/null >/dev/null 2>&1 &
""")

# Only GNU's timeout ends the whole process group, so a timeout of another make is not used.
BATCH_SCRIPT = one_line(rf"""
    LC_ALL=C; PATH=${{PATH:-/usr/bin:/bin}}:/usr/local/bin:/usr/sbin:/sbin; export LC_ALL PATH;
    nonce=$1; shift;
    part='{_PART_SCRIPT}';
    case $(timeout --version 2>/dev/null) in
        *coreutils*) gnu=1 ;;
        *) gnu=0; part='{_WATCHDOG}'" $part "'trap "" HUP; kill -HUP 0;' ;;
    esac;
    part="$part exit \$code";
    echo; hung=" ";
    while [ "$#" -ge 4 ]; do
        case "$hung" in *" $3 "*) printf "@@%s %s skip\n" "$nonce" "$1"; shift 4; continue ;; esac;
        if [ "$gnu" = 1 ]; then
            timeout -k {KILL_AFTER_S} "$2" sh -c "$part" healthcheck-part "$nonce" "$1" "$4";
        else
            setsid sh -c "$part" healthcheck-part "$nonce" "$1" "$4" "$2";
        fi </dev/null 2>/dev/null;
        code=$?; printf "@@%s %s end %s\n" "$nonce" "$1" "$code";
        case "$3 $code" in " "*) ;; *" 124" | *" 137") hung="$hung$3 " ;; esac;
        shift 4;
    done
""")


# Sets `token` to the token of process `$pid`, empty when it carries none or may not be read.
READ_TOKEN = f'token=$(tr "\\0" "\\n" 2>/dev/null <"/proc/$pid/environ" | sed -n "s/^{TOKEN_VARIABLE}=//p");'


class Part(Struct, frozen=True):
    """One look. `text`: one line of plain POSIX sh, without `!` for csh's sake; it gets no stdin and LC_ALL=C.

    `group`: what it asks, one word; after a part of it hung, those that follow are not asked. Empty: it stands alone.
    """

    name: str
    timeout_s: int
    text: str
    group: str = ""


class PartState(StrEnum):
    """How the output of a part ended. Only ENDED output is whole; NOT_ASKED has none, for its group hung before."""

    ENDED = "ended"
    TIMED_OUT = "timed_out"
    CUT = "cut"
    TRUNCATED = "truncated"
    NOT_ASKED = "not_asked"


class PartOutput(Struct, frozen=True):
    """What one part said. `rc` None: it never came to exit, or its exit code did not arrive.

    `stdout` and `stderr` are without trailing line ends.
    """

    name: str
    rc: int | None
    stdout: str
    stderr: str
    state: PartState


def batch_argv(parts: Sequence[Part], nonce: str) -> tuple[str, ...]:
    """The command that runs all parts. `nonce`: letters and digits nobody could guess, new for every batch."""
    argv = ["sh", "-c", BATCH_SCRIPT, PROBE_MARK, nonce]
    for part in parts:
        argv += [part.name, str(part.timeout_s), part.group, part.text]
    return tuple(argv)


def deadline_s(parts: Sequence[Part]) -> float:
    """Seconds within which the batch has ended even when every part hangs."""
    return float(sum(part.timeout_s + KILL_AFTER_S for part in parts) + 5)


def frame(nonce: str, name: str, rc: int, stdout: str, stderr: str) -> str:
    """One part as the batch script prints it; `rc` 124 says that it was stopped after its timeout."""
    end = rc if rc in _TIMED_OUT else 0
    return (
        f"@@{nonce} {name} out\n{stdout.rstrip(chr(10))}\n"
        f"@@{nonce} {name} err {rc}\n{stderr.rstrip(chr(10))}\n"
        f"@@{nonce} {name} end {end}\n"
    )


def split(stdout: str, nonce: str) -> dict[str, PartOutput]:
    """The parts found in the output of a batch, by name; whatever stands outside the frames is dropped.

    A part that did not run at all is absent. The first frame of a name counts.
    """
    head = f"\n@@{nonce} "
    pieces: list[_Piece] = []
    for chunk in f"\n{stdout}".split(head)[1:]:
        title, _, text = chunk.partition("\n")
        match = _MARKER.fullmatch(title)
        if match is not None:
            code = None if match["code"] is None else int(match["code"])
            pieces.append(_Piece(match["name"], match["what"], code, text))
        elif pieces:  # a part printed our mark, and something else behind it: its own text
            pieces[-1] = replace(pieces[-1], text=f"{pieces[-1].text}{head}{chunk}")
    parts: dict[str, PartOutput] = {}
    for index, piece in enumerate(pieces):
        if piece.name in parts:
            continue
        if piece.what == "out":
            parts[piece.name] = _joined(piece, pieces[index + 1 : index + 3])
        elif piece.what in ("end", "skip"):
            state = PartState.TIMED_OUT if piece.what == "end" else PartState.NOT_ASKED
            parts[piece.name] = PartOutput(piece.name, None, "", "", state)
    return parts


class _Piece(Struct, frozen=True):
    """What stands behind a marker line: of which part, which of `out`, `err`, `end` and `skip`, and its exit code."""

    name: str
    what: str
    code: int | None
    text: str


def _joined(out: _Piece, following: Sequence[_Piece]) -> PartOutput:
    rc: int | None = None
    err = ""
    state = PartState.TRUNCATED
    for piece in following:
        if piece.name != out.name or piece.what == "out":
            break
        if piece.what == "err":
            rc, err = piece.code, piece.text
        else:
            state = PartState.TIMED_OUT if piece.code in _TIMED_OUT else PartState.ENDED
            break
    text = out.text.rstrip("\n")
    if state is PartState.ENDED and rc is None:
        state = PartState.TRUNCATED
    # All of it counts, also line ends behind what was said.
    if state is PartState.ENDED and (_bytes(out.text) >= OUTPUT_LIMIT - 4 or rc == _SIGPIPE):
        state = PartState.CUT
    return PartOutput(out.name, rc, text, err.rstrip("\n"), state)


def _bytes(text: str) -> int:
    """How many there were before they were decoded; a replacement stands for one of them at least."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace")) - 2 * text.count("\ufffd")
