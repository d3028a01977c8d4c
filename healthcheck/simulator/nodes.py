"""What one simulated node says about itself, part by part of the probe batch."""

from __future__ import annotations

import re
import shlex
import uuid
from collections.abc import Callable

from healthcheck.probes.batch import frame
from healthcheck.simulator import parts_fabric, parts_gpus, parts_network, parts_system
from healthcheck.simulator.chips import chip_named
from healthcheck.simulator.cluster import SimCluster, SimNode
from healthcheck.simulator.gpu_names import bus_of, gpu_model, gpu_uuid
from healthcheck.simulator.reply import Reply, at_once

USER = "simulated"
HOME = "/home/simulated"
USER_ID = 1000
CACHE = f"{HOME}/.cache/healthcheck"
MPI_VERSION = "mpirun (Open MPI) 4.1.4\n\nReport bugs to http://www.open-mpi.org/community/help/\n"
BUSY_PID = 48213
BUSY_USER = "mlteam"

_PATHS_ASKED = re.compile(r"for p in (.*?); do")


def probe_batch(cluster: SimCluster, node: SimNode, arguments: tuple[str, ...]) -> Reply:
    """The answer to a probe batch: `arguments` are its nonce, then name, timeout, group and shell text of every
    part."""
    nonce, rest = arguments[0], arguments[1:]
    frames = []
    for name, text in zip(rest[0::4], rest[3::4], strict=False):
        speak = PARTS.get(name)
        if speak is None:
            frames.append(frame(nonce, name, 127, "", f"simulated node: it has no answer for the part {name!r}"))
        else:
            frames.append(frame(nonce, name, 0, speak(cluster, node, text), ""))
    return at_once("".join(frames))


def identity(cluster: SimCluster, node: SimNode, text: str) -> str:
    """Who answers."""
    boot = uuid.uuid5(uuid.NAMESPACE_DNS, f"{node.name}.{cluster.seed}.simulated")
    return (
        f"uid {USER_ID}\nuser {USER}\nhome {HOME}\narch {_arch(cluster)}\nhostname {node.name}\nboot_id {boot}\n"
        "simulated no GPU is measured here\n"
    )


def _arch(cluster: SimCluster) -> str:
    return chip_named(gpu_model(cluster.platform)).arch


def gpus(cluster: SimCluster, node: SimNode, text: str) -> str:
    """`nvidia-smi --query-gpu=index,uuid,name,pci.bus_id,driver_version --format=csv,noheader`."""
    model = gpu_model(cluster.platform)
    return "".join(
        f"{index}, {gpu_uuid(node.name, index)}, {model}, 00000000:{bus_of(index).upper()}:00.0, {node.driver}\n"
        for index in range(node.gpus)
    )


def gpu_processes(cluster: SimCluster, node: SimNode, text: str) -> str:
    """Compute processes; on a busy node one of somebody else."""
    if not node.busy:
        return "end\n"
    return f"{BUSY_PID}, {gpu_uuid(node.name, 0)}, python3\nuser {BUSY_PID} {BUSY_USER}\nend\n"


def binary(cluster: SimCluster, node: SimNode, text: str) -> str:
    """Every nccl-tests executable the part asks for, present and built with MPI."""
    asked, arch = _PATHS_ASKED.search(text), _arch(cluster)
    blocks = [
        f"path {path}\nstate ok\narch {arch}\nmpi_symbol yes\n"
        "ldd libcudart.so.12 => /usr/local/cuda/lib64/libcudart.so.12 (0x00007f3a5a400000)\n"
        f"ldd libnccl.so.2 => /usr/lib/{arch}-linux-gnu/libnccl.so.2 (0x00007f3a40000000)\n"
        f"ldd libmpi.so.40 => /usr/lib/{arch}-linux-gnu/libmpi.so.40 (0x00007f3a5a2e0000)\n"
        for path in (shlex.split(asked[1]) if asked else ())
    ]
    return f"machine {arch}\n" + "".join(blocks)


def mpi(cluster: SimCluster, node: SimNode, text: str) -> str:
    """`mpirun --version`."""
    return MPI_VERSION


def nothing(cluster: SimCluster, node: SimNode, text: str) -> str:
    """No process of an earlier run is left."""
    return ""


PARTS: dict[str, Callable[[SimCluster, SimNode, str], str]] = {
    **parts_gpus.PARTS,
    **parts_network.PARTS,
    **parts_fabric.PARTS,
    **parts_system.PARTS,
    "identity": identity,
    "gpus": gpus,
    "gpu_processes": gpu_processes,
    "binary": binary,
    "mpi": mpi,
    "leftovers": nothing,
}
