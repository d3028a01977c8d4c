"""What it costs to look at 256 nodes: connections, commands, bytes, seconds.

    python -m benchmarks.probe [--nodes 256]

The nodes are simulated and behind real SSH on loopback (their server in this process's child); every look of
`healthcheck probe` is asked and judged. Bars: one connection and one command a node. Beside it, as the peer: the same
connections with the command `true`, so that the ratio is what the looks themselves cost.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile

NODES = 256

SERVER = """
import json, sys
from healthcheck.edge.shipped import load_platform
from healthcheck.simulator.cluster import SimCluster
from healthcheck.simulator.ssh_server import SimSshServer

platform, _ = load_platform("a100-sxm4-8gpu-8x200")
with SimSshServer(SimCluster({nodes}, platform)) as server:
    print(json.dumps([str(server.ssh_config), str(server.hostfile)]), flush=True)
    for _ in sys.stdin:
        print(json.dumps([dict(server.connections), dict(server.commands)]), flush=True)
"""

CLIENT = """
import json, resource, sys, time
from pathlib import Path
from healthcheck.cli.asked import Asked, new_request, read_inputs
from healthcheck.cli.console import Console
from healthcheck.edge.store import DirectoryStore
from healthcheck.model.command import Command
from healthcheck.workflows.engine import Engine
from healthcheck.workflows.fanout import run_short, visit
from healthcheck.workflows.run import check_up

what, config, hosts, results = sys.argv[1:]
inputs, outside = read_inputs(Asked(hosts=hosts, ssh_config=Path(config), results=Path(results), only="probe"))
store = DirectoryStore.create(Path(results), outside.clock)
engine = Engine(outside.transport, outside.local, outside.clock, Console(outside.clock, quiet=True), store)
begin, cpu = time.monotonic(), time.process_time()
request = new_request(Asked(hosts=hosts, only="probe"), inputs, store.folder.name)
if what == "probe":
    verdict = check_up(request, engine, {}).verdict.name
else:
    command = Command(("true",), 60, token="benchmark")
    ended = list(visit(request.hosts, lambda host: run_short(engine.transport, host, command), engine.cancel, 64))
    verdict = "PASS" if all(result.ok for _, (result, _) in ended) else "FAIL"
print(json.dumps([time.monotonic() - begin, time.process_time() - cpu, verdict]))
outside.close()
"""


def main() -> int:
    """Print the table; exit code 1 when a node was asked more than once."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=NODES)
    nodes = parser.parse_args().nodes
    code = SERVER.format(nodes=nodes)
    server = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    )
    assert server.stdin is not None
    assert server.stdout is not None
    with tempfile.TemporaryDirectory() as results:
        config, hosts = json.loads(server.stdout.readline())
        print(f"{nodes} simulated nodes behind real SSH on loopback")
        print(f"{'':10}{'wall s':>8}{'own CPU s':>11}{'connections':>13}{'commands':>10}  verdict")
        worst, seen, cpu = 0, [0, 0], {}
        for what in ("true", "probe"):
            done = subprocess.run(
                [sys.executable, "-c", CLIENT, what, config, hosts, results],
                check=True,
                stdout=subprocess.PIPE,
                text=True,
            )
            wall, cpu[what], verdict = json.loads(done.stdout)
            print("count", file=server.stdin, flush=True)
            counts = json.loads(server.stdout.readline())
            new = [sum(count.values()) - before for count, before in zip(counts, seen, strict=True)]
            seen = [sum(count.values()) for count in counts]
            print(f"{what:10}{wall:8.2f}{cpu[what]:11.2f}{new[0]:13}{new[1]:10}  {verdict}")
            worst = max(worst, *new)
        print(f"the looks cost {cpu['probe'] / cpu['true']:.2f} times a bare `true` on the same connections")
    server.stdin.close()
    server.wait()
    return 0 if worst <= nodes else 1


if __name__ == "__main__":
    sys.exit(main())
