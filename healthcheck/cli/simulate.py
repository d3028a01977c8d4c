"""`healthcheck simulate`: a cluster to rehearse on, behind real SSH on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from healthcheck.cli import options

if TYPE_CHECKING:
    import queue

    from healthcheck.simulator.ssh_server import SimSshServer


def command(
    nodes: Annotated[int, typer.Argument(metavar="N", min=1, max=2000, help="How many nodes.")],
    platform: options.PlatformName = "auto",
    seed: options.Seed = 0,
    run_seed: options.RunSeed = None,
    leaf_size: options.LeafSize = 8,
    fault: options.Faults = None,
    job_seconds: Annotated[float, typer.Option("--job-seconds", min=0.0, help="How long every benchmark takes.")] = 2.0,
    folder: Annotated[
        Path | None, typer.Option("--output", "-o", help="Folder for hostfile and keys; default: a temporary one.")
    ] = None,
    json: options.Json = False,
) -> None:
    """Serve a simulated cluster over SSH on 127.0.0.1 until Ctrl-C, and print how to check it up.

    Faults are told in docs/howto/rehearse-with-the-simulator.md, and by any that is misspelt.
    Example: healthcheck simulate 8 --fault node05:hca=mlx5_2,rate=0.5 --fault link:node01-node06=0.5
    """
    from healthcheck.cli.asked import SIMULATED_PLATFORM
    from healthcheck.cli.document import print_document
    from healthcheck.cli.exits import out, say
    from healthcheck.edge.shipped import load_platform
    from healthcheck.errors import Interrupted
    from healthcheck.model.message import Message
    from healthcheck.simulator.cluster import SimCluster
    from healthcheck.simulator.faults import parse_fault
    from healthcheck.simulator.ssh_server import SimSshServer

    machine, _ = load_platform(SIMULATED_PLATFORM if platform == "auto" else platform)
    faults = [parse_fault(text) for text in fault or ()]
    cluster = SimCluster(nodes, machine, seed, faults, leaf_size, job_seconds, run_seed=run_seed)
    arrived = _signals()
    with SimSshServer(cluster, folder) as server:
        say(str(Message("simulate.serves", {"nodes": nodes, "machine": machine.name})))
        for text in fault or ():
            say(f"simulated: planted {text}")
        line = run_line(server, machine.name if platform == "auto" else platform)
        if json:
            print_document(
                "healthcheck.simulate/1",
                hostfile=str(server.hostfile),
                ssh_config=str(server.ssh_config),
                command=line,
                platform=machine.name,
                nodes=nodes,
                faults=fault or [],
            )
        else:
            out(str(server.hostfile))
            out(line)
        say("simulated: serving; Ctrl-C ends it and removes hostfile and keys")
        signum = arrived.get()
    raise Interrupted(signum)


def run_line(server: SimSshServer, platform: str) -> str:
    """The command that checks the served cluster up, ready to copy."""
    import shlex

    words = ["healthcheck", "run", "quick", "-H", str(server.hostfile), "--ssh-config", str(server.ssh_config)]
    return shlex.join([*words, "--platform", platform])


def _signals() -> queue.SimpleQueue[int]:
    """From now on SIGINT and SIGTERM arrive here."""
    import queue
    import signal

    arrived: queue.SimpleQueue[int] = queue.SimpleQueue()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda signum, frame: arrived.put(signum))
    return arrived
