"""The questions of `healthcheck doctor`, each answered by one look at this machine."""

from __future__ import annotations

import os
import platform
import secrets
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct

from healthcheck import __version__
from healthcheck.errors import InputError
from healthcheck.model.baseline import Baseline
from healthcheck.model.host import Host
from healthcheck.model.message import Message, phrase, say
from healthcheck.model.playbook import Playbook

if TYPE_CHECKING:
    from healthcheck.probes.batch import Part, PartOutput

_T = TypeVar("_T")
# The raw output of one job may take 0.2 GB before it is cut.
FREE_GBYTE = 1.0
_LOCKS_SHOWN = 3


class Asked(Struct, frozen=True):
    """The arguments of the check-up that is to be run."""

    playbook: str
    hosts: str | None
    platform: str
    push: Path | None
    launch_from: str
    ssh_config: Path | None
    results: Path
    baseline: Path | None = None


class Look(Struct, frozen=True):
    """One answer. `ok` False: it would keep a check-up from working; None: worth knowing, no obstacle."""

    check: str
    ok: bool | None
    message: Message


def examine(asked: Asked) -> tuple[Look, ...]:
    """All looks, in the order in which a check-up would stumble over them."""
    from healthcheck.cli.given_baseline import named_baseline

    looks = [_python()]
    playbook = _read("playbook", looks, lambda: _playbook(asked))
    if asked.platform != "auto":
        _read("platform", looks, lambda: _platform(asked))
    hosts: tuple[Host, ...] = ()
    if asked.hosts is None:
        looks.append(Look("hostfile", None, say("doctor.no_hosts")))
    else:
        hosts = _read("hostfile", looks, lambda: _hosts(asked.hosts or "")) or ()
    if playbook is not None and named_baseline(asked.baseline, playbook, asked.playbook) is not None:
        _read("baseline", looks, lambda: _baseline(asked, playbook, hosts))
    looks += _ssh(asked, hosts)
    looks.append(_launcher(asked))
    if playbook is not None:
        looks += _binaries(asked, playbook)
    looks.append(_results(asked.results))
    looks += _locks(asked.results)
    if hosts:
        looks.append(_files(len(hosts)))
    return tuple(looks)


def _read(check: str, looks: list[Look], read: Callable[[], tuple[_T, Message]]) -> _T | None:
    try:
        value, message = read()
    except InputError as error:
        looks.append(Look(check, False, say("doctor.input", problem=str(error))))
        return None
    looks.append(Look(check, True, message))
    return value


def _python() -> Look:
    return Look("python", True, say("doctor.python", version=platform.python_version(), tool=__version__))


def _playbook(asked: Asked) -> tuple[Playbook, Message]:
    from healthcheck.edge.shipped import load_playbook

    playbook, _ = load_playbook(asked.playbook)
    stages = ", ".join(stage.name for stage in playbook.stages)
    return playbook, say("doctor.playbook", name=playbook.name, stages=stages)


def _platform(asked: Asked) -> tuple[str, Message]:
    from healthcheck.edge.shipped import load_platform

    found, _ = load_platform(asked.platform)
    return found.name, say("doctor.platform", name=found.name, title=phrase(found.title))


def _hosts(named: str) -> tuple[tuple[Host, ...], Message]:
    from healthcheck.edge.shipped import load_hosts
    from healthcheck.parsing.nodeset import fold

    hosts, _ = load_hosts(named)
    return hosts, say("doctor.hosts", count=len(hosts), names=fold(host.name for host in hosts))


def _baseline(asked: Asked, playbook: Playbook, hosts: tuple[Host, ...]) -> tuple[Baseline, Message]:
    from healthcheck.cli.given_baseline import given_baseline
    from healthcheck.edge.shipped import load_platform
    from healthcheck.workflows.baseline import KnownPast

    name = asked.platform if asked.platform != "auto" else playbook.platform
    machine = None if name == "auto" else load_platform(name)[0]
    found = given_baseline(asked.baseline, playbook, asked.playbook, hosts, machine, simulated=False)
    assert found is not None  # asked only where one is named
    nodes, runs = len(KnownPast(found).hosts()), len(found.runs)
    medians, made_of = len(found.usual), found.platform
    return found, say("doctor.baseline", file=found.source, medians=medians, nodes=nodes, runs=runs, platform=made_of)


