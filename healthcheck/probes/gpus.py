"""Which GPUs does the driver show?"""

from __future__ import annotations

import re

from healthcheck.model.component import gpu as gpu_of
from healthcheck.model.component import node
from healthcheck.model.finding import CheckResult
from healthcheck.model.message import Message, say
from healthcheck.model.node import Gpu
from healthcheck.model.platform import Platform
from healthcheck.model.reading import Evidence, Reading, ReadingState, noted
from healthcheck.model.verdict import Verdict
from healthcheck.parsing.nvidia_smi import NONE_FOUND, absent, explained, failed, says_lost
from healthcheck.probes.all_seen import VANISHED, lost_line
from healthcheck.probes.batch import GPU_DRIVER, Part, PartOutput
from healthcheck.probes.per_gpu import of_node
from healthcheck.probes.trouble import garbled, quote, usable
from healthcheck.probes.unseen import unseen

NAME = "gpus"
COUNT_CHECK = "gpu.count"
MODEL_CHECK = "gpu.model"
STAYED_CHECK = "gpu.stayed"
UNREADABLE = frozenset({"gpu.tool_missing", "gpu.no_driver", "gpu.unreadable"})
"""The rules of `gpu.count` where the driver did not say which GPUs there are."""

_SOURCE = "nvidia-smi"
_QUERY = "nvidia-smi --query-gpu=index,uuid,name,pci.bus_id,driver_version --format=csv,noheader"
_NO_DRIVER = re.compile(
    r"couldn't communicate with the NVIDIA driver|Driver/library version mismatch|NVML Shared Library", re.IGNORECASE
)


def part() -> Part:
    """The csv lines of nvidia-smi: index, uuid, name, pci.bus_id, driver_version."""
    return Part(NAME, 20, _QUERY, GPU_DRIVER)


def read(output: PartOutput | None) -> Reading[tuple[Gpu, ...]]:
    """Observed also when nvidia-smi lists fewer GPUs and says it lost one; then `evidence` quotes that line."""
    answer = usable(_SOURCE, output)
    if isinstance(answer, Reading):
        return answer
    found: list[Gpu] = []
    rest: list[str] = []
    for line in answer.stdout.splitlines():
        gpu = _gpu(line)
        if gpu is not None:
            found.append(gpu)
        elif line.strip():
            rest.append(line)
    complaints = [*(line for line in answer.stderr.splitlines() if line.strip()), *rest]
    text = "\n".join(complaints)
    twice = len({gpu.index for gpu in found}) != len(found) or len({gpu.uuid for gpu in found}) != len(found)
    if twice or not (found or says_lost(text) or NONE_FOUND.search(text)) or not explained(answer.rc, complaints):
        return garbled(_SOURCE, answer)
    return Reading(ReadingState.OBSERVED, tuple(found), quote(_SOURCE, complaints))


def _gpu(line: str) -> Gpu | None:
    fields = [field.strip() for field in line[:1000].split(",")]
    if len(fields) != 5 or not fields[0].isascii() or not fields[0].isdigit() or len(fields[0]) > 4:
        return None
    if not fields[1].upper().startswith(("GPU-", "MIG-")) or absent(fields[2]) or failed(fields[2]):
        return None
    index, uuid, name, bus_id, driver = fields
    return Gpu(int(index), uuid, name, bus_id, None if absent(driver) or failed(driver) else driver)


def judge(host: str, reading: Reading[tuple[Gpu, ...]], platform: Platform | None) -> tuple[CheckResult, ...]:
    """`gpu.count` always; `gpu.model` only where there are GPUs and something to compare them with."""
    found = reading.value if reading.observed else None
    expected = platform.gpu.count if platform is not None else None
    verdict, rule, message = _count(reading, found, expected)
    count = CheckResult(
        COUNT_CHECK,
        node(host),
        verdict,
        message,
        rule,
        stage="probe",
        observed=None if found is None else float(len(found)),
        expected=None if expected is None else float(expected),
        unit="GPUs",
        evidence=_listed(reading),
    )
    if not found or platform is None:
        return (count,)
    return (count, _model(host, found, platform))


