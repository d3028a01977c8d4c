"""What several tests of the simulator build."""

from __future__ import annotations

import shlex

from healthcheck.model.collective import Collective
from healthcheck.model.measurement import ParsedOutput
from healthcheck.model.platform import GpuSpec, NicSpec, Platform, Sourced
from healthcheck.parsing.nccl_tests import parse_output
from healthcheck.simulator.answers import answer
from healthcheck.simulator.cluster import SimCluster
from healthcheck.simulator.faults import parse_fault
from healthcheck.simulator.reply import Reply

A100 = Platform(
    name="a100-test",
    title="8 x A100, 8 x 200 Gb/s",
    gpu=GpuSpec(("A100-SXM4-80GB",), 8),
    nics=NicSpec(8, 200.0, "InfiniBand", "test"),
    intra_busbw_gbyte_s=Sourced(300.0, "test"),
)
HOSTFILE = "/home/simulated/.cache/healthcheck/run/t0/hostfile"


def cluster(
    *faults: str,
    nodes: int = 8,
    seed: int = 0,
    version: str = "2.17.10",
    job_seconds: float = 0.0,
    platform: Platform = A100,
    leaf_size: int = 8,
) -> SimCluster:
    """A small cluster with faults as a user writes them."""
    planted = [parse_fault(text) for text in faults]
    return SimCluster(nodes, platform, seed, planted, leaf_size, job_seconds, version)


def mpirun(
    where: str, ranks: int, collective: Collective = Collective.ALL_REDUCE, sizes: str = "-b 536870912 -e 8589934592"
) -> tuple[str, ...]:
    """A command line as the launchers write it."""
    return tuple(
        shlex.split(
            f"mpirun -np {ranks} {where} --map-by slot --bind-to none -x HEALTHCHECK_TOKEN=t0 -x NCCL_DEBUG=INFO "
            f"timeout -k 5 600 /opt/nccl-tests/build/{collective.binary} {sizes} -f 2 -g 1 -n 20 -w 5 -c 1"
        )
    )


def run_single(sim: SimCluster, host: str, collective: Collective = Collective.ALL_REDUCE) -> Reply:
    """The benchmark of one node, launched on it."""
    named = next(one for one in sim.hosts() if one.name == host)
    return answer(sim, named, mpirun("--host localhost:8", 8, collective), {})


def run_all(sim: SimCluster, collective: Collective = Collective.ALL_REDUCE) -> Reply:
    """The benchmark of all nodes, launched on the first."""
    hosts = sim.hosts()
    files = {HOSTFILE: "".join(f"{host.name} slots=8\n" for host in hosts).encode()}
    return answer(sim, hosts[0], mpirun(f"--hostfile {HOSTFILE}", 8 * len(hosts), collective), files)


def run_some(sim: SimCluster, *names: str, ranks: int = 8, env: str = "", options: str = "") -> Reply:
    """One job over some hosts in this order, `env` as `-x` words and more options of nccl-tests; all_reduce at 8 GiB.

    Of a single host the command is that of a job on one node.
    """
    first = next(one for one in sim.hosts() if one.name == names[0])
    files = {HOSTFILE: "".join(f"{name} slots={ranks}\n" for name in names).encode()}
    where = f"--hostfile {HOSTFILE}" if len(names) > 1 else f"--host localhost:{ranks}"
    argv = mpirun(where, ranks * len(names), sizes=f"-b 8G -e 8G {options}")
    at = argv.index("timeout")
    return answer(sim, first, (*argv[:at], *shlex.split(env), *argv[at:]), files)


def reading(sim: SimCluster, *names: str, ranks: int = 8, env: str = "", options: str = "") -> float:
    """The bus bandwidth such a job prints, in GB/s."""
    return busbw(run_some(sim, *names, ranks=ranks, env=env, options=options))[-1]


def parsed(reply: Reply) -> ParsedOutput:
    """As healthcheck reads it."""
    return parse_output(
        reply.stdout.splitlines(),
        stderr=reply.stderr.splitlines(),
        exit_code=reply.exit_code,
        argv=("all_reduce_perf",),
    )


def busbw(reply: Reply) -> list[float]:
    """Out-of-place bus bandwidths in GB/s, ascending sizes."""
    rows = parsed(reply).tables[0].rows
    return [row.out_of_place.busbw_gbyte_s or 0.0 for row in rows if row.out_of_place is not None]
