"""The files a launcher needs beside it: hostfile, ssh config, known hosts. Pure texts.

mpirun's own ssh must follow the same rules as ours: host keys that we verified and no others, no question on a
terminal, the user, port and address of the hostfile.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence

from healthcheck.launchers.site import HOSTFILE, KNOWN_HOSTS, SSH_CONFIG, SSH_SCRIPT
from healthcheck.model.host import Host

SSH_CONNECT_TIMEOUT_S = 10


def openmpi_hostfile(names: Sequence[str], ranks: Sequence[int]) -> str:
    """`gpu-01 slots=8`, one line a host. Slots are always written: without them Open MPI counts the cores of the
    machine it starts on."""
    return "".join(f"{name} slots={slots}\n" for name, slots in zip(names, ranks, strict=True))


def hydra_hostfile(names: Sequence[str], ranks: Sequence[int]) -> str:
    """`gpu-01:8`, one line a host."""
    return "".join(f"{name}:{slots}\n" for name, slots in zip(names, ranks, strict=True))


def ssh_config(hosts: Iterable[Host], folder: str) -> str:
    """An ssh config for the launcher's ssh. The user's own files follow: the first value wins in ssh, ours."""
    blocks = []
    for host in hosts:
        lines = [f"Host {host.name}"]
        if host.address != host.name:
            lines.append(f"    HostName {host.address}")
        if host.port is not None:
            lines.append(f"    Port {host.port}")
        if host.user is not None:
            lines.append(f"    User {host.user}")
        if len(lines) > 1:
            blocks.append("\n".join(lines))
    blocks.append(
        "\n".join(
            (
                "Host *",
                "    BatchMode yes",
                "    StrictHostKeyChecking yes",
                f"    ConnectTimeout {SSH_CONNECT_TIMEOUT_S}",
                "    ServerAliveInterval 15",
                f'    UserKnownHostsFile "{folder}/{KNOWN_HOSTS}" ~/.ssh/known_hosts',
                "    LogLevel ERROR",
                "    Include ~/.ssh/config",
                "    Include /etc/ssh/ssh_config",
            )
        )
    )
    return "\n".join(blocks) + "\n"


def ssh_script(folder: str) -> str:
    """For hydra, which takes a program but no options for it."""
    return f'#!/bin/sh\nexec ssh -F {shlex.quote(f"{folder}/{SSH_CONFIG}")} "$@"\n'


def launch_files(
    family: str, hosts: Sequence[Host], ranks: Sequence[int], known: Iterable[str], folder: str
) -> dict[str, str]:
    """File name -> content, for one job over `hosts`, to be placed in `folder` on the launch host."""
    names = [host.name for host in hosts]
    hostfile = hydra_hostfile(names, ranks) if family == "hydra" else openmpi_hostfile(names, ranks)
    files = {
        HOSTFILE: hostfile,
        SSH_CONFIG: ssh_config(hosts, folder),
        KNOWN_HOSTS: "".join(f"{line}\n" for line in known),
    }
    if family == "hydra":
        files[SSH_SCRIPT] = ssh_script(folder)
    return files
