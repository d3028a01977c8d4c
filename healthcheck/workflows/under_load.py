"""A look at the GPUs of a node while a benchmark runs on it: clocks that were lowered, PCIe that did not speed up."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec.structs import replace

from healthcheck.model.finding import CheckResult
from healthcheck.model.gpu_facts import GpuStates
from healthcheck.model.host import Host
from healthcheck.model.node import NodeFacts
from healthcheck.model.reading import Reading
from healthcheck.probes import gpu_state
from healthcheck.probes.batch import split
from healthcheck.workflows.engine import Engine
from healthcheck.workflows.look import ask
from healthcheck.workflows.request import RunRequest


class LoadedLooks:
    """Collects one look a host, on worker threads; judged when the stage is over."""

    def __init__(self, request: RunRequest, engine: Engine) -> None:
        self._request = request
        self._engine = engine
        self._seen: dict[str, Reading[GpuStates]] = {}

    def take(self, hosts: tuple[Host, ...], measuring: Callable[[], bool]) -> None:
        """Look at the only host of a job. What was seen counts only if the job still measures afterwards."""
        if not measuring():  # among many jobs the workers may come to it late
            return
        (host,) = hosts
        _, text, nonce = ask(host, (gpu_state.part(),), self._request, self._engine.transport, self._engine.cancel)
        if measuring():
            self._seen[host.name] = gpu_state.read(split(text, nonce).get(gpu_state.NAME))

    def checks(self, stage: str, before: Mapping[str, NodeFacts]) -> tuple[CheckResult, ...]:
        """The results, by host in their order of names; a host whose job was too short for a look has none.

        `before`: what the first look saw of each host, so that a GPU that is missing now is missed.
        """
        return tuple(
            replace(check, stage=stage)
            for host, reading in sorted(self._seen.items())
            for check in gpu_state.judge_under_load(host, reading, len(before[host].gpus.value or ()))
        )
