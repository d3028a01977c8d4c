"""Short ways to say what a stored run measured."""

from __future__ import annotations

from healthcheck.model.digest import (
    DigestHost,
    DigestJob,
    DigestNics,
    DigestPlatform,
    DigestPlaybook,
    DigestStage,
    RunDigest,
)
from healthcheck.model.measurement import CollectiveRow, Placement

GIB = 1 << 30
PLATFORM = DigestPlatform("a100-sxm4-8gpu-8x200", DigestNics(8, 200.0))
PLAYBOOK = DigestPlaybook("quick", (DigestStage("single_node"), DigestStage("multi_node")))


def row(size_bytes: int, out: float | None, inside: float | None = None) -> CollectiveRow:
    halves = [None if value is None else Placement(1.0, value, value, 0.0) for value in (out, inside)]
    return CollectiveRow(size_bytes, None, "float", "sum", -1, halves[0], halves[1])


def job(host: str, *busbw: float | None, verdict: str = "PASS", repeat: int = 1) -> DigestJob:
    """All reduce of one node, out of place, at 1 GiB, 2 GiB and so on."""
    rows = tuple(row(GIB << n, value) for n, value in enumerate(busbw))
    return DigestJob(f"single_node.all_reduce.{host}.{repeat}", "single_node", "all_reduce", (host,), 8, verdict, rows)


def together(hosts: tuple[str, ...], busbw: float) -> DigestJob:
    return DigestJob("multi_node.all_reduce", "multi_node", "all_reduce", hosts, 16, "PASS", (row(GIB, busbw),))


def run(
    run_id: str,
    *jobs: DigestJob,
    state: str = "complete",
    verdict: str = "PASS",
    simulated: bool = False,
    playbook: DigestPlaybook = PLAYBOOK,
    platform: DigestPlatform | None = PLATFORM,
    sick: tuple[str, ...] = (),
) -> RunDigest:
    """A run; its hosts are those of its jobs, PASS unless `sick`."""
    names = sorted({host for each in jobs for host in each.hosts} | set(sick))
    hosts = tuple(DigestHost(name, "DEGRADED" if name in sick else "PASS") for name in names)
    return RunDigest(
        run_id, state, verdict, simulated, "2026-03-14T02:15:03Z", None, playbook, platform, hosts, tuple(jobs)
    )
