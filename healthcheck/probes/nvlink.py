"""Are all NVLinks there, and did they stay clean while the benchmarks ran?

Links are counted and their speeds compared, never summed: the tool prints the line rate with coding overhead.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Never

from msgspec.structs import replace

from healthcheck.model.finding import CheckResult
from healthcheck.model.gpu_facts import GpuLinks, LinkCounter
from healthcheck.model.gpu_models import board_gpu
from healthcheck.model.message import Arg, say
from healthcheck.model.platform import Platform
from healthcheck.model.reading import Evidence, Reading, ReadingState, noted
from healthcheck.model.verdict import Verdict
from healthcheck.parsing.nvidia_smi import SAYS_NO_LINKS, explained, lost_lines, nvlinks, says_lost
from healthcheck.probes.all_seen import of_all
from healthcheck.probes.batch import GPU_DRIVER, Part, PartOutput, one_line
from healthcheck.probes.per_gpu import Fault, of_node, results
from healthcheck.probes.trouble import garbled, quote, usable
from healthcheck.probes.unseen import unseen

NAME = "nvlink"
LINKS_CHECK = "nvlink.links"
ERRORS_CHECK = "nvlink.errors"
_STATUS, _ERRORS = "nvidia-smi nvlink -s", "nvidia-smi nvlink -e"
_MARKS = ("#status", "#errors", "#end")
_TEXT = one_line(f"""
    echo "#status"; {_STATUS}; code=$?;
    if [ "$code" = 127 ]; then exit 127; fi;
    echo "#errors"; {_ERRORS}; echo "#end"; exit "$code"
