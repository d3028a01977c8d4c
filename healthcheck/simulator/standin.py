"""The lines of a benchmark for a stand-in program that a real mpirun started: what its rank 0 prints.

`python -m healthcheck.simulator.standin --program all_reduce_perf --version 2.17.10 --hosts n001,n002
--ranks-per-host 2 -- -b 1G -e 8G -f 2 -n 20` prints the head, then row by row, then the footer, each as soon as it is
due. However few ranks stand for a node, the speed is that of all its GPUs.
"""

from __future__ import annotations

import argparse
import sys
import threading
from collections.abc import Sequence
from importlib import resources
from pathlib import Path

from healthcheck.errors import InputError
from healthcheck.model.platform import Platform
from healthcheck.parsing.platform import parse_platform
from healthcheck.simulator.benchmark import Run, collective_of, parse_options, reply
from healthcheck.simulator.cluster import SimCluster
from healthcheck.simulator.faults import parse_fault
from healthcheck.simulator.render import LAYOUTS

DEFAULT_PLATFORM = "a100-sxm4-8gpu-8x200"
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


def platform_named(name_or_file: str) -> Platform:
    """A platform file, or one of the package by its name; InputError otherwise."""
    path = Path(name_or_file)
    if path.is_file():
        return parse_platform(path.read_text(encoding="utf-8"), name_or_file)
    shipped = resources.files("healthcheck.platforms") / f"{name_or_file}.yaml"
    if "/" in name_or_file or not shipped.is_file():
        raise InputError("--platform", f"there is no platform {name_or_file!r} and no such file")
    return parse_platform(shipped.read_text(encoding="utf-8"), f"{name_or_file}.yaml")


def _run(options: argparse.Namespace) -> Run:
    hosts = tuple(options.hosts.split(","))
    collective = collective_of(options.program)
    if collective is None:
        raise InputError("--program", f"{options.program!r} is no program of nccl-tests")
    if options.version not in LAYOUTS:
        raise InputError("--version", f"{options.version!r} cannot be printed; {', '.join(LAYOUTS)} can")
    cluster = SimCluster(
        len(hosts),
        platform_named(options.platform),
        seed=options.seed,
        faults=[parse_fault(text) for text in options.fault],
        tool_version=options.version,
        names=hosts,
    )
    ranks = (options.ranks_per_host,) * len(hosts)
    return Run(cluster, collective, hosts, ranks, parse_options(options.words), " ".join(hosts), whole_nodes=True)


def _arguments(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="healthcheck.simulator.standin", description=__doc__)
    parser.add_argument("--program", required=True, help="all_reduce_perf or another one of nccl-tests")
    parser.add_argument("--version", default="2.17.10", help="nccl-tests version whose format is printed")
    parser.add_argument("--hosts", required=True, help="host names, in rank order, comma separated")
    parser.add_argument("--ranks-per-host", type=int, required=True)
    parser.add_argument("--platform", default=DEFAULT_PLATFORM, help="name or file")
    parser.add_argument("--fault", action="append", default=[], help="as `healthcheck run --fault`, repeated")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--delay", type=float, default=0.0, help="seconds before each row and the footer")
    parser.add_argument("words", nargs="*", metavar="-- OPTIONS", help="options of nccl-tests")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
