"""May a job start here right now? The short second look, just before a node is loaded."""

from __future__ import annotations

from collections.abc import Mapping

from healthcheck.model.finding import CheckResult
from healthcheck.model.verdict import Verdict
from healthcheck.probes import gpu_processes
from healthcheck.probes.batch import Part, PartOutput


def busy_parts() -> tuple[Part, ...]:
    """The one question of this look."""
    return (gpu_processes.part(),)


def judge_busy(
    host: str, parts: Mapping[str, PartOutput], own_token: str, allow_busy: bool = False
) -> tuple[CheckResult, ...]:
    """What keeps a job from starting on `host`; empty when it may start. Not being able to see keeps it too."""
    reading = gpu_processes.read(parts.get(gpu_processes.NAME))
    result = gpu_processes.judge(host, reading, own_token, allow_busy=allow_busy)
    return () if result.verdict is Verdict.PASS else (result,)