def _count(
    reading: Reading[tuple[Gpu, ...]], found: tuple[Gpu, ...] | None, expected: int | None
) -> tuple[Verdict, str, Message]:
    if found is None:
        return _unreadable(reading)
    lost = lost_line(reading.evidence)
    if lost is not None:
        return Verdict.FAIL, "gpu.lost", say("probe.gpu.lost", found=len(found), line=lost.text)
    if not found:
        return Verdict.FAIL, "gpu.none", say("probe.gpu.none")
    if expected is None:
        return Verdict.INCONCLUSIVE, "gpu.no_platform", say("probe.gpu.no_platform", found=len(found))
    if len(found) < expected:
        return Verdict.FAIL, "gpu.fewer", say("probe.gpu.fewer", found=len(found), expected=expected)
    if len(found) > expected:
        return Verdict.INCONCLUSIVE, "gpu.more", say("probe.gpu.more", found=len(found), expected=expected)
    return Verdict.PASS, "gpu.all_there", say("probe.gpu.all_there", found=len(found))


def _unreadable(reading: Reading[tuple[Gpu, ...]]) -> tuple[Verdict, str, Message]:
    if reading.state is ReadingState.TOOL_MISSING:
        return Verdict.INCONCLUSIVE, "gpu.tool_missing", say("probe.gpu.tool_missing")
    if any(_NO_DRIVER.search(entry.text) for entry in reading.evidence):
        return Verdict.INCONCLUSIVE, "gpu.no_driver", say("probe.gpu.no_driver")
    return Verdict.INCONCLUSIVE, "gpu.unreadable", say("probe.gpu.unreadable", detail=reading.detail)


def _model(host: str, found: tuple[Gpu, ...], platform: Platform) -> CheckResult:
    other = [gpu for gpu in found if not platform.gpu.means(gpu.name)]
    if other:
        names = ", ".join(sorted({gpu.name for gpu in other}))
        verdict, rule = Verdict.INCONCLUSIVE, "gpu.other_model"
        message = say("probe.gpu.other_model", names=names, platform=platform.name)
        shown = other
    else:
        verdict, rule, message = Verdict.PASS, "gpu.model_matches", say("probe.gpu.model_matches", name=found[0].name)
        shown = list(found[:1])
    lines = (f"{gpu.index}, {gpu.uuid}, {gpu.name}, {gpu.bus_id}" for gpu in shown)
    return CheckResult(MODEL_CHECK, node(host), verdict, message, rule, stage="probe", evidence=quote(_SOURCE, lines))


def judge_after(
    host: str, before: Reading[tuple[Gpu, ...]], after: Reading[tuple[Gpu, ...]]
) -> tuple[CheckResult, ...]:
    """Which GPUs were listed before the benchmarks, and are not any more."""
    hides = say("probe.gpu.stayed_hides")
    if before.value is None:
        return (unseen(STAYED_CHECK, host, before, hides, needed=False),)
    if after.value is None:
        return (unseen(STAYED_CHECK, host, after, hides),)
    lost = lost_line(after.evidence)
    still = {gpu.uuid for gpu in after.value}
    gone = [gpu for gpu in before.value if gpu.uuid not in still]
    if not gone and lost is not None:
        message = say("probe.gpu.vanished", line=lost.text)
        return (of_node(STAYED_CHECK, host, Verdict.FAIL, VANISHED, message, (lost,)),)
    if not gone:
        return (of_node(STAYED_CHECK, host, Verdict.PASS, "gpu.all_stayed", say("probe.gpu.stayed")),)
    return tuple(_gone(host, gpu, after, lost) for gpu in gone)


def _gone(host: str, gpu: Gpu, after: Reading[tuple[Gpu, ...]], lost: Evidence | None) -> CheckResult:
    line = f"{gpu.index}, {gpu.uuid}, {gpu.name}, {gpu.bus_id}"
    message = say("probe.gpu.gone", line=line) if lost is None else say("probe.gpu.vanished", line=lost.text)
    evidence = (noted(say("evidence.before_benchmarks", source=_SOURCE), line), *_listed(after)[:2])
    return CheckResult(
        STAYED_CHECK, gpu_of(host, gpu.index), Verdict.FAIL, message, VANISHED, stage="probe", evidence=evidence
    )


def _listed(reading: Reading[tuple[Gpu, ...]]) -> tuple[Evidence, ...]:
    """The complaints of the tool; without any, what it listed."""
    if reading.evidence or reading.value is None:
        return reading.evidence
    indexes = " ".join(str(gpu.index) for gpu in reading.value)
    return (noted(_SOURCE, say("evidence.gpus_listed", indexes=indexes)),)