def _ssh(asked: Asked, hosts: tuple[Host, ...]) -> list[Look]:
    """The ssh configuration, a key to log in with, and which hosts have no key in known_hosts."""
    from healthcheck.edge.known_hosts import KnownHosts
    from healthcheck.edge.ssh_config import SshConfiguration, SshSettings
    from healthcheck.parsing.nodeset import fold

    try:
        configuration = SshConfiguration(SshSettings(config_file=asked.ssh_config))
        routes = [configuration.connection(host)[1] for host in hosts or (Host("localhost", "localhost"),)]
    except InputError as error:
        return [Look("ssh_config", False, say("doctor.input", problem=str(error)))]
    except (ValueError, KeyError) as error:
        return [Look("ssh_config", False, say("doctor.ssh_config_bad", detail=str(error)))]
    looks = [Look("ssh_config", True, say("doctor.ssh_config", user=", ".join(sorted({r.user for r in routes}))))]
    files = sorted({str(path) for route in routes for path in route.identity_files if path.is_file()})
    in_agent = _agent_keys() if any(route.use_agent for route in routes) else 0
    key = say("doctor.keys", files=", ".join(files) or "none", in_agent=in_agent)
    looks.append(Look("ssh_key", bool(files or in_agent), key if files or in_agent else say("doctor.no_keys")))
    known: dict[tuple[Path, ...], KnownHosts] = {}
    strangers = []
    for host, route in zip(hosts, routes, strict=False):
        if route.known_hosts_files not in known:
            known[route.known_hosts_files] = KnownHosts(route.known_hosts_files)
        if not known[route.known_hosts_files].keys(route.key_names):
            strangers.append(host.name)
    if hosts and not strangers:
        looks.append(Look("known_hosts", True, say("doctor.known_hosts", count=len(hosts))))
    elif strangers:
        names = fold(strangers)
        looks.append(Look("known_hosts", False, say("doctor.strangers", count=len(strangers), names=names)))
    return looks


def _agent_keys() -> int:
    from paramiko import Agent, SSHException

    if "SSH_AUTH_SOCK" not in os.environ:
        return 0
    try:
        return len(Agent().get_keys())
    except (SSHException, OSError):
        return 0


def _ask_this_machine(part: Part) -> PartOutput | None:
    """One probe, run here as it is run on a node."""
    from healthcheck.edge.clock import SystemClock
    from healthcheck.edge.local import LocalTransport
    from healthcheck.model.command import Command
    from healthcheck.probes.batch import batch_argv, deadline_s, split
    from healthcheck.workflows.fanout import run_short
    from healthcheck.workflows.request import LOCALHOST

    nonce = secrets.token_hex(8)
    command = Command(batch_argv([part], nonce), deadline_s([part]), token=f"doctor-{nonce}")
    transport = LocalTransport(SystemClock())
    try:
        _, capture = run_short(transport, LOCALHOST, command)
    finally:
        transport.close()
    return split(capture.out, nonce).get(part.name)


def _launcher(asked: Asked) -> Look:
    """mpirun and ssh are needed here only when multi-node jobs start from this machine."""
    from healthcheck.probes import mpi

    needed = asked.launch_from == "local"
    flavour = mpi.read(_ask_this_machine(mpi.part())).value
    if flavour is None:
        if needed:
            return Look("mpirun", False, say("doctor.no_mpirun"))
        return Look("mpirun", None, say("doctor.mpirun_unneeded"))
    if needed and shutil.which("ssh") is None:
        return Look("mpirun", False, say("doctor.no_ssh"))
    return Look("mpirun", True, say("doctor.mpirun", family=flavour.family, version=flavour.version))


def _binaries(asked: Asked, playbook: Playbook) -> list[Look]:
    """The executables to be pushed: there, for MPI, with every library this machine would need."""
    from healthcheck.cli.asked import DEFAULT_FOLDER
    from healthcheck.probes import binary

    folder = asked.push or (Path(playbook.nccl_tests.push) if playbook.nccl_tests.push else None)
    if folder is None:
        return [Look("nccl_tests", None, say("doctor.not_pushed", folder=playbook.nccl_tests.path or DEFAULT_FOLDER))]
    looks = []
    for name in sorted({collective.binary for stage in playbook.stages for collective in stage.collectives}):
        part = binary.part([str((folder / name).absolute())])
        result = binary.judge("localhost", binary.read(_ask_this_machine(part)))
        # A library that is missing here may well be on the nodes, where the probe looks again.
        ok = True if result.rule == "binary.usable" else None if result.rule == "binary.library" else False
        looks.append(Look("nccl_tests", ok, result.message))
    return looks


def _locks(results: Path) -> tuple[Look, ...]:
    """Silent where nothing is locked, or only by runs that are seen to be alive."""
    from healthcheck.edge.host_locks import stale_locks
    from healthcheck.model.message import few

    found = stale_locks(results)
    if not found:
        return ()
    which = few([say("lock.of", host=lock.host, why=lock.message) for lock in found], _LOCKS_SHOWN)
    return (Look("locks", None, say("doctor.locks", n=len(found), which=which)),)


def _results(folder: Path) -> Look:
    """The nearest folder that exists decides; nothing is created."""
    place = folder.absolute()
    while not place.exists():
        place = place.parent
    if place.is_dir() and os.access(place, os.W_OK | os.X_OK):
        free_gbyte = shutil.disk_usage(place).free / 1e9
        if free_gbyte < FREE_GBYTE:
            return Look("results", False, say("doctor.disk_full", folder=str(folder), free_gbyte=free_gbyte))
        return Look("results", True, say("doctor.results", folder=str(folder), free_gbyte=free_gbyte))
    return Look("results", False, say("doctor.results_unwritable", folder=str(folder), place=str(place)))


def _files(n_hosts: int) -> Look:
    from healthcheck.edge.file_limit import raise_file_limit

    problem = raise_file_limit(n_hosts)
    return Look("open_files", problem is None, problem or say("doctor.open_files", count=n_hosts))
