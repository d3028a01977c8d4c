"""The suggested lines of a cause, filled in for one component."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence

from healthcheck.model.component import Component, Kind

_ONE_GPU = " -i {gpu}"


def suggested(argvs: Iterable[Sequence[str]], component: Component, run_id: str) -> tuple[str, ...]:
    """Each word quoted; lines about a host, or about a device, only where the component has one."""
    host = component.host
    device = component.text.partition("/")[2].partition(":")[2]
    gpu = device if component.kind is Kind.GPU else ""
    lines: list[str] = []
    for argv in argvs:
        needed = " ".join(argv)
        if (host is None and "{host}" in needed) or (not device and "{device}" in needed):
            continue
        there = argv[0] == "ssh"
        words = [
            word.replace(_ONE_GPU, f" -i {shlex.quote(gpu)}" if gpu else "")
            .replace("{host}", host or "")
            .replace("{device}", shlex.quote(device) if there else device)
            .replace("{run_id}", run_id)
            for word in argv
        ]
        lines.append(shlex.join(words))
    return tuple(lines)
