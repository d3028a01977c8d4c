"""What NCCL said of itself in its own log (NCCL_DEBUG=INFO), one value a process.

NCCL words its log differently from version to version and drops lines as it grows, so a thing it did not say is None
or empty: that is never evidence for or against anything.
"""

from __future__ import annotations

from msgspec import Struct

MOST_WARNINGS = 200
"""Warnings kept of one process, the first ones: what came first explains what followed."""


class NcclNic(Struct, frozen=True):
    """One port NCCL uses: `mlx5_0`, 1, `IB` or `RoCE`. `speed_mbit_s` as NCCL read it, None where it did not say."""

    device: str
    port: int
    layer: str
    speed_mbit_s: int | None = None


class NcclHca(Struct, frozen=True):
    """Whether NCCL found that one NIC can reach GPU memory (`GPU Direct RDMA Enabled for HCA 0 'mlx5_0'`)."""

    index: int
    device: str
    enabled: bool


class NcclDistance(Struct, frozen=True):
    """One decision about a GPU and a NIC: `near` when the path is short enough for GPUDirect RDMA.

    `gpu` as NCCL writes it (a bus id such as `7000`, or `0/7000`), `hca` is NCCL's own index. That a GPU is far from
    some NICs is normal; that it is near to none is not.
    """

    gpu: str
    hca: int
    distance: int
    near: bool


class NcclAlgorithm(Struct, frozen=True):
    """What NCCL chose for one collective at one size, by name: `AllReduce`, bytes, `NVLS`, `SIMPLE`."""

    collective: str
    size_bytes: int
    algorithm: str
    protocol: str


class NcclSetting(Struct, frozen=True):
    """A variable NCCL took: `source` is what it says set it (`environment` also stands for nccl.conf), or `network
    plugin` where that said before that it brings it along. `text`: its line, verbatim."""

    name: str
    value: str
    source: str
    text: str

    @property
    def of_plugin(self) -> bool:
        """Whether a plugin chose it, which knows its network: nobody left it behind."""
        return self.source.endswith("plugin")


class NcclWarning(Struct, frozen=True):
    """One WARN line, or one line of the trace behind a failed call (`file.cc:304 -> 2`).

    `at` is the time as printed (NCCL 2.19 and later), None without one; the clock is the node's own. `source_file` is
    `transport/net_ib.cc:1295`. `text` is what NCCL says, without what stands in front. `secondary`: it only follows
    from something that went wrong before or elsewhere.
    """

    text: str
    at: str | None
    rank: int | None
    host: str
    pid: int | None
    source_file: str | None
    secondary: bool


class NcclQuote(Struct, frozen=True):
    """The line that said a thing, verbatim, so that a verdict can quote it: the first one, or where a later one
    overruled it, as for `network` and `plugin`, that one.

    `about` is one of `network`, `plugin`, `nics`, `no_nics`, `gdr_on` and `gdr_off` (of a NIC), `gdr_near` and
    `gdr_far` (of a GPU and a NIC), `gdr_flag`, `nvls`, `max_bw`, `init`, `link:` and a transport (`link:SHM`), or
    `pair:` and two ranks (`pair:0-8`).
    """

    about: str
    text: str


class NcclRankLog(Struct, frozen=True):
    """The log of one process: with one GPU a process (as healthcheck launches) that is one rank.

    `host` is the name NCCL printed: the node's own, up to the first dot. `rank` is the first one of the process.
    `links` counts connections by transport: `P2P/IPC`, `P2P/CUMEM`, `P2P/direct`, `P2P/indirect`, `P2P/MNNVL`, `SHM`,
    `NET/<network>` and `NET/<network>/GDRDMA`. `net_pairs` are (from rank, to rank) of NET connections, the first
    ones. `loopback_net` counts NET connections known from the logs alone to lie inside one host. `n_nodes`: as NCCL
    counted them. `max_bw_gbyte_s` is NCCL's own estimate of the best path between GPUs. `gdr_flag` is the one behind
    `Connected all rings` (2.24 and later). `nics` is empty unless the whole list was printed.
    """

    host: str
    pid: int | None = None
    rank: int | None = None
    n_ranks: int | None = None
    n_nodes: int | None = None
    version: str | None = None
    cuda_driver: int | None = None
    network: str | None = None
    network_plugin: str | None = None
    bootstrap: str | None = None
    nics: tuple[NcclNic, ...] = ()
    no_nics: bool = False
    gdr_hcas: tuple[NcclHca, ...] = ()
    gdr_distances: tuple[NcclDistance, ...] = ()
    gdr_flag: bool | None = None
    dmabuf: bool | None = None
    links: tuple[tuple[str, int], ...] = ()
    net_pairs: tuple[tuple[int, int], ...] = ()
    loopback_net: int = 0
    nvls: bool | None = None
    rings: int | None = None
    max_bw_gbyte_s: float | None = None
    algorithms: tuple[NcclAlgorithm, ...] = ()
    settings: tuple[NcclSetting, ...] = ()
    warnings: tuple[NcclWarning, ...] = ()
    init_complete: bool = False
    quotes: tuple[NcclQuote, ...] = ()

    def links_of(self, transport: str) -> int:
        """Connections over a transport and all its kinds: `NET/IB` counts those with GDRDMA too."""
        return sum(n for name, n in self.links if name == transport or name.startswith(f"{transport}/"))

    def quote(self, about: str) -> str | None:
        """The line that said it, None where none did."""
        return next((quote.text for quote in self.quotes if quote.about == about), None)
