"""Which versions are installed? They are compared with those of the other nodes; unread ones are said to be unseen."""

from __future__ import annotations

import re

from healthcheck.model.component import node
from healthcheck.model.finding import CheckResult
from healthcheck.model.message import say
from healthcheck.model.node import NodeFacts
from healthcheck.model.reading import Reading, ReadingState
from healthcheck.model.system_facts import Software
from healthcheck.model.verdict import Verdict
from healthcheck.probes.batch import GPU_DRIVER, Part, PartOutput, one_line
from healthcheck.probes.trouble import garbled, usable
from healthcheck.probes.unseen import unseen

NAME = "software"
CHECK = "software.versions"

# nvidia-smi comes last: where it hangs, the rest is already said.
_TEXT = one_line("""
    echo "kernel $(uname -r)";
    sed -n "s/^PRETTY_NAME=/os /p" /etc/os-release 2>/dev/null | tr -d "\\"" | head -n 1;
    lib=$(ldconfig -p 2>/dev/null | sed -n "s/.*libnccl\\.so\\.2 .*=> *//p" | head -n 1);
    if [ -n "$lib" ]; then echo "nccl $(readlink -f "$lib")"; fi;
    if command -v ofed_info >/dev/null 2>&1; then echo "ofed $(ofed_info -s 2>/dev/null | head -n 1)"; fi;
    sed -n "s/^NVRM version: /modules /p" /proc/driver/nvidia/version 2>/dev/null | head -n 1;
    if [ -e /.dockerenv ]; then echo "container docker"; elif [ -e /run/.containerenv ]; then echo "container podman";
    elif [ -d /.singularity.d ]; then echo "container apptainer"; elif [ -d /var/run/secrets/kubernetes.io ];
        then echo "container kubernetes"; fi;
    nvidia-smi 2>/dev/null | head -n 12 | sed -n "s/.*CUDA Version: *\\([0-9.]*\\).*/cuda \\1/p" | head -n 1;
    exit 0
""")
_NCCL = re.compile(r"libnccl\.so\.(\d{1,3}\.\d{1,3}\.\d{1,3})")
_VERSION = re.compile(r"\d{1,5}(?:\.\d{1,5}){1,3}")


def part() -> Part:
    """Lines `kernel`, `os`, `nccl <library>`, `ofed`, `modules <NVRM line>`, `container`, `cuda`; `kernel` always."""
    return Part(NAME, 15, _TEXT, GPU_DRIVER)


def read(output: PartOutput | None) -> Reading[Software]:
    """Observed with the kernel alone; a node need not have any of the others."""
    answer = usable(NAME, output)
    if isinstance(answer, Reading):
        return answer
    words = {key: value.strip() for key, _, value in map(_parted, reversed(answer.stdout.splitlines()))}
    kernel = words.get("kernel", "")
    if answer.rc != 0 or not re.fullmatch(r"\d[\w.+~-]{0,100}", kernel, re.ASCII):
        return garbled(NAME, answer)
    nccl = _NCCL.search(words.get("nccl", ""))
    cuda = _VERSION.fullmatch(words.get("cuda", ""))
    modules = words.get("modules", "")
    return Reading(
        ReadingState.OBSERVED,
        Software(
            os=words.get("os") or None,
            kernel=kernel,
            cuda=cuda[0] if cuda is not None else None,
            nccl=nccl[1] if nccl is not None else None,
            ofed=words.get("ofed", "").rstrip(":") or None,
            modules=None if not modules else "open" if "Open Kernel Module" in modules else "closed",
            container=words.get("container") or None,
        ),
    )


def _parted(line: str) -> tuple[str, str, str]:
    return line[:300].partition(" ")


def judge(facts: NodeFacts) -> tuple[CheckResult, ...]:
    """Nothing is wrong with a version by itself; without any of them drift stays hidden."""
    if facts.software.value is None:
        return (unseen(CHECK, facts.host, facts.software, say("probe.software.hides"), needed=False),)
    return (CheckResult(CHECK, node(facts.host), Verdict.PASS, say("probe.software.read"), "software.read", "probe"),)
