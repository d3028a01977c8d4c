"""What a node tells about its network beyond the ports themselves."""

from __future__ import annotations

from msgspec import Struct

from healthcheck.model.reading import Reading


class PortCounters(Struct, frozen=True, gc=False):
    """What one port had counted when it was asked: (counter, value) as in sysfs, since its driver was loaded."""

    device: str
    port: int
    values: tuple[tuple[str, int], ...]


class UverbsNode(Struct, frozen=True):
    """One `/dev/infiniband/uverbs*`: the way from user space to a card. `device` None where sysfs does not name it.

    `access` is `ok` (it could be opened for reading and writing), `denied`, or `broken` where the mode of the file
    allows it and opening it fails all the same (a container without that device, a card that is gone).
    """

    name: str
    device: str | None
    access: str


class PathMtu(Struct, frozen=True):
    """The MTU a port really uses for RDMA, in bytes."""

    device: str
    port: int
    active_mtu: int


class Verbs(Struct, frozen=True):
    """Can user space reach the cards, and with which MTU do their ports run; only ibv_devinfo tells the latter."""

    nodes: tuple[UverbsNode, ...]
    mtus: Reading[tuple[PathMtu, ...]]
