"""A look at the GPUs of a node while a benchmark runs on it: clocks that were lowered, PCIe that did not speed up."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from msgspec.structs import replace

from healthcheck.model.command import CollectiveJob, JobOutcome
from healthcheck.model.finding import CheckResult
from healthcheck.model.gpu_facts import GpuStates
from healthcheck.model.host import Host
from healthcheck.model.node import NodeFacts
from healthcheck.model.reading import Reading
from healthcheck.ports import RunStore
from healthcheck.probes import gpu_state
from healthcheck.probes.batch import split
from healthcheck.workflows.engine import Engine
from healthcheck.workflows.look import ask
from healthcheck.workflows.request import RunRequest


class LoadedLooks:
    """Takes one look a job, on worker threads; what was answered is kept with the raw output of that job."""

    def __init__(self, request: RunRequest, engine: Engine) -> None:
        self._request = request
        self._engine = engine

    def take(self, job: CollectiveJob, hosts: tuple[Host, ...], measuring: Callable[[], bool]) -> None:
        """Look at the only host of a job. What was seen counts only if the job still measures afterwards."""
        if not measuring():  # among many jobs the workers may come to it late
            return
        (host,) = hosts
        _, text, nonce = ask(host, (gpu_state.part(),), self._request, self._engine.transport, self._engine.cancel)
        if measuring():
            self._engine.store.save_under_load(job.id, job.stage, nonce, text)


def loaded_checks(
    stage: str, outcomes: Iterable[JobOutcome], before: Mapping[str, NodeFacts], store: RunStore
) -> tuple[CheckResult, ...]:
    """The results of the looks that were kept, by host in their order of names; no look, no result.

    Of several jobs of a host the last one counts. `before`: what the first look saw of each host, so that a GPU that is
    missing now is missed.
    """
    seen: dict[str, Reading[GpuStates]] = {}
    for outcome in outcomes:
        job = outcome.job
        kept = store.under_load(job.id, job.stage) if len(job.hosts) == 1 else None
        if kept is not None:
            nonce, text = kept
            seen[job.hosts[0]] = gpu_state.read(split(text, nonce).get(gpu_state.NAME))
    return tuple(
        replace(check, stage=stage)
        for host, reading in sorted(seen.items())
        for check in gpu_state.judge_under_load(host, reading, _gpus(before.get(host)))
    )


def _gpus(facts: NodeFacts | None) -> int:
    return 0 if facts is None else len(facts.gpus.value or ())
