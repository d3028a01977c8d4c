"""Can the NICs of a node reach the memory of its GPUs (GPUDirect RDMA)?

Either of two ways is enough: the module nvidia_peermem (nv_peer_mem in older days), or DMA-BUF, which needs the open
modules of the driver and a kernel of at least 5.12. With neither, everything between nodes goes through main memory.
The kernels of RHEL 8 call themselves 4.18 and carry much of later ones, so there it is not known whether DMA-BUF works.
Amazon's EFA brings a way of its own.
"""

from __future__ import annotations

import re

from healthcheck.model.component import node
from healthcheck.model.fabric_facts import GpuDirect
from healthcheck.model.finding import CheckResult
from healthcheck.model.fleet import Settings
from healthcheck.model.message import Message, say
from healthcheck.model.node import NodeFacts
from healthcheck.model.platform import Platform
from healthcheck.model.reading import Evidence, Reading, ReadingState, noted
from healthcheck.model.verdict import Verdict
from healthcheck.probes.batch import Part, PartOutput, one_line
from healthcheck.probes.trouble import garbled, quote, usable
from healthcheck.probes.unseen import unseen

NAME = "gpudirect"
CHECK = "gdr.support"
MODULES = "/proc/modules"
_DRIVER = "/proc/driver/nvidia/version"
_END = "#end"

# The kernel spells modules with underscores; a hand-made build may not. Its log is closed to most users: then no line.
_TEXT = one_line(f"""
    if [ -r {MODULES} ]; then :; else echo "{MODULES}: not found" >&2; exit 127; fi;
    text=$(grep -E "^(nvidia[_-]peermem|nv[_-]peer[_-]mem|gdrdrv|efa|mlx5_ib) " {MODULES});
    if [ -n "$text" ]; then printf "%s\\n" "$text" | sed "s/^/module /"; fi;
    for file in /sys/module/nvidia_peermem/version /sys/module/nv_peer_mem/version
        /sys/kernel/mm/memory_peers/*/version; do
        if read -r line 2>/dev/null <"$file"; then echo "version $file $line"; fi;
    done;
    if read -r line 2>/dev/null <{_DRIVER}; then echo "driver $line"; fi;
    if read -r line 2>/dev/null </proc/sys/kernel/osrelease; then echo "kernel $line"; fi;
    case "$text" in *peermem*|*peer[_-]mem*) ;; *)
        path=$(modinfo -n nvidia_peermem 2>/dev/null);
        if [ -n "$path" ]; then echo "installed $path"; fi;
        dmesg 2>/dev/null | grep -i -e peermem -e peer_mem |
            grep -i -e "unknown symbol" -e "disagrees" -e "invalid argument" | tail -n 3 | sed "s/^/log /" ;;
    esac;
    echo "{_END}"
""")
_LINE = re.compile(r"(module|version|driver|kernel|installed|log) (\S.*)")


def part() -> Part:
    """Lines `module`, `version`, `driver`, `kernel`, `installed`, `log` (of a failed load), then `#end`."""
    return Part(NAME, 5, _TEXT)


def read(output: PartOutput | None) -> Reading[GpuDirect]:
    """Observed also where nothing of it is there: then the node really has neither way."""
    answer = usable(MODULES, output)
    if isinstance(answer, Reading):
        return answer
    lines = answer.stdout.splitlines()
    values: dict[str, list[str]] = {}
    for line in lines[:-1]:
        match = _LINE.fullmatch(line[:400].rstrip())
        if match is None:
            return garbled(MODULES, answer)
        values.setdefault(match[1], []).append(match[2])
    if answer.rc != 0 or not lines or lines[-1] != _END or "kernel" not in values:
        return garbled(MODULES, answer)
    found = GpuDirect(
        modules=tuple(values.get("module", ())),
        versions=tuple(values.get("version", ())),
        driver=next(iter(values.get("driver", ())), None),
        kernel=values["kernel"][0],
        installed=next(iter(values.get("installed", ())), None),
        complaints=tuple(values.get("log", ())),
    )
    return Reading(ReadingState.OBSERVED, found)


def judge(
    host: str, reading: Reading[GpuDirect], platform: Platform | None, *, together: bool
) -> tuple[CheckResult, ...]:
    """One result for the node. `together`: a job over several nodes is to follow, which is lamed without."""
    found = reading.value
    if found is None:
        return (unseen(CHECK, host, reading, say("probe.gdr.hides")),)
    if found.driver is None or not _rdma(found, platform):
        return (_result(host, Verdict.SKIPPED, "gdr.does_not_apply", say("probe.gdr.does_not_apply")),)
    if found.peermem:
        return (_result(host, Verdict.PASS, "gdr.peermem", say("probe.gdr.peermem")),)
    if found.dma_buf:
        return (_result(host, Verdict.PASS, "gdr.dma_buf", say("probe.gdr.dma_buf")),)
    lamed = together and platform is not None and not found.dma_buf_unknown
    if found.complaints:
        message = say("probe.gdr.load_failed", line=found.complaints[-1][:200])
        return (
            _result(
                host,
                Verdict.FAIL if lamed else Verdict.DEGRADED,
                "gdr.load_failed",
                message,
                quote("dmesg", found.complaints),
            ),
        )
    evidence = (
        noted(MODULES, "; ".join(found.modules) or say("evidence.no_peermem")),
        Evidence(_DRIVER, found.driver),
        Evidence("/proc/sys/kernel/osrelease", found.kernel or ""),
    )
    if found.dma_buf_unknown:
        silent = Reading[GpuDirect](ReadingState.TOOL_MISSING, evidence=evidence[1:])
        return (unseen(CHECK, host, silent, say("probe.gdr.hides"), needed=False),)
    if found.installed:
        message = say("probe.gdr.not_loaded", path=found.installed)
        return (_result(host, Verdict.FAIL if lamed else Verdict.DEGRADED, "gdr.not_loaded", message, evidence),)
    return (_result(host, Verdict.FAIL if lamed else Verdict.DEGRADED, "gdr.none", say("probe.gdr.none"), evidence),)


def _rdma(found: GpuDirect, platform: Platform | None) -> bool:
    """Whether the compute NICs are of the kind that needs one of the two ways."""
    if found.has("efa"):
        return False
    return found.has("mlx5_ib") if platform is None else platform.has_verbs


def _result(
    host: str, verdict: Verdict, rule: str, message: Message, evidence: tuple[Evidence, ...] = ()
) -> CheckResult:
    return CheckResult(CHECK, node(host), verdict, message, rule, stage="probe", evidence=evidence)


def settings(facts: NodeFacts) -> Settings:
    """`gpudirect`: by which way NICs reach GPU memory."""
    found = facts.gpudirect.value
    if found is None or found.driver is None or (found.dma_buf_unknown and not found.peermem):
        return ()
    ways = [way for way, there in (("nvidia_peermem", found.peermem), ("dma-buf", found.dma_buf)) if there]
    return (("gpudirect", " and ".join(ways) or "none"),)
