"""Planted faults: `node05:hca=mlx5_2,rate=0.5` as a value, of a node, between nodes, or of every job."""

from __future__ import annotations

import re

from msgspec import Struct

from healthcheck.errors import InputError

WHERE = "--fault"
AVAILABLE = (
    "nodeNN:hca=mlx5_2,rate=0.5; nodeNN:hca=mlx5_2,slow=0.5; nodeNN:hca=mlx5_2,down; nodeNN:nvlink=0.6; "
    "nodeNN:nvls=off; nodeNN:corrupt; nodeNN:hang; nodeNN:unreachable; nodeNN:gpus=7; nodeNN:busy; nodeNN:gdr=off; "
    "nodeNN:socket; nodeNN:driver=535.54.03; nodeNN:intermittent=0.5; link:nodeNN-nodeMM=0.5; leaf:l1-l2=0.5; "
    "dip=0.01; noise=0.03"
)
_HCA_NAME = re.compile(r"[a-z]\w{0,31}")
_DRIVER = re.compile(r"\d{3,4}(\.\d{1,4}){1,2}")
_HOST_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,252}")


class HcaFault(Struct, frozen=True, tag="hca"):
    """One HCA at `rate` of its line rate; 0.0 means the port is down."""

    host: str
    device: str
    rate: float


class SlowHcaFault(Struct, frozen=True, tag="slow_hca"):
    """One HCA that carries `rate` of its line rate although its port and its counters look healthy."""

    host: str
    device: str
    rate: float


class NvlinkFault(Struct, frozen=True, tag="nvlink"):
    """NVLinks of one node at `rate` of what they should deliver."""

    host: str
    rate: float


class NvlsFault(Struct, frozen=True, tag="nvls"):
    """A node whose switches do not add up (no NVLS), although they could: NCCL takes a ring, without an error."""

    host: str


class GpusFault(Struct, frozen=True, tag="gpus"):
    """A node that shows only `count` GPUs."""

    host: str
    count: int


class CorruptFault(Struct, frozen=True, tag="corrupt"):
    """A node that computes wrong values."""

    host: str


class HangFault(Struct, frozen=True, tag="hang"):
    """A node on which every job stops making progress."""

    host: str


class UnreachableFault(Struct, frozen=True, tag="unreachable"):
    """A node nobody can log in to."""

    host: str


class BusyFault(Struct, frozen=True, tag="busy"):
    """A node on which somebody else's job holds a GPU."""

    host: str


class GdrFault(Struct, frozen=True, tag="gdr"):
    """A node whose NICs cannot reach the memory of its GPUs: no GPUDirect RDMA."""

    host: str


class SocketFault(Struct, frozen=True, tag="socket"):
    """A node on which NCCL finds no InfiniBand and falls back to TCP."""

    host: str


class DriverFault(Struct, frozen=True, tag="driver"):
    """A node with another NVIDIA driver than the others."""

    host: str
    version: str


class IntermittentFault(Struct, frozen=True, tag="intermittent"):
    """A node whose network is sick in this share of its jobs (`bandwidth.SICK_PACE` of the rate), else healthy."""

    host: str
    share: float


class LinkFault(Struct, frozen=True, tag="link"):
    """What lies between two nodes carries `rate` of what it should; the names sorted."""

    host_a: str
    host_b: str
    rate: float


class LeafFault(Struct, frozen=True, tag="leaf"):
    """Everything between two leaves carries `rate` of what it should; the names sorted."""

    leaf_a: str
    leaf_b: str
    rate: float


class NoiseFault(Struct, frozen=True, tag="noise"):
    """Relative standard deviation of every measurement of the cluster."""

    sigma: float


class DipFault(Struct, frozen=True, tag="dip"):
    """A job between nodes loses 10 to 20 % once, with this probability."""

    probability: float


NodeFault = (
    HcaFault
    | SlowHcaFault
    | NvlinkFault
    | NvlsFault
    | GpusFault
    | CorruptFault
    | HangFault
    | UnreachableFault
    | BusyFault
    | GdrFault
    | SocketFault
    | DriverFault
    | IntermittentFault
)
"""What one node has."""
FabricFault = LinkFault | LeafFault
"""What lies between nodes."""
JobFault = NoiseFault | DipFault
"""What any job may meet; nobody is sick."""
Fault = NodeFault | FabricFault | JobFault


def struck(fault: NodeFault | FabricFault) -> tuple[str, ...]:
    """The nodes that have a fault themselves; none where it lies between nodes."""
    return () if isinstance(fault, LinkFault | LeafFault) else (fault.host,)


