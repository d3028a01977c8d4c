"""The jobs of a stage. Pure: the same playbook and hosts always give the same jobs with the same ids."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

from healthcheck.model.collective import Collective
from healthcheck.model.command import CollectiveJob
from healthcheck.model.host import Host
from healthcheck.model.playbook import Playbook, Stage


def _environment(playbook: Playbook, stage: Stage, extra: dict[str, str]) -> tuple[tuple[str, str], ...]:
    # What the playbook says wins over what we would set ourselves: it was written on purpose.
    return tuple(sorted({**extra, **playbook.env, **stage.env}.items()))


def _job(
    stage: Stage,
    collective: Collective,
    hosts: Sequence[Host],
    repeat: int,
    subject: str,
    launch_host: str | None,
    env: tuple[tuple[str, str], ...],
) -> CollectiveJob:
    suffix = f".r{repeat + 1}" if stage.repeats > 1 else ""
    return CollectiveJob(
        id=f"{stage.name}.{collective.value}.{subject}{suffix}",
        stage=stage.name,
        collective=collective,
        hosts=tuple(host.name for host in hosts),
        ranks_per_host=tuple(host.slots or 1 for host in hosts),
        launch_host=launch_host,
        min_bytes=int(stage.sizes.min),
        max_bytes=int(stage.sizes.max),
        factor=stage.sizes.factor,
        iterations=stage.iterations,
        warmup=stage.warmup,
        check=stage.check,
        timeout_s=float(stage.timeout),
        env=env,
        repeat=repeat,
    )


def single_node_jobs(
    playbook: Playbook, stage: Stage, hosts: Sequence[Host], *, from_here: bool = False
) -> tuple[CollectiveJob, ...]:
    """One job a host, collective and repeat, launched on the host itself, or all of them where healthcheck runs
    (`from_here`). `hosts` have their slots filled in."""
    env = _environment(playbook, stage, {})
    return tuple(
        _job(stage, collective, (host,), repeat, host.name, None if from_here else host.name, env)
        for collective in stage.collectives
        for repeat in range(stage.repeats)
        for host in hosts
    )


def multi_node_jobs(
    playbook: Playbook, stage: Stage, hosts: Sequence[Host], launch_host: str | None
) -> tuple[CollectiveJob, ...]:
    """All `hosts` together, one job a collective and repeat; none for fewer than two hosts.

    Two nodes are run with the ring algorithm forced: a tree may legally exceed the sum of the NICs there and so
    hide a lost one.
    """
    if len(hosts) < 2:
        return ()
    env = _environment(playbook, stage, {"NCCL_ALGO": "Ring"} if len(hosts) == 2 else {})
    subject = f"{len(hosts)}nodes-{_digest(host.name for host in hosts)}"
    return tuple(
        _job(stage, collective, hosts, repeat, subject, launch_host, env)
        for collective in stage.collectives
        for repeat in range(stage.repeats)
    )


def _digest(names: Iterable[str]) -> str:
    """Six hex digits of an ordered list of hosts: another set of hosts is another job."""
    return hashlib.sha256("\n".join(names).encode()).hexdigest()[:6]
