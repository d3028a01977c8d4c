"""The lines of a benchmark for a stand-in program that a real mpirun started: what its rank 0 prints.

`python -m healthcheck.simulator.standin --program all_reduce_perf --version 2.17.10 --hosts n001,n002
--ranks-per-host 2 -- -b 1G -e 8G -f 2 -n 20` prints the head, then row by row, then the footer, each as soon as it is
due. However few ranks stand for a node, the speed is that of all its GPUs; only under a split (`--env
"NCCL_TESTS_SPLIT=MOD 2"`) each rank is one GPU, so that a group is a rail.
"""

from __future__ import annotations

import argparse
import sys
import threading
from collections.abc import Sequence

from healthcheck.errors import InputError
from healthcheck.simulator.benchmark import Run, collective_of, parse_options, reply
from healthcheck.simulator.rank_settings import selected
from healthcheck.simulator.render import LAYOUTS
from healthcheck.simulator.standin_cluster import add_cluster_options, cluster_of, environment_of, hosts_of

_USAGE_EXIT = 2


def main(arguments: Sequence[str]) -> int:
    """Print the table of one run; the exit code is that of nccl-tests, 2 for a mistake in the arguments."""
    options = _arguments(arguments)
    try:
        run = _run(options)
    except (InputError, ValueError) as error:
        sys.stderr.write(f"stand-in: {error}\n")
        return _USAGE_EXIT
    answered = reply(run)
    never = threading.Event()
    for number, piece in enumerate(answered.pieces):
        if number and options.delay:
            never.wait(options.delay)
        sys.stdout.write(piece.text)
        sys.stdout.flush()
    if answered.hangs:
        never.wait()
    sys.stderr.write(answered.stderr)
    return answered.exit_code


def _run(options: argparse.Namespace) -> Run:
    hosts = hosts_of(options)
    collective = collective_of(options.program)
    if collective is None:
        raise InputError("--program", f"{options.program!r} is no program of nccl-tests")
    if options.version not in LAYOUTS:
        raise InputError("--version", f"{options.version!r} cannot be printed; {', '.join(LAYOUTS)} can")
    env = environment_of(options)
    return Run(
        cluster_of(options, tool_version=options.version),
        collective,
        hosts,
        (options.ranks_per_host,) * len(hosts),
        parse_options(options.words),
        key=f"{' '.join(hosts)}{selected(env)}",
        whole_nodes=True,
        env=env,
    )


def _arguments(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="healthcheck.simulator.standin", description=__doc__)
    parser.add_argument("--program", required=True, help="all_reduce_perf or another one of nccl-tests")
    parser.add_argument("--version", default="2.17.10", help="nccl-tests version whose format is printed")
    parser.add_argument("--ranks-per-host", type=int, required=True)
    add_cluster_options(parser)
    parser.add_argument("--delay", type=float, default=0.0, help="seconds before each row and the footer")
    parser.add_argument("words", nargs="*", metavar="-- OPTIONS", help="options of nccl-tests")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
