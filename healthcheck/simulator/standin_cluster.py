"""The cluster a stand-in program stands in: its command line options, and the simulated nodes they make.

A job sees some hosts of a cluster only. `--plant` takes faults of the whole cluster and drops those the job does not
meet; `--leaves 3,3,2` gives the leaf of a host by the number at the end of its name, so that n004 is the first of l2.
"""

from __future__ import annotations

import argparse
import itertools
import re
from collections.abc import Sequence
from importlib import resources
from pathlib import Path

from healthcheck.errors import InputError
from healthcheck.model.platform import Platform
from healthcheck.parsing.platform import parse_platform
from healthcheck.simulator.cluster import SimCluster
from healthcheck.simulator.faults import DipFault, Fault, LeafFault, LinkFault, NoiseFault, parse_fault, struck
from healthcheck.simulator.generations import Generation

DEFAULT_PLATFORM = "a100-sxm4-8gpu-8x200"
_LAST_NUMBER = re.compile(r"(\d+)\D*$")


def add_cluster_options(parser: argparse.ArgumentParser) -> None:
    """Options of every stand-in, so that one file of words serves them all."""
    parser.add_argument("--hosts", required=True, help="host names of the job, in rank order, comma separated")
    parser.add_argument("--platform", default=DEFAULT_PLATFORM, help="name or file")
    parser.add_argument("--fault", action="append", default=[], help="as `healthcheck run --fault`, repeated")
    parser.add_argument("--plant", action="append", default=[], help="the same, of hosts the job may not have")
    parser.add_argument("--leaves", default="", help="hosts of each leaf: 3,3,2 makes n004 the first host of l2")
    parser.add_argument("--env", action="append", default=[], metavar="NAME=VALUE", help="set for the ranks, repeated")
    parser.add_argument("--seed", type=int, default=0)


def cluster_of(
    options: argparse.Namespace, tool_version: str = "2.17.10", generation: Generation | None = None
) -> SimCluster:
    """The nodes of one job; InputError for a fault, host, leaf or platform there is not."""
    hosts = hosts_of(options)
    leaves = _leaves(options.leaves, hosts)
    faults = [parse_fault(text) for text in options.fault]
    planted = (parse_fault(text) for text in options.plant)
    return SimCluster(
        len(hosts),
        platform_named(options.platform),
        seed=options.seed,
        faults=[*faults, *(fault for fault in planted if _met(fault, hosts, leaves))],
        tool_version=tool_version,
        names=hosts,
        generation=generation,
        leaves=leaves,
    )


def hosts_of(options: argparse.Namespace) -> tuple[str, ...]:
    """In rank order."""
    return tuple(options.hosts.split(","))


def environment_of(options: argparse.Namespace) -> tuple[tuple[str, str], ...]:
    """(name, value) of the ranks' variables."""
    return tuple((name, value) for name, _, value in (word.partition("=") for word in options.env))


def platform_named(name_or_file: str) -> Platform:
    """A platform file, or one of the package by its name; InputError otherwise."""
    path = Path(name_or_file)
    if path.is_file():
        return parse_platform(path.read_text(encoding="utf-8"), name_or_file)
    shipped = resources.files("healthcheck.platforms") / f"{name_or_file}.yaml"
    if "/" in name_or_file or not shipped.is_file():
        raise InputError("--platform", f"there is no platform {name_or_file!r} and no such file")
    return parse_platform(shipped.read_text(encoding="utf-8"), f"{name_or_file}.yaml")


def _met(fault: Fault, hosts: Sequence[str], leaves: Sequence[str]) -> bool:
    if isinstance(fault, NoiseFault | DipFault):
        return True
    if isinstance(fault, LinkFault):
        return {fault.host_a, fault.host_b} <= set(hosts)
    if isinstance(fault, LeafFault):
        return {fault.leaf_a, fault.leaf_b} <= set(leaves)
    return set(struck(fault)) <= set(hosts)


def _leaves(sizes: str, hosts: Sequence[str]) -> tuple[str, ...]:
    """The leaf of each host; all in one where no sizes are given."""
    if not sizes:
        return ("l1",) * len(hosts)
    words = sizes.split(",")
    if not all(word.isdecimal() and int(word) for word in words):
        raise InputError("--leaves", f"{sizes!r} are no numbers of hosts; write for example 3,3,2")
    ends = list(itertools.accumulate(map(int, words)))
    found = []
    for host in hosts:
        number = _LAST_NUMBER.search(host)
        at = int(number[1]) if number else 0
        if not 1 <= at <= ends[-1]:
            raise InputError("--leaves", f"{host!r} is none of the {ends[-1]} hosts of {sizes!r}")
        found.append(f"l{next(index for index, end in enumerate(ends, start=1) if at <= end)}")
    return tuple(found)
