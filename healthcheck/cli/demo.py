"""`healthcheck demo`: the main job against simulated nodes behind real SSH on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from healthcheck.cli import options
from healthcheck.cli.language import in_english

if TYPE_CHECKING:
    from pathlib import Path

    from healthcheck.model.record import RunRecord
    from healthcheck.simulator.cluster import SimCluster

DEFAULT_FAULTS = ("node05:hca=mlx5_2,rate=0.5", "node07:unreachable")
NODES = 8
LEAF_SIZE = 4
# A simulated hang is believed after seconds; on real machines the playbook says how long silence may last.
STALL_S = 10.0


def command(
    fault: Annotated[
        list[str] | None, typer.Option("--fault", help=f"Plant these instead of {' and '.join(DEFAULT_FAULTS)}.")
    ] = None,
    nodes: Annotated[int, typer.Option(min=2, max=256, help="How many nodes.")] = NODES,
    seed: options.Seed = 0,
    results: options.Results = options.DEFAULT_RESULTS,
    json: options.Json = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    lang: options.Lang = None,
) -> None:
    """Show a whole check-up on a simulated cluster: real SSH on loopback, simulated GPUs and mpirun, planted faults.

    Exits 0 when exactly what was planted was found, else 1. Example: healthcheck demo --fault node03:corrupt
    """
    from healthcheck.cli.asked import SIMULATED_PLATFORM
    from healthcheck.cli.exits import say
    from healthcheck.cli.finish import say_wrapped
    from healthcheck.edge.shipped import load_platform
    from healthcheck.model.message import say as message
    from healthcheck.simulator.cluster import SimCluster
    from healthcheck.simulator.faults import parse_fault

    planted = fault if fault is not None else DEFAULT_FAULTS
    platform, _ = load_platform(SIMULATED_PLATFORM)
    cluster = SimCluster(nodes, platform, seed, tuple(map(parse_fault, planted)), LEAF_SIZE)
    loud, faults = options.loudness(quiet, verbose), ", ".join(planted)
    if not quiet:
        planted_line = message("demo.planted", faults=faults) if faults else message("demo.planted_nothing")
        for told in (message("demo.head", nodes=nodes), planted_line):
            say_wrapped(str(told))
    surprises = differences(_check_up(cluster, results, json, loud), cluster)
    for line in surprises:
        say(str(message("demo.not_as_planted", line=line)))
    if not surprises and not quiet:
        say(str(message("demo.as_planted")))
    raise typer.Exit(1 if surprises else 0)


def _check_up(cluster: SimCluster, results: Path, as_json: bool, loud: options.Loudness) -> RunRecord:
    """Serve the cluster, check it up as any other over SSH, write the pages."""
    from contextlib import closing

    from msgspec.structs import replace

    from healthcheck.cli.asked import Asked, Inputs, new_request
    from healthcheck.cli.console import head_of, watcher
    from healthcheck.cli.finish import finish, shown
    from healthcheck.cli.signals import stop_on_signals, written_first
    from healthcheck.edge.shipped import load_playbook
    from healthcheck.edge.store import DirectoryStore
    from healthcheck.errors import Interrupted
    from healthcheck.model.units import Seconds
    from healthcheck.parsing.playbook import parse_playbook
    from healthcheck.simulator.ssh_server import SimSshServer
    from healthcheck.wiring import real_outside
    from healthcheck.workflows.engine import Engine
    from healthcheck.workflows.run import check_up

    _, text = load_playbook("quick")
    text += "  - {name: localise, when: not_pass} # so that what lies between nodes is found, too\n"
    playbook = parse_playbook(text, "the playbook of the demo")
    playbook = replace(playbook, stages=tuple(replace(stage, stall=Seconds(STALL_S)) for stage in playbook.stages))
    with SimSshServer(cluster) as server:
        outside = real_outside(server.ssh_config, False, len(server.hosts()))
        hosts_text = server.hostfile.read_text()
        texts = {"inputs/playbook.yaml": text, "inputs/hostfile": hosts_text}
        store = DirectoryStore.create(results, outside.clock, texts)
        inputs = Inputs(playbook, text, None, server.hosts(), hosts_text)
        asked = Asked(hosts=None, results=results)
        request = replace(new_request(asked, inputs, store.folder.name), simulated=True)
        watching = watcher(outside.clock, head_of(request, shown(store.folder)), loud)
        engine = Engine(outside.transport, outside.local, outside.clock, watching, store)
        with closing(watching), written_first():
            try:
                with stop_on_signals(engine.cancel, watching.stopping), in_english():
                    record = check_up(request, engine, {})
            except Interrupted:
                finish(store.load_record(), store, as_json, loud, watching)
                raise
            finally:
                outside.close()
            finish(record, store, as_json, loud, watching)
    return record


def differences(record: RunRecord, cluster: SimCluster) -> list[str]:
    """What the record misses of the planted faults, and what it says beyond them; empty when it is exact.

    A fault counts as found under its own cause only. What follows from a fault may be said too.
    """
    from healthcheck.model.verdict import Verdict
    from healthcheck.simulator.expected import expected, primary
    from healthcheck.simulator.faults import DipFault, NoiseFault, struck

    planted = [fault for fault in cluster.faults if not isinstance(fault, NoiseFault | DipFault)]
    wanted = [expected(fault) for fault in planted]
    missed = [
        f"{want.component} was planted and not found{' as ' if want.causes else ''}{' or '.join(sorted(want.causes))}"
        for want in wanted
        if not any(want.met_by(finding) for finding in record.findings)
    ]
    sick = {host for fault in planted for host in struck(fault)}
    extra = [
        f"{finding.component} is said to have {finding.cause.code} and nothing was planted there"
        for finding in primary(record.findings)
        if finding.component.host not in sick and not any(want.met_by(finding) for want in wanted)
    ]
    named = {finding.component.host for finding in record.findings}
    extra += [
        f"{host.name} is {host.verdict.name} and nothing was planted there"
        for host in record.hosts
        if host.verdict is not Verdict.PASS and host.name not in sick and host.name not in named
    ]
    return missed + extra
