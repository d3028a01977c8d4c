"""What one process said, collected line by line. One method a kind of line, found by its first word.

What was said first stands: the beginning of a log says nothing that the whole of it does not. Only the network that is
used is known when NCCL has settled on it. The wordings are those of NCCL 2.8 to 2.30.
"""

from __future__ import annotations

import re

from msgspec.structs import replace

from healthcheck.model.nccl import NcclAlgorithm, NcclQuote, NcclRankLog, NcclSetting, NcclWarning
from healthcheck.parsing.nccl_log_network import NetworkLog
from healthcheck.parsing.nccl_log_warnings import Warnings
from healthcheck.parsing.nccl_tests.failures import shown

_MOST_QUOTED = 4096  # a line without end may be a whole file
_MOST_SETTINGS = 128
_MOST_ALGORITHMS = 64
_BY_PLUGIN = "network plugin"
_ALGORITHMS = ("TREE", "RING", "COLLNET_DIRECT", "COLLNET_CHAIN", "NVLS", "NVLS_TREE", "PAT")
_PROTOCOLS = ("LL", "LL128", "SIMPLE")

_VERSION = re.compile(r"NCCL version (\d+\.\d+\.\d+)\b")
_RING = re.compile(r"Channel \d+/(\d+) ?:")
_BOOTSTRAP = re.compile(r"Bootstrap ?: Using (?:\[\d+\])?([^\s:]{1,64}):")
_COMM = re.compile(r"\brank (\d{1,9}) n[rR]anks (\d{1,9}) ")
_NODES = re.compile(r"\bnNodes (\d{1,9}) ")
_MAX_BW = re.compile(r"=== System : max(?:Bw|Width) (\d{1,9}\.\d{1,9}) ")
_GDR_FLAG = re.compile(r"Connected all rings, use ring PXN \d GDR (\d)$")
_CHOSEN = re.compile(r"(?:(\w{1,64}): {1,20})?(\d{1,18}) Bytes -> Algo (\w{1,32}) proto (\w{1,32})\b")
_SETTING = re.compile(r"(NCCL_\w{1,64}) set (?:by (.{1,40}?) )?to (.*)$")
_DRIVER = re.compile(r"cudaDriverVersion (\d{4,6})$")


