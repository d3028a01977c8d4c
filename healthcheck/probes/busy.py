"""May a job start here right now? The short second look, just before a node is loaded."""

from __future__ import annotations

from collections.abc import Mapping

from healthcheck.model.finding import CheckResult
from healthcheck.model.verdict import Verdict
from healthcheck.probes import gpu_processes, gpus, leftovers
from healthcheck.probes.batch import Part, PartOutput


def busy_parts() -> tuple[Part, ...]:
    """The questions of this look; the GPUs show that the driver answers when it names no process."""
    return (leftovers.part(), gpus.part(), gpu_processes.part())


def judge_busy(
    host: str, parts: Mapping[str, PartOutput], own_token: str, allow_busy: bool = False
) -> tuple[CheckResult, ...]:
    """What keeps a job from starting on `host`; empty when it may start. Not being able to see keeps it too."""
    listed = gpus.read(parts.get(gpus.NAME))
    processes = gpu_processes.read(parts.get(gpu_processes.NAME), listed)
    runs = leftovers.read(parts.get(leftovers.NAME))
    results = (
        gpu_processes.judge(host, processes, own_token, allow_busy=allow_busy),
        leftovers.judge(host, runs, own_token, allow_busy=allow_busy),
    )
    return tuple(result for result in results if result.verdict is not Verdict.PASS)
