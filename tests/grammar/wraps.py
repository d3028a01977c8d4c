"""The same run behind every launcher and logger, and after every accident on its way to us."""

from __future__ import annotations

import json

from healthcheck.model.collective import Collective
from tests.grammar.build import Output

GOOD = Output("E5d")
LINES = GOOD.text.splitlines()
_LEFT = len("    33554432       8388608     float     sum      -1")
_HALF = len("   554.62   60.50   90.75       0")
_WARN = "nodeA:4000:4044 [0] misc/ibvwrap.cc:38 NCCL WARN Failed to open libibverbs.so[.1]\n"
_INFO = "nodeA:4000:4044 [0] NCCL INFO Connected all rings\n"


def _tag_in_rows(tag: str) -> str:
    rows = [tag + line[:_LEFT] + tag + line[_LEFT : _LEFT + _HALF] + tag + line[_LEFT + _HALF :] for line in GOOD.rows]
    before = "".join(tag + line for line in GOOD.head.splitlines(keepends=True))
    return before + "".join(rows) + "".join(tag + line for line in GOOD.footer.splitlines(keepends=True))


def _numbered(before: str, behind: str) -> str:
    return "".join(f"{before}{index % 60:02d}{behind}{line}\n" for index, line in enumerate(LINES))


def _glued_tail(rest: str) -> str:
    """From the second row on, with somebody's text in it."""
    return GOOD.rows[1][:_LEFT] + rest + GOOD.rows[1][_LEFT:] + GOOD.rows[2] + GOOD.footer


def _two_processes(*tags: str) -> str:
    """Each process prints a whole table of its own, line by line in turn."""
    alone = Output("E5d", ranks=GOOD.table.devices[:1])
    return "".join(tag + line + "\n" for line in alone.text.splitlines() for tag in tags)


def _alltoallv_summary() -> str:
    output = Output("E5f", Collective.ALLTOALLV)
    summary = (
        "# NCCL_TESTS_ALLTOALLV_PRINT_SUMMARY: mode=generated nranks=4 total_bytes=4194304 spread=0.100 time_usec=9.5\n"
        "#   rank=0 send_bytes=1048576 recv_bytes=1048576 alg_bw=1.10 bus_bw=0.82\n"
    )
    rows = [
        line[:_LEFT] + summary + line[_LEFT : _LEFT + _HALF] + summary + line[_LEFT + _HALF :] for line in output.rows
    ]
    return output.head + "".join(rows) + output.footer


_EATEN = "".join(" ".join(line.lstrip("# ").split()) + "\n" for line in LINES)
_ELIDED = GOOD.head + GOOD.rows[0] + "...\n" + GOOD.rows[2] + GOOD.footer

WRAP_TEXTS: dict[str, str | bytes] = {
    "ompi4-tag": GOOD.tagged("[1,0]<stdout>:"),
    "ompi4-timestamp": _numbered("Thu Aug 27 01:33:", " 2020[1,0]<stdout>:"),
    "ompi4-timestamp-only": _numbered("Thu Aug 27 01:33:", " 2020<stdout>:"),
    "ompi5-tag": GOOD.tagged("[1,0]<stdout>: "),
    "ompi5-tag-detailed": GOOD.tagged("[prterun-gpu-01-4711@1,0]<stdout>: "),
    "ompi4-tag-inside-rows": _tag_in_rows("[1,0]<stdout>:"),
    "hydra-inside-rows": _tag_in_rows("[0] "),
    "srun-label": GOOD.tagged(" 0: "),
    "kubectl-timestamps": _numbered("2025-01-03T09:37:", ".123456789Z "),
    "kubectl-pod": GOOD.tagged("[pod/launcher-x7/main] "),
    "cri": _numbered("2025-01-03T09:37:", ".123456789Z stdout F "),
    "stern": GOOD.tagged("launcher-x7 main | "),
    "docker-compose": GOOD.tagged("launcher-1  | "),
    "skypilot": GOOD.tagged("(head, rank=0, pid=3808) "),
    "ray": GOOD.tagged("(BenchWorker pid=3808, ip=10.0.0.7) "),
    "python-logging": _numbered("2025-01-03 09:37:", ",123 INFO [runner-7] "),
    "syslog": _numbered("Jan 03 09:37:", " gpu01 bench[4711]: "),
    "grep-with-line-numbers": "".join(f"{number}:{line}\n" for number, line in enumerate(LINES, 1)),
    "pdsh-two-hosts": _two_processes("gpu01: ", "gpu02: "),
    "list-of-ansible": '    "stdout_lines": [\n' + "".join(f'        "{line}",\n' for line in LINES) + "    ]\n",
    "list-of-python": repr(LINES) + "\n",
    "json-line-each": "".join(json.dumps({"log": line + "\n", "stream": "stdout"}) + "\n" for line in LINES),
    "json-message-each": "".join(json.dumps({"level": "info", "message": line}) + "\n" for line in LINES),
    "json-line-for-all": json.dumps({"level": "info", "data": {"stdout": GOOD.text, "rc": 0}}) + "\n",
    "repr-of-bytes": f"INFO result: stdout={GOOD.text.encode()!r} rc=0\n",
    "markdown-quoted": GOOD.tagged("> "),
    "markdown-indented": GOOD.tagged("    "),
    "markdown-eaten": _EATEN,
    "markdown-table": "".join(f"| {line} |\n" for line in LINES),
    "html-entities": GOOD.text.replace("#", "&#35;"),
    "tabs": GOOD.text.replace("  ", "\t"),
    "blanks-that-do-not-break": GOOD.text.replace(" ", "\u00a0"),
    "markdown-rows-elided": _ELIDED,
    "ansi-colour": "".join(f"\x1b[36m{line}\x1b[0m\n" for line in LINES),
    "crlf": GOOD.text.replace("\n", "\r\n"),
    "old-mac-line-ends": GOOD.text.replace("\n", "\r"),
    "byte-order-mark": b"\xef\xbb\xbf" + GOOD.text.encode(),
    "utf16-powershell": GOOD.text.encode("utf-16"),
    "nul-bytes": GOOD.text.replace("#\n", "\0#\0\n").encode(),
    "not-utf8": b"caf\xe9 \xff\xfe\n" + GOOD.text.replace("nodeA", "nod\u00e9A").encode("latin-1"),
    "nccl-log-between-and-inside-rows": GOOD.head + _INFO + GOOD.rows[0] + "\n" + _WARN + _glued_tail(_INFO),
    "alltoallv-summary-inside-rows": _alltoallv_summary(),
    "two-tables": GOOD.text + Output("E4b", Collective.REDUCE).text,
    "crash-then-good-run": GOOD.head
    + GOOD.rows[0]
    + "nodeB: Test CUDA failure common.cu:9 'unknown error'\n"
    + GOOD.text,
    "not-mpi-build-tagged": _two_processes("[1,0]<stdout>:", "[1,1]<stdout>:"),
    "not-mpi-build-untagged": _two_processes("", ""),
    "containers-side-by-side": _two_processes("left-1  | ", "right-1  | "),
    "command-line-names-the-collective": (
        "+ mpirun -np 4 --host nodeA:2,nodeB:2 /opt/nccl-tests/build/all_reduce_perf -b 1M -e 1G -f 32 -g 1\n"
        + Output("E4b").text
    ),
}