class Draft:
    """One process. `lines` counts what it said so far."""

    def __init__(self, host: str, pid: int | None = None) -> None:
        self.host = host
        self.pid = pid
        self.lines = 0
        self.rank: int | None = None
        self.n_ranks: int | None = None
        self.n_nodes: int | None = None
        self.version: str | None = None
        self.network = NetworkLog(self.quote, self.requote)
        self.warnings = Warnings()
        self._bootstrap: str | None = None
        self._cuda_driver: int | None = None
        self._nvls: bool | None = None
        self._rings: int | None = None
        self._max_bw: float | None = None
        self._gdr_flag: bool | None = None
        self._algorithms: dict[tuple[str, int], NcclAlgorithm] = {}
        self._settings: dict[str, NcclSetting] = {}
        self._init_complete = False
        self._quotes: dict[str, str] = {}

    def info(self, message: str, line: str, at: str | None) -> None:
        """Take one INFO line: `message` is what follows `NCCL INFO `, `line` all of it, `at` its time if it has one."""
        self.lines += 1
        word = message.partition(" ")[0]
        look = _LOOKS.get(word)
        if look is not None:
            look(self, message, line)
        elif "Got completion" in message:  # some versions report a failed transfer as INFO
            self.warnings.add(message, at, None)
        elif word.startswith("NET/"):
            self.network.said_net(message, line)
        elif word.startswith("NCCL_"):
            self._said_setting(message, line)
        elif word.startswith("ncclComm"):
            self._said_comm(message, line)
        elif " Bytes -> Algo " in message:
            self._said_algorithm(message)
        elif " -> " in message:
            self.warnings.add_trace(message, at)

    def warn(self, message: str, at: str | None, source_file: str | None) -> None:
        """Take one WARN line."""
        self.lines += 1
        self.warnings.add(message, at, source_file)

    def quote(self, about: str, line: str) -> None:
        """Keep the first line that says it."""
        if about not in self._quotes:
            self._quotes[about] = shown(line[:_MOST_QUOTED])

    def requote(self, about: str, line: str) -> None:
        """Keep this line, whatever said it before."""
        self._quotes[about] = shown(line[:_MOST_QUOTED])

    def finished(self, host: str, loopback_net: int, version: str | None = None) -> NcclRankLog:
        """All of it as a value. `version`: what was said of it outside any process."""
        network = self.network
        warnings = (
            NcclWarning(said.text, said.at, self.rank, host, self.pid, said.source_file, said.secondary)
            for said in self.warnings.said
        )
        return NcclRankLog(
            host=host,
            pid=self.pid,
            rank=self.rank,
            n_ranks=self.n_ranks,
            n_nodes=self.n_nodes,
            version=self.version or version,
            cuda_driver=self._cuda_driver,
            network=network.network,
            network_plugin=network.plugin,
            bootstrap=self._bootstrap,
            nics=network.nics,
            no_nics=network.no_nics,
            gdr_hcas=tuple(network.hcas.values()),
            gdr_distances=tuple(network.distances.values()),
            gdr_flag=self._gdr_flag,
            dmabuf=network.dmabuf,
            links=tuple(sorted(network.links.items())),
            net_pairs=tuple(network.pairs),
            loopback_net=loopback_net,
            nvls=self._nvls,
            rings=self._rings,
            max_bw_gbyte_s=self._max_bw,
            algorithms=tuple(self._algorithms.values()),
            settings=tuple(
                replace(one, source=_BY_PLUGIN) if one.name in network.brought else one
                for one in self._settings.values()
            ),
            warnings=tuple(warnings),
            init_complete=self._init_complete,
            quotes=tuple(NcclQuote(about, text) for about, text in self._quotes.items()),
        )

    def _said_channel(self, message: str, line: str) -> None:
        """Connections are by far the most lines of a log; `Channel 00/24 : 0 1 2 3` is the order of one ring."""
        via = message.find(" via ")
        if via >= 0:
            self.network.connection(message, via, line)
        elif self._rings is None and (match := _RING.match(message)) is not None and " -> " not in message:
            self._rings = int(match[1])

    def _said_using(self, message: str, line: str) -> None:
        self.network.said_network(message, line)

    def _said_gpu(self, message: str, line: str) -> None:
        self.network.said_net(message, line)

    def _said_dmabuf(self, message: str, line: str) -> None:
        self.network.said_dmabuf(message, line)

    def _said_nvls(self, message: str, line: str) -> None:
        """One of several GPUs without it is enough: the collective needs all."""
        if "multicast support is not available" in message:
            if self._nvls is not False:
                self._quotes.pop("nvls", None)
            self._nvls = False
            self.quote("nvls", line)
        elif "multicast support is available" in message and self._nvls is None:
            self._nvls = True
            self.quote("nvls", line)

    def _said_connected(self, message: str, line: str) -> None:
        match = _GDR_FLAG.match(message) if self._gdr_flag is None else None
        if match is not None:
            self._gdr_flag = match[1] != "0"
            self.quote("gdr_flag", line)

    def _said_system(self, message: str, line: str) -> None:
        match = _MAX_BW.match(message) if self._max_bw is None else None
        if match is not None:
            self._max_bw = float(match[1])
            self.quote("max_bw", line)

    def _said_comm(self, message: str, line: str) -> None:
        match = _COMM.search(message) if self.rank is None else None
        if match is not None:
            self.rank, self.n_ranks = int(match[1]), int(match[2])
        if self.n_nodes is None and (match := _NODES.search(message)) is not None:
            self.n_nodes = int(match[1])
        if "Init COMPLETE" in message:
            self._init_complete = True
            self.quote("init", line)

    def _said_version(self, message: str, _line: str) -> None:
        self.version = self.version or version_of(message)

    def _said_driver(self, message: str, _line: str) -> None:
        match = _DRIVER.match(message)
        if match is not None and self._cuda_driver is None:
            self._cuda_driver = int(match[1])

    def _said_bootstrap(self, message: str, _line: str) -> None:
        match = _BOOTSTRAP.match(message)
        if match is not None and self._bootstrap is None:
            self._bootstrap = match[1]

    def _said_algorithm(self, message: str) -> None:
        match = _CHOSEN.match(message)
        if match is None or len(self._algorithms) >= _MOST_ALGORITHMS:
            return
        key = match[1] or "", int(match[2])
        if key not in self._algorithms:
            chosen = _named(match[3], _ALGORITHMS), _named(match[4], _PROTOCOLS)
            self._algorithms[key] = NcclAlgorithm(*key, *chosen)

    def _said_setting(self, message: str, line: str) -> None:
        match = _SETTING.match(message)
        if match is not None and match[1] not in self._settings and len(self._settings) < _MOST_SETTINGS:
            value = match[3].strip().removesuffix(".")
            self._settings[match[1]] = NcclSetting(
                match[1], shown(value), match[2] or "environment", shown(line[:_MOST_QUOTED])
            )

    def _pass_over(self, _message: str, _line: str) -> None:
        """What is said often and asked by nobody."""


def version_of(text: str) -> str | None:
    """`2.18.3` of `NCCL version 2.18.3+cuda12.2`."""
    match = _VERSION.match(text)
    return match[1] if match is not None else None


def _named(text: str, names: tuple[str, ...]) -> str:
    """Older versions print a number for an algorithm or a protocol."""
    return names[int(text)] if text.isdecimal() and int(text) < len(names) else text.upper()


_LOOKS = {
    "Channel": Draft._said_channel,
    "Trees": Draft._pass_over,
    "Ring": Draft._pass_over,
    "Tree": Draft._pass_over,
    "P2P": Draft._pass_over,
    "GPU": Draft._said_gpu,
    "DMA-BUF": Draft._said_dmabuf,
    "Using": Draft._said_using,
    "Assigned": Draft._said_using,
    "Initialized": Draft._said_using,
    "NVLS": Draft._said_nvls,
    "Connected": Draft._said_connected,
    "===": Draft._said_system,
    "comm": Draft._said_comm,
    "Init": Draft._said_comm,
    "NCCL": Draft._said_version,
    "cudaDriverVersion": Draft._said_driver,
    "Bootstrap": Draft._said_bootstrap,
    "Bootstrap:": Draft._said_bootstrap,
}
"""First word of a message -> what reads it."""
