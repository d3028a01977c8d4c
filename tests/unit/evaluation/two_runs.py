"""Runs to hold against each other: healthy ones with noise that a seed decides, and what somebody did to them."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from healthcheck.model.digest import (
    DigestHost,
    DigestJob,
    DigestMessage,
    DigestNics,
    DigestPlatform,
    DigestPlaybook,
    DigestProvenance,
    DigestStage,
    RunDigest,
)
from healthcheck.model.fleet import FleetSetting, FleetValue
from healthcheck.model.measurement import CollectiveRow, Placement
from healthcheck.parsing.nodeset import fold

GIB = 1 << 30
ALONE, TOGETHER = 230.0, 185.0
SIZES = (GIB, 2 * GIB, 4 * GIB)


def names(n: int) -> tuple[str, ...]:
    return tuple(f"node{number:04d}" for number in range(1, n + 1))


def half(busbw: float) -> Placement:
    return Placement(1000.0, busbw, round(busbw, 2), 0.0)


def rows(busbw: float, rng: random.Random, noise: float, sizes: Sequence[int] = SIZES) -> tuple[CollectiveRow, ...]:
    def one() -> Placement:
        return half(busbw * (1 + rng.gauss(0, noise)))

    return tuple(CollectiveRow(size, size // 4, "float", "sum", -1, one(), one()) for size in sizes)


def run(
    hosts: Sequence[str],
    *,
    seed: int,
    speed: Mapping[str, float] | None = None,
    all_at: float = 1.0,
    together_at: float = 1.0,
    noise: float = 0.003,
    repeats: int = 1,
    sizes: Sequence[int] = SIZES,
    driver: Mapping[str, str] | None = None,
    together: bool = True,
) -> RunDigest:
    """A complete run of single_node and multi_node in which all is PASS. `speed` is the share that a host keeps."""
    rng = random.Random(seed)
    jobs = []
    for repeat in range(repeats):
        suffix = f".r{repeat + 1}" if repeats > 1 else ""
        for host in hosts:
            found = rows(ALONE * all_at * (speed or {}).get(host, 1.0), rng, noise, sizes)
            jobs.append(DigestJob(f"single.{host}{suffix}", "single_node", "all_reduce", (host,), 8, "PASS", found))
        if together and len(hosts) > 1:
            found = rows(TOGETHER * all_at * together_at, rng, noise, sizes)
            ranks = 8 * len(hosts)
            jobs.append(DigestJob(f"multi{suffix}", "multi_node", "all_reduce", tuple(hosts), ranks, "PASS", found))
    values: dict[str, list[str]] = {}
    for host in hosts:
        values.setdefault((driver or {}).get(host, "550.90.07"), []).append(host)
    fleet = tuple(FleetValue(value, fold(having), len(having)) for value, having in values.items())
    return RunDigest(
        run_id=f"2026031{seed % 10}T021503Z-abcd",
        state="complete",
        verdict="PASS",
        simulated=False,
        started_at=f"2026-03-1{seed % 10}T02:15:03Z",
        finished_at=f"2026-03-1{seed % 10}T02:25:03Z",
        playbook=DigestPlaybook("quick", (DigestStage("single_node"), DigestStage("multi_node"))),
        platform=DigestPlatform("a100-sxm4-8gpu-8x200", DigestNics(8, 200.0)),
        hosts=tuple(DigestHost(host, "PASS") for host in hosts),
        jobs=tuple(jobs),
        healthy_hosts=tuple(hosts),
        fleet=(FleetSetting("driver", fleet),),
        provenance=DigestProvenance("healthcheck 0.1.0", "a" * 64),
    )


def said(host: str, verdict: str, why: str) -> DigestHost:
    return DigestHost(host, verdict, (DigestMessage("job.hung", why),))


def with_host(of: RunDigest, found: DigestHost) -> RunDigest:
    return replace(of, hosts=tuple(found if host.name == found.name else host for host in of.hosts))


def without_numbers(of: RunDigest, host: str, verdict: str, why: str) -> RunDigest:
    """The same run in which the job of one host left no row and the host got a verdict for it."""
    reasons = (DigestMessage("job.hung", why),)
    jobs = tuple(
        replace(job, rows=(), verdict=verdict, reasons=reasons) if job.hosts == (host,) else job for job in of.jobs
    )
    return with_host(replace(of, jobs=jobs), DigestHost(host, verdict, reasons))


def only(of: RunDigest, *stages: str) -> RunDigest:
    return replace(of, jobs=tuple(job for job in of.jobs if job.stage in stages))
