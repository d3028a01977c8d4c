"""Did a look see every GPU? What it says of some of them is no PASS for their node.

A tool that skips a GPU prints a shorter list and nothing else, so every look is held against the GPUs that were listed
for the node, and against those its platform promises.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from healthcheck.model.fabric_facts import Topology
from healthcheck.model.finding import CheckResult
from healthcheck.model.gpu_facts import GpuLinks, GpuStates, RemappedRows
from healthcheck.model.gpu_models import board_gpu
from healthcheck.model.message import say
from healthcheck.model.node import Gpu
from healthcheck.model.platform import Platform
from healthcheck.model.reading import Evidence, Reading, noted
from healthcheck.model.verdict import Verdict
from healthcheck.parsing.nvidia_smi import says_lost

VANISHED, NOT_TOLD = "gpu.vanished", "gpu.not_told"

Look = Reading[GpuStates] | Reading[Topology] | Reading[tuple[GpuLinks, ...]] | Reading[tuple[RemappedRows, ...]]


def expected_gpus(gpus: Reading[tuple[Gpu, ...]], platform: Platform | None) -> int:
    """How many GPUs every look should tell of; 0 where nobody knows."""
    return max(len(gpus.value or ()), 0 if platform is None else platform.gpu.count)


def expected_on_board(gpus: Reading[tuple[Gpu, ...]], platform: Platform | None) -> int:
    """As `expected_gpus`, but only GPUs that their board joins: of cards without a bridge the tool may say nothing.

    One such GPU alone, as in a small virtual machine, has nobody to be joined with.
    """
    listed = sum(board_gpu(gpu.name) is not None for gpu in gpus.value or ())
    on_board = platform is not None and any(board_gpu(name) is not None for name in platform.gpu.names)
    expected = max(listed, platform.gpu.count if platform is not None and on_board else 0)
    return expected if expected > 1 else 0


def of_all(results: tuple[CheckResult, ...], look: Look, expected: int) -> tuple[CheckResult, ...]:
    """`results` of a look, where none is PASS, or said not to apply, if a GPU is lost or was not told of."""
    value = look.value
    if value is None:
        return results
    lost = lost_line(look.evidence)
    if lost is not None:
        message = say("probe.gpu.vanished", line=lost.text)
        return tuple(
            replace(result, verdict=Verdict.FAIL, rule=VANISHED, message=message, evidence=(lost,))
            if result.verdict is Verdict.PASS
            else result
            for result in results
        )
    seen = len(value.gpus if isinstance(value, GpuStates | Topology) else value)
    if seen >= expected:
        return results
    message = say("probe.gpu.not_told", seen=seen, expected=expected)
    numbers = noted("nvidia-smi", say("evidence.gpus_in_answer", indexes=seen))
    return tuple(
        replace(
            result,
            verdict=Verdict.INCONCLUSIVE,
            rule=NOT_TOLD,
            message=message,
            observed=float(seen),
            expected=float(expected),
            unit="GPUs",
            evidence=(numbers,),
        )
        if result.verdict is Verdict.PASS or result.rule.endswith(".does_not_apply")
        else result
        for result in results
    )


def lost_line(evidence: Iterable[Evidence]) -> Evidence | None:
    """The first line in which the driver says that it lost a GPU."""
    return next((entry for entry in evidence if says_lost(entry.text)), None)
