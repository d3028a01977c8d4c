"""What launchers, loggers and other processes do to an output before anybody saves it."""

from __future__ import annotations

import json
from collections.abc import Callable

from hypothesis import strategies as st

from healthcheck.simulator.render import footer, head, row_pieces
from tests.property.rendered import Meant

# name -> prefix of the n-th write; those of RANKS also stand inside a row that is written in pieces
RANKS: dict[str, Callable[[int], str]] = {
    "open mpi 4": lambda _: "[1,0]<stdout>:",
    "open mpi 4 with time": lambda n: f"Thu Aug 27 01:33:{n % 60:02d} 2020[1,0]<stdout>:",
    "open mpi 5": lambda _: "[1,0]<stdout>: ",
    "open mpi 5 in detail": lambda _: "[prterun-gpu-01-4711@1,0]<stdout>: ",
    "hydra": lambda _: "[0] ",
    "kubectl": lambda n: f"2025-01-03T09:37:{n % 60:02d}.123456789Z ",
}
LOGGERS: dict[str, Callable[[int], str]] = {
    "nothing": lambda _: "",
    "srun": lambda _: " 0: ",
    "kubectl pod": lambda _: "[pod/launcher-x7/main] ",
    "cri": lambda n: f"2025-01-03T09:37:{n % 60:02d}.123456789Z stdout F ",
    "sky": lambda _: "(head, rank=0, pid=3808) ",
    "ray": lambda _: "(Worker pid=3808, ip=10.0.0.7) ",
    "compose": lambda _: "launcher-1  | ",
    "stern": lambda _: "launcher-x7 main | ",
    "quoted": lambda _: "> ",
    "indented": lambda _: "    ",
    "colour": lambda _: "\x1b[36m",
    "python logging": lambda n: f"2025-01-03 09:37:{n % 60:02d},123 INFO [runner-7] ",
    "syslog": lambda n: f"Jan 03 09:37:{n % 60:02d} gpu01 bench[4711]: ",
    "both": lambda n: f"2025-01-03T09:37:{n % 60:02d}.1Z [1,0]<stdout>:",
}
NOISE = (
    "nodeA:17010:17044 [0] NCCL INFO Connected all rings",
    "nodeB:17011:17045 [1] NCCL INFO Channel 00/0 : 0[7000] -> 1[f000] via P2P/IPC/read",
    "nodeA:17010:17044 [0] misc/ibvwrap.cc:38 NCCL WARN Failed to open libibverbs.so[.1]",
    "NCCL version 2.29.7+cuda12.8",
    "[1700000000.123456] [nodeA:17010:0] parser.c:1885 UCX  WARN  unused env variable: UCX_X",
    "Warning: Permanently added 'nodeB' (ED25519) to the list of known hosts.",
    "epoch 3 loss 2.34 after 1200 steps on 8 devices",
    "Authorization required, but no authorization protocol specified",
    "",
)
ENDS = ("\n", "\r\n")


def plain(meant: Meant) -> list[str]:
    """The lines of the output, without their ends."""
    lines = head(meant.head, simulated=False).splitlines()
    lines += ["".join(row_pieces(meant.head, row)).rstrip("\n") for row in meant.rows]
    return lines + footer(meant.head, 12.5, 0).splitlines()


@st.composite
def disguised(draw: st.DrawFn, meant: Meant) -> str:
    """The output with noise between its lines and one kind of prefix in front of all of them."""
    every = RANKS | LOGGERS
    prefix = every[draw(st.sampled_from(sorted(every)))]
    lines: list[str] = []
    for line in plain(meant):
        lines += draw(st.lists(st.sampled_from(NOISE), max_size=2))
        lines.append(line)
    return draw(st.sampled_from(ENDS)).join([*(prefix(n) + line for n, line in enumerate(lines)), ""])


@st.composite
def torn(draw: st.DrawFn, meant: Meant) -> str:
    """Rows written in pieces: the tag before every piece, or another process's line between two of them."""
    tag = RANKS[draw(st.sampled_from(sorted(RANKS)))]
    glued = draw(st.booleans())
    text = "".join(tag(n) + line + "\n" for n, line in enumerate(head(meant.head, simulated=False).splitlines()))
    for row in meant.rows:
        pieces = row_pieces(meant.head, row)
        cut = draw(st.integers(1, len(pieces) - 1)) if glued else 0
        for index, piece in enumerate(pieces):
            if glued and index == cut:
                text += draw(st.sampled_from(NOISE[:3])) + "\n"
            # Only what begins a line or a write has a tag; behind glued text a new line begins.
            text += piece if glued and index not in (0, cut) else tag(index) + piece
    return text + "".join(tag(n) + line + "\n" for n, line in enumerate(footer(meant.head, 12.5, 0).splitlines()))


def markdown(meant: Meant) -> str:
    """Pasted as text into an issue: `#` eaten, blanks collapsed."""
    return "".join(" ".join(line.lstrip("# ").split()) + "\n" for line in plain(meant))


def one_json_line_each(meant: Meant) -> str:
    """As a container runtime writes its log."""
    return "".join(json.dumps({"log": line + "\n", "stream": "stdout"}) + "\n" for line in plain(meant))


def one_json_line_for_all(meant: Meant) -> str:
    """As a job runner logs the output of a command."""
    before = json.dumps({"level": "info", "msg": "starting"})
    return f"{before}\n{json.dumps({'level': 'info', 'msg': chr(10).join(plain(meant)) + chr(10)})}\n"


def escaped(meant: Meant) -> str:
    """As `repr` of the bytes that a command printed."""
    return f"INFO result: stdout={(chr(10).join(plain(meant)) + chr(10)).encode()!r} rc=0\n"


def utf16(meant: Meant) -> bytes:
    """As the `>` of an old PowerShell writes it."""
    return ("\n".join(plain(meant)) + "\n").encode("utf-16")
