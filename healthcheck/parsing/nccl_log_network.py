"""How one process reaches the others: network, NICs, GPUDirect RDMA, and the transport of every connection.

The wordings are those of NCCL 2.8 to 2.30.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from healthcheck.model.nccl import NcclDistance, NcclHca, NcclNic

Quote = Callable[[str, str], None]
"""Keeps a line that said a thing: (about, line). One way keeps the first one, the other the last."""

_MOST_NICS = 256
_MOST_PAIRS = 512
_QUOTED_PAIRS = 16  # rings and trees have fewer partners
_MOST_DISTANCES = 512
_MOST_TRANSPORTS = 64
_MOST_BROUGHT = 64

_PAIR = re.compile(r"(\d+)\[[\w.:]*\] -> (\d+)\[")
_NET = re.compile(r"NET/([^/]{1,64})/\d+(?:\(\d+\))?(.*)")
# Only a whole list counts: where the interface behind it is missing, the line was cut.
_NICS = re.compile(r"NET/IB\w* ?: Using (?P<list>.*); OOB ")
_NIC = re.compile(r"(?P<device>[A-Za-z][\w.-]{0,63}):(?P<port>\d{1,3})/(?P<layer>IB|RoCE)\b")
_SPEED = re.compile(
    r"NET/IB\w* ?: ?\[\d+\] ?(?P<device>[A-Za-z][\w.-]{0,63})(?::[a-z]\w*)?:(?P<port>\d{1,3})/\w+ "
    r".*\bspeed=(?P<speed>\d+) "
)
_HCA = re.compile(r"GPU Direct RDMA (?:\([\w-]+\) )?(Enabled|Disabled) for HCA (\d{1,4}) '([^']{1,64})'")
_DISTANCE = re.compile(
    r"GPU Direct RDMA (Enabled|Disabled) for GPU (\S{1,32}) / HCA (\d{1,4}) \(distance (\d{1,3}) [<>]=? \d{1,3}\)"
)
_NETWORK = re.compile(r"(Using network|Assigned NET plugin|Initialized NET plugin) (.{1,64}?)(?: to comm.*)?$")
# A plugin that is initialised may still be passed over; one that is assigned carries the data.
_WEIGHT = {"Initialized NET plugin": 1, "Using network": 2, "Assigned NET plugin": 3}
_PLUGIN = re.compile(r"NET/Plugin ?: (?:Loaded net plugin (.{1,64}?) \(v\d+\)|Plugin name set by env to (\S{1,200}))")
_PROVIDER = re.compile(r"NET/OFI .*?[Ss]elected [Pp]rovider is ([\w;]{1,64})")
# `Adding NCCL_BUFFSIZE=8388608 to environment`; older ones `Setting NCCL_PROTO to "simple"`.
_BROUGHT = re.compile(r"NET/OFI .*\b(?:Add|[Ss]ett)ing (NCCL_\w{1,64})(?:=| to | environment variable to )")


@lru_cache(maxsize=4096)
def transport(text: str) -> str | None:
    """`P2P/IPC`, `SHM`, `NET/IB/GDRDMA` of what stands behind `via`; None for what is none of them.

    `direct shared memory` is what NCCL called SHM until 2.12.
    """
    if text.startswith("P2P/"):
        kind = text.split("/")[1].split(" ")[0]
        return f"P2P/{kind}" if kind else None
    if text.startswith(("SHM", "direct shared memory")):
        return "SHM"
    if (match := _NET.match(text)) is not None:
        return f"NET/{match[1]}/GDRDMA" if "/GDRDMA" in match[2] else f"NET/{match[1]}"
    return "COLLNET" if text.startswith("COLLNET/") else None


class NetworkLog:
    """Collects it line by line. `pairs` are (from rank, to rank) -> NET connections, `brought` the
    variables that a plugin said it sets itself.

    What was said first stands; of the network the last word of the most telling line does.
    """

    def __init__(self, quote: Quote, requote: Quote) -> None:
        self.network: str | None = None
        self._network_weight = 0
        self.plugin: str | None = None
        self.no_nics = False
        self.dmabuf: bool | None = None
        self.brought: set[str] = set()
        self.hcas: dict[int, NcclHca] = {}
        self.distances: dict[tuple[str, int], NcclDistance] = {}
        self.links: dict[str, int] = {}
        self.pairs: dict[tuple[int, int], int] = {}
        self._nics: dict[tuple[str, int], str] = {}
        self._speeds: dict[tuple[str, int], int] = {}
        self._quote = quote
        self._requote = requote

    @property
    def nics(self) -> tuple[NcclNic, ...]:
        """The ports NCCL uses, in its own order."""
        return tuple(NcclNic(*key, layer, self._speeds.get(key)) for key, layer in self._nics.items())

    def connection(self, message: str, via: int, line: str) -> None:
        """`Channel 00/0 : 0[7000] -> 8[7000] [send] via NET/IB/0/GDRDMA`; `via` is where ` via ` begins in it."""
        name = transport(message[via + 5 :])
        if name is None:
            return
        if name not in self.links:
            if len(self.links) >= _MOST_TRANSPORTS:
                return
            self.links[name] = 0
            self._quote(f"link:{name}", line)
        self.links[name] += 1
        if name.startswith("NET/") and (match := _PAIR.search(message)) is not None:
            pair = int(match[1]), int(match[2])
            if pair in self.pairs:
                self.pairs[pair] += 1
            elif len(self.pairs) < _MOST_PAIRS:
                self.pairs[pair] = 1
                if len(self.pairs) <= _QUOTED_PAIRS:
                    self._quote(f"pair:{pair[0]}-{pair[1]}", line)

    def said_network(self, message: str, line: str) -> None:
        """`Using network IB`; since 2.27 also `Initialized NET plugin IB` and `Assigned NET plugin IB to comm`."""
        match = _NETWORK.match(message)
        if match is None or _WEIGHT[match[1]] < self._network_weight:
            return
        self._network_weight = _WEIGHT[match[1]]
        if self.network != match[2].strip():
            self.network = match[2].strip()
            self._requote("network", line)

    def said_dmabuf(self, message: str, _line: str) -> None:
        """`DMA-BUF is available on GPU device 0`."""
        if "is available" in message:
            self.dmabuf = True

    def said_net(self, message: str, line: str) -> None:
        """Any line that begins with `NET/`, and the older ones that begin with `GPU Direct`."""
        if "GPU Direct RDMA" in message:
            self._gpu_direct(message, line)
        elif message.startswith("NET/Plugin"):
            self._said_plugin(_PLUGIN.match(message), line)
        elif message.startswith("NET/OFI"):
            self._said_provider(_PROVIDER.match(message), line)
            if (match := _BROUGHT.match(message)) is not None and len(self.brought) < _MOST_BROUGHT:
                self.brought.add(match[1])
        elif " Using " in message:
            self._using(message, line)
        elif "speed=" in message:
            match = _SPEED.match(message)
            if match is not None and len(self._speeds) < _MOST_NICS:
                self._speeds.setdefault((match["device"], int(match["port"])), int(match["speed"]))
        elif "No device found" in message:
            self.no_nics = True
            self._quote("no_nics", line)

    def _said_provider(self, match: re.Match[str] | None, line: str) -> None:
        """What carries the data, whatever the plugin that was loaded before is called."""
        if match is not None and self.plugin != f"OFI {match[1]}":
            self.plugin = f"OFI {match[1]}"
            self._requote("plugin", line)

    def _said_plugin(self, match: re.Match[str] | None, line: str) -> None:
        if match is not None and self.plugin is None:
            self.plugin = (match[1] or match[2]).strip()
            self._quote("plugin", line)

    def _using(self, message: str, line: str) -> None:
        whole = _NICS.match(message) if not self._nics else None
        if whole is None:
            return
        for nic in _NIC.finditer(whole["list"]):
            if len(self._nics) < _MOST_NICS:
                self._nics.setdefault((nic["device"], int(nic["port"])), nic["layer"])
        if self._nics:
            self._quote("nics", line)

    def _gpu_direct(self, message: str, line: str) -> None:
        match = _DISTANCE.search(message)
        if match is not None:
            key = match[2], int(match[3])
            if key not in self.distances and len(self.distances) < _MOST_DISTANCES:
                near = match[1] == "Enabled"
                self.distances[key] = NcclDistance(*key, int(match[4]), near)
                self._quote("gdr_near" if near else "gdr_far", line)
        elif (match := _HCA.search(message)) is not None:
            index = int(match[2])
            if index not in self.hcas and len(self.hcas) < _MOST_NICS:
                enabled = match[1] == "Enabled"
                self.hcas[index] = NcclHca(index, match[3], enabled)
                self._quote("gdr_on" if enabled else "gdr_off", line)