def parse_fault(text: str) -> Fault:
    """Read one `--fault`; InputError names what is wrong and what would be right.

    Whether node, leaf and HCA exist is known only to the cluster, which checks it (`SimCluster`).
    """
    head, colon, rest = text.strip().partition(":")
    if not colon:
        return _job_fault(text.strip())
    if head == "link":
        return LinkFault(*_between(text.strip(), rest, "two different nodes, for example link:node01-node06=0.5"))
    if head == "leaf":
        return LeafFault(*_between(text.strip(), rest, "two different leaves, for example leaf:l1-l2=0.5"))
    if not _HOST_NAME.fullmatch(head):
        raise InputError(WHERE, f"{head!r} is not a node name; write for example node05:hca=mlx5_2,rate=0.5")
    return _node_fault(text.strip(), head, rest.split(","))


def _job_fault(text: str) -> Fault:
    key, equals, value = text.partition("=")
    if key == "noise" and equals:
        return NoiseFault(_number(text, value, 0.0, 0.5, "a noise from 0 to 0.5"))
    if key == "dip" and equals:
        return DipFault(_number(text, value, 0.0, 1.0, "a probability from 0 to 1, for example dip=0.01"))
    raise InputError(WHERE, f"{text!r} is not a fault; faults are {AVAILABLE}")


def _between(text: str, rest: str, wanted: str) -> tuple[str, str, float]:
    """`a-b=0.5`. Names may have dashes themselves, both the same number of them."""
    names, _, value = rest.partition("=")
    words = names.split("-")
    half = len(words) // 2
    first, second = sorted(("-".join(words[:half]), "-".join(words[half:])))
    if len(words) % 2 or first == second or not (_HOST_NAME.fullmatch(first) and _HOST_NAME.fullmatch(second)):
        raise InputError(WHERE, f"{text!r} does not name {wanted}")
    return first, second, _fraction(text, value)


def _node_fault(text: str, host: str, words: list[str]) -> NodeFault:
    key, equals, value = words[0].partition("=")
    if key == "hca":
        return _hca_fault(text, host, value, words[1:])
    plain: dict[str, type[CorruptFault | HangFault | UnreachableFault | BusyFault | SocketFault]] = {
        "corrupt": CorruptFault,
        "hang": HangFault,
        "unreachable": UnreachableFault,
        "busy": BusyFault,
        "socket": SocketFault,
    }
    if len(words) == 1:
        if key in plain and not equals:
            return plain[key](host)
        if key == "nvlink" and equals:
            return NvlinkFault(host, _fraction(text, value))
        if key == "intermittent" and equals:
            return IntermittentFault(host, _fraction(text, value))
        if key == "gpus" and value.isascii() and value.isdigit():
            return GpusFault(host, int(value))
        if key in ("gdr", "nvls") and value == "off":
            return GdrFault(host) if key == "gdr" else NvlsFault(host)
        if key == "driver" and _DRIVER.fullmatch(value):
            return DriverFault(host, value)
    raise InputError(WHERE, f"{text!r} is not a fault; faults are {AVAILABLE}")


def _hca_fault(text: str, host: str, device: str, words: list[str]) -> HcaFault | SlowHcaFault:
    if not _HCA_NAME.fullmatch(device) or len(words) != 1:
        raise InputError(WHERE, f"{text!r}: write {host}:hca=mlx5_2, then rate=0.5, slow=0.5 or down")
    if words[0] == "down":
        return HcaFault(host, device, 0.0)
    key, equals, value = words[0].partition("=")
    if key not in ("rate", "slow") or not equals:
        raise InputError(WHERE, f"{text!r}: after the HCA comes rate=0.5, slow=0.5 or down, not {words[0]!r}")
    share = _fraction(text, value)
    return HcaFault(host, device, share) if key == "rate" else SlowHcaFault(host, device, share)


def _fraction(text: str, value: str) -> float:
    number = _number(text, value, 0.0, 1.0, "a fraction above 0 and up to 1, for example 0.5")
    if number == 0.0:
        raise InputError(WHERE, f"{text!r}: {value!r} is not a fraction above 0 and up to 1, for example 0.5")
    return number


def _number(text: str, value: str, low: float, high: float, wanted: str) -> float:
    try:
        number = float(value)
    except ValueError:
        number = -1.0
    if not low <= number <= high:
        raise InputError(WHERE, f"{text!r}: {value!r} is not {wanted}")
    return number