""")
_TIMEOUT_S = 25
"""Two calls, of up to 10 s each where persistence mode is off."""

_COMPLAINT = re.compile(r"NVML|unable|fail|error|unknown", re.IGNORECASE)
_WORST_FIRST = ("recovery", "replay", "crc")


def part() -> Part:
    """`#status`, the links of every GPU, `#errors`, their counters, `#end`; exit code of the former."""
    return Part(NAME, _TIMEOUT_S, _TEXT, GPU_DRIVER)


def read(output: PartOutput | None) -> Reading[tuple[GpuLinks, ...]]:
    """One entry a GPU; without links where it has none. Observed and empty: the tool lists no GPU at all.

    A line that says that a GPU is lost is quoted in `evidence`.
    """
    answer = usable(_STATUS, output)
    if isinstance(answer, Reading):
        return _in_its_words(answer)
    reading = _read(answer)
    return garbled(_STATUS, _unmarked(answer)) if reading is None else reading


def _read(answer: PartOutput) -> Reading[tuple[GpuLinks, ...]] | None:
    """None: it answered something else."""
    status, framed, errors = answer.stdout.removeprefix("#status\n").partition("#errors\n")
    if not (framed and answer.stdout.startswith("#status\n") and errors.endswith("#end")):
        return None
    gpus, above = nvlinks(status, errors.removesuffix("#end"))
    lost = lost_lines(status)
    complaints = [
        line for line in (*answer.stderr.splitlines(), *above) if says_lost(line) or not SAYS_NO_LINKS.search(line)
    ]
    # The tool may well end with another code than 0 where no GPU has links; on a board that is no answer.
    none_there = not any(gpu.links or board_gpu(gpu.name) is not None for gpu in gpus) and bool(gpus)
    if not explained(0 if none_there else answer.rc, (*complaints, *lost)):
        return None
    if len({gpu.index for gpu in gpus}) != len(gpus) or len({gpu.uuid for gpu in gpus}) != len(gpus):
        return None
    return Reading(ReadingState.OBSERVED, gpus, quote(_STATUS, dict.fromkeys((*complaints, *lost))))


def _in_its_words(reading: Reading[Never]) -> Reading[Never]:
    """Without the marks of our own between the words of the tool."""
    words = tuple(entry for entry in reading.evidence if entry.text not in _MARKS)
    return replace(reading, evidence=words or (noted(_STATUS, say("evidence.no_output")),))


def _unmarked(answer: PartOutput) -> PartOutput:
    lines = [line for line in answer.stdout.splitlines() if line.strip() not in _MARKS]
    return replace(answer, stdout="\n".join(dict.fromkeys(lines)))


def judge(host: str, reading: Reading[tuple[GpuLinks, ...]], platform: Platform | None) -> tuple[CheckResult, ...]:
    """Each GPU with fewer, inactive or slower links than it should have; once for the node when none has.

    Expected are the links of the GPU model where the platform is known, else those that most GPUs of the node have.
    """
    gpus = reading.value
    if not reading.observed or gpus is None:
        return (unseen(LINKS_CHECK, host, reading, say("probe.nvlink.hides")),)
    expected = {gpu.index: _expected(gpu, gpus, platform) for gpu in gpus}
    silent = [gpu for gpu in gpus if board_gpu(gpu.name) is not None and not (gpu.links or gpu.all_inactive)]
    if len(silent) == len(gpus) > 1 and not any(gpu.trouble for gpu in gpus):
        message = say("probe.nvlink.none_listed")
        evidence = tuple(_quoted(gpu, f"links listed: none ({gpu.name})") for gpu in silent[:1])
        return (of_node(LINKS_CHECK, host, Verdict.INCONCLUSIVE, "nvlink.unreadable", message, evidence),)
    if not any(gpu.trouble for gpu in gpus) and not any(expected.values()):
        return (of_node(LINKS_CHECK, host, Verdict.SKIPPED, "nvlink.does_not_apply", say("probe.nvlink.absent")),)
    best = max((link.speed_gbyte_s or 0.0 for gpu in gpus for link in gpu.links), default=0.0)
    faults = [fault for gpu in gpus if (fault := _fault(gpu, expected[gpu.index], best)) is not None]
    well = of_node(LINKS_CHECK, host, Verdict.PASS, "nvlink.all_active", say("probe.nvlink.all_active"))
    return results(LINKS_CHECK, host, faults, len(gpus), well)


def _expected(gpu: GpuLinks, gpus: tuple[GpuLinks, ...], platform: Platform | None) -> int:
    """Links this GPU should have; 0 where it may well have none: cards carry a bridge or not."""
    board = board_gpu(gpu.name)
    if board is not None and platform is not None and platform.gpu.count > 1:
        return board.links
    if board is None and not gpu.active:
        return 0
    if len(gpus) == 1:
        return len(gpu.links)
    if board is not None and not gpu.active and (gpu.all_inactive or gpu.links):
        return board.links
    counts = Counter(other.active for other in gpus if board is not None or other.active)
    return max(counts, key=lambda active: (counts[active], active), default=0)


def _fault(gpu: GpuLinks, expected: int, best_gbyte_s: float) -> Fault | None:
    missing = gpu.active < expected
    # On a card, half of the links is another bridge rather than a broken one.
    verdict = Verdict.FAIL if board_gpu(gpu.name) is not None else Verdict.DEGRADED
    numbers = float(gpu.active), float(expected)
    if gpu.trouble and (missing or not gpu.links or _COMPLAINT.search(gpu.trouble)):
        message = say("probe.nvlink.unreadable", line=gpu.trouble)
        return Fault(gpu.index, Verdict.INCONCLUSIVE, "nvlink.unreadable", message, (_quoted(gpu, gpu.trouble),))
    if missing and not gpu.active and (gpu.all_inactive or gpu.links):
        said = "all links are inactive" if gpu.all_inactive else f"{len(gpu.links)} x <inactive>"
        return Fault(
            gpu.index, verdict, "nvlink.all_inactive", say("probe.nvlink.all_inactive"), (_quoted(gpu, said),), *numbers
        )
    inactive = [link.number for link in gpu.links if link.speed_gbyte_s is None]
    if missing and inactive:
        names = ", ".join(map(str, inactive))
        message = say("probe.nvlink.inactive", count=len(inactive), links=len(gpu.links), names=names)
        evidence = tuple(_quoted(gpu, f"Link {number}: <inactive>") for number in inactive[:4])
        return Fault(gpu.index, verdict, "nvlink.inactive", message, evidence, *numbers, "links")
    if missing:
        message = say("probe.nvlink.fewer", active=gpu.active, expected=expected)
        listed = " ".join(str(link.number) for link in gpu.links) or "none"
        said = f"links listed: {listed}"
        return Fault(gpu.index, verdict, "nvlink.fewer", message, (_quoted(gpu, said),), *numbers, "links")
    slow = [link for link in gpu.links if link.speed_gbyte_s is not None and link.speed_gbyte_s < best_gbyte_s]
    if not slow:
        return None
    names = ", ".join(str(link.number) for link in slow)
    slowest = min(link.speed_gbyte_s or 0.0 for link in slow)
    message = say("probe.nvlink.slow", names=names, speed=slowest, best=best_gbyte_s)
    evidence = tuple(_quoted(gpu, f"Link {link.number}: {link.speed_gbyte_s:g} GB/s") for link in slow[:4])
    return Fault(gpu.index, Verdict.DEGRADED, "nvlink.slow", message, evidence, slowest, best_gbyte_s, "GB/s")


def _quoted(gpu: GpuLinks, text: Arg) -> Evidence:
    return noted(f"{_STATUS} -i {gpu.index}", text)


def judge_after(
    host: str, before: Reading[tuple[GpuLinks, ...]], after: Reading[tuple[GpuLinks, ...]]
) -> tuple[CheckResult, ...]:
    """Error counters that grew between two looks, and links that went down; resets in between say nothing."""
    for reading in (after, before):
        if not reading.observed or reading.value is None:
            return (unseen(ERRORS_CHECK, host, reading, say("probe.nvlink.after_hides"), needed=False),)
    # The others move up where a GPU has gone.
    first = {gpu.uuid: gpu for gpu in before.value or ()}
    pairs = [(first[gpu.uuid], gpu) for gpu in after.value or () if gpu.uuid in first]
    if not any(was.links or was.counters for was in first.values()):
        return (of_node(ERRORS_CHECK, host, Verdict.SKIPPED, "nvlink.does_not_apply", say("probe.nvlink.absent")),)
    faults = [fault for was, now in pairs if (fault := _grown(was, now)) is not None]
    if not faults and not any(was.counters for was in first.values()):
        said = noted(_ERRORS, say("evidence.no_counters"))
        silent: Reading[object] = Reading(ReadingState.TOOL_MISSING, None, (said,))
        return (unseen(ERRORS_CHECK, host, silent, say("probe.nvlink.after_hides")),)
    well = of_node(ERRORS_CHECK, host, Verdict.PASS, "nvlink.clean", say("probe.nvlink.clean"))
    return of_all(results(ERRORS_CHECK, host, faults, len(pairs), well), after, len(first))


def _grown(before: GpuLinks, after: GpuLinks) -> Fault | None:
    if after.active < before.active:
        message = say("probe.nvlink.dropped", count=before.active - after.active)
        said = _quoted(after, say("evidence.active_links", before=before.active, after=after.active))
        numbers = float(after.active), float(before.active)
        return Fault(after.index, Verdict.FAIL, "nvlink.dropped", message, (said,), *numbers, "links")
    if after.counters == before.counters:
        return None
    if not after.counters:
        none = (noted(f"{_ERRORS} -i {after.index}", say("evidence.no_counters")),)
        return Fault(after.index, Verdict.INCONCLUSIVE, "nvlink.unreadable", say("probe.nvlink.no_counters"), none)
    first = {(counter.link, counter.label): counter.count for counter in before.counters}
    grown = [
        counter
        for counter in after.counters
        if (was := first.get((counter.link, counter.label))) is not None and counter.count > was
    ]
    for kind in _WORST_FIRST:
        found = [counter for counter in grown if kind in counter.label.lower()]
        if found:
            total = sum(counter.count - first[counter.link, counter.label] for counter in found)
            names = ", ".join(dict.fromkeys(str(counter.link) for counter in found))
            message = say("probe.nvlink.grew", count=total, label=found[0].label, names=names)
            evidence = tuple(_counted(after, counter, first) for counter in found[:4])
            return Fault(
                after.index, Verdict.DEGRADED, f"nvlink.{kind}", message, evidence, float(total), 0.0, "errors"
            )
    return None


def _counted(gpu: GpuLinks, counter: LinkCounter, first: dict[tuple[int, str], int]) -> Evidence:
    was = first[counter.link, counter.label]
    told = say("evidence.counted", link=counter.link, label=counter.label, count=counter.count, was=was)
    return noted(f"{_ERRORS} -i {gpu.index}", told)
