"""A cluster without hardware: its nodes, what each of them can do, and which faults were planted."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from msgspec import Struct

from healthcheck.errors import InputError
from healthcheck.model.host import Host
from healthcheck.model.platform import Platform
from healthcheck.simulator.bandwidth import DEFAULT_NOISE, NodeCapability
from healthcheck.simulator.chips import chip_named
from healthcheck.simulator.faults import (
    WHERE,
    BusyFault,
    CorruptFault,
    DipFault,
    DriverFault,
    Fault,
    GdrFault,
    GpusFault,
    HangFault,
    HcaFault,
    IntermittentFault,
    LeafFault,
    LinkFault,
    NodeFault,
    NoiseFault,
    NvlinkFault,
    NvlsFault,
    SlowHcaFault,
    SocketFault,
    UnreachableFault,
)
from healthcheck.simulator.generations import Generation, of_seed
from healthcheck.simulator.gpu_names import gpu_model
from healthcheck.simulator.nics import device_names
from healthcheck.simulator.nvlinks import links_of_gpu

MAX_NODES = 20_000
LOCALHOST = "localhost"
_F = TypeVar("_F")


class SimNode(Struct, frozen=True):
    """One simulated node with what is wrong with it. `rails` as in `NodeCapability`, in the order of `hcas`.

    `driver` is what it has installed; without `gdr` its NICs cannot reach GPU memory; with `socket` NCCL finds no
    InfiniBand and takes TCP. `carried` is the share of its rate that each HCA carries although no probe shows it;
    `sick_jobs` the share of its jobs between nodes in which its network is sick.
    """

    name: str
    leaf: str
    gpus: int
    hcas: tuple[str, ...]
    capability: NodeCapability
    corrupt: bool = False
    hang: bool = False
    unreachable: bool = False
    busy: bool = False
    driver: str = ""
    gdr: bool = True
    socket: bool = False
    carried: tuple[float, ...] = ()
    sick_jobs: float = 0.0


class Ran(Struct, frozen=True):
    """A job that ran: hosts in rank order, ranks of each, message sizes in bytes, and the variables of its ranks."""

    hosts: tuple[str, ...]
    ranks: tuple[int, ...]
    sizes: tuple[int, ...] = ()
    env: tuple[tuple[str, str], ...] = ()


class SimCluster:
    """`n` nodes `node01`... of one platform. Raises InputError for a fault that names what the cluster lacks.

    `job_seconds` is how long every benchmark takes, `tool_version` which nccl-tests the nodes have,
    `names` replaces the generated node names (then there are as many nodes as names), `leaves` gives the leaf of each
    (else `leaf_size` neighbours share one). `generation` is the software they have, else the seed chooses. `now` is the
    wall clock of all nodes, seconds since 1970; whoever serves the cluster sets it.

    `seed` decides what lasts: software, and what healthy nodes differ by. `run_seed`, the same where nothing is said,
    decides what is new in each run: noise, dips, and in which jobs an intermittent node is sick. One fleet in the
    course of time is one `seed` with one `run_seed` a run.
    """

    def __init__(
        self,
        n: int,
        platform: Platform,
        seed: int = 0,
        faults: Sequence[Fault] = (),
        leaf_size: int = 8,
        job_seconds: float = 0.0,
        tool_version: str = "2.17.10",
        names: Sequence[str] = (),
        generation: Generation | None = None,
        leaves: Sequence[str] = (),
        run_seed: int | None = None,
    ) -> None:
        if not 1 <= n <= MAX_NODES:
            raise InputError("--simulate", f"{n} nodes cannot be simulated; 1 to {MAX_NODES} can")
        if leaf_size < 1:
            raise InputError("--leaf-size", f"{leaf_size} is not a number of nodes above zero")
        self.platform = platform
        self.seed = seed
        self.run_seed = seed if run_seed is None else run_seed
        self.generation = generation or of_seed(seed, chip_named(gpu_model(platform)).oldest_driver)
        self.now: Callable[[], float] = lambda: 0.0
        self.job_seconds = job_seconds
        self.tool_version = tool_version
        self.faults = tuple(faults)
        self.noise = next(
            (fault.sigma for fault in reversed(self.faults) if isinstance(fault, NoiseFault)), DEFAULT_NOISE
        )
        self.dip = max((fault.probability for fault in self.faults if isinstance(fault, DipFault)), default=0.0)
        self.links = {(f.host_a, f.host_b): f.rate for f in self.faults if isinstance(f, LinkFault)}
        self.paths = {(f.leaf_a, f.leaf_b): f.rate for f in self.faults if isinstance(f, LeafFault)}
        self._by_host: dict[str, list[NodeFault]] = {}
        for fault in self.faults:
            if not isinstance(fault, NoiseFault | DipFault | LinkFault | LeafFault):
                self._by_host.setdefault(fault.host, []).append(fault)
        width = max(2, len(str(n)))
        node_names = tuple(names) or tuple(f"node{number:0{width}d}" for number in range(1, n + 1))
        leaf_names = tuple(leaves) or tuple(f"l{position // leaf_size + 1}" for position in range(len(node_names)))
        self.nodes: dict[str, SimNode] = {
            name: self._node(name, leaf) for name, leaf in zip(node_names, leaf_names, strict=True)
        }
        self._check_names()
        self._head = self._node(LOCALHOST, "")
        self._times_run: dict[str, Iterator[int]] = {}
        self._logs: dict[str, dict[str, Ran]] = {}
        self._at_work_until: dict[str, float] = {}

    def node(self, name: str) -> SimNode | None:
        """A node by name, None when there is none. `localhost` is a healthy machine beside the cluster, from which
        jobs can be launched too."""
        return self._head if name == LOCALHOST else self.nodes.get(name)

    def times_run(self, key: str) -> int:
        """How often a job of this key was run before; repeats of a job read noise of their own."""
        return next(self._times_run.setdefault(key, itertools.count()))

    def put_to_work(self, hosts: Sequence[str], seconds: float) -> None:
        """A job that has just begun keeps the GPUs of its hosts at work for that long."""
        until = self.now() + seconds
        self._at_work_until.update((host, until) for host in hosts)

    def at_work(self, host: str) -> bool:
        """Whether a job runs on the GPUs of a host right now."""
        return self.now() < self._at_work_until.get(host, 0.0)

    def leave_logs(self, folder: str, ran: Ran) -> None:
        """The ranks of a job wrote their NCCL logs into folders of this name on each of its hosts."""
        for host in ran.hosts:
            self._logs.setdefault(host, {})[folder] = ran

    def take_logs(self, host: str) -> dict[str, Ran]:
        """What jobs left on a host since it was last asked, by folder; afterwards it is gone."""
        return self._logs.pop(host, {})

    def hosts(self) -> tuple[Host, ...]:
        """The hosts as a hostfile would give them: slots and leaf labels written out."""
        return tuple(
            Host(name=node.name, address=node.name, slots=self.platform.gpu.count, labels=(("leaf", node.leaf),))
            for node in self.nodes.values()
        )

    def _node(self, name: str, leaf: str) -> SimNode:
        hcas = device_names(self.platform.nics)
        rates = {fault.device: fault.rate for fault in self._of(name, HcaFault)}
        carried = {fault.device: fault.rate for fault in self._of(name, SlowHcaFault)}
        for device in (*rates, *carried):
            if device not in hcas:
                there = f"has {hcas[0]} to {hcas[-1]}" if hcas else "has none that anybody has counted"
                raise InputError(WHERE, f"{name} has no HCA {device!r}; {self.platform.name} {there}")
        gpus = self.platform.gpu.count
        for fault in self._of(name, GpusFault):
            if fault.count > gpus:
                raise InputError(WHERE, f"{name} cannot show {fault.count} GPUs; {self.platform.name} has {gpus}")
            gpus = fault.count
        nvlink = min((fault.rate for fault in self._of(name, NvlinkFault)), default=1.0)
        if nvlink < 1.0 and not links_of_gpu(self.platform):
            raise InputError(WHERE, f"{name} has no NVLinks: {self.platform.name} has cards on PCIe")
        nvls = not self._of(name, NvlsFault)
        if not nvls and not self.platform.has_nvls:
            raise InputError(WHERE, f"{name} never uses NVLS: {self.platform.name} has no switches that can add up")
        if self._of(name, GdrFault) and not self.platform.has_verbs:
            raise InputError(WHERE, f"{name} cannot lose GPUDirect: {self.platform.name} has no ports that need it")
        if self._of(name, SocketFault) and not self.platform.has_rdma:
            raise InputError(WHERE, f"{name} takes TCP anyway: no port of {self.platform.name} is known")
        gdr, socket = not self._of(name, GdrFault), bool(self._of(name, SocketFault))
        return SimNode(
            name=name,
            leaf=leaf,
            gpus=gpus,
            hcas=hcas,
            capability=NodeCapability(nvlink, tuple(rates.get(device, 1.0) for device in hcas), gdr, socket, nvls=nvls),
            corrupt=bool(self._of(name, CorruptFault)),
            hang=bool(self._of(name, HangFault)),
            unreachable=bool(self._of(name, UnreachableFault)),
            busy=bool(self._of(name, BusyFault)),
            driver=next((fault.version for fault in self._of(name, DriverFault)), self.generation.driver),
            gdr=gdr,
            socket=socket,
            carried=tuple(carried.get(device, 1.0) for device in hcas),
            sick_jobs=max((fault.share for fault in self._of(name, IntermittentFault)), default=0.0),
        )

    def _of(self, host: str, kind: type[_F]) -> list[_F]:
        return [fault for fault in self._by_host.get(host, ()) if isinstance(fault, kind)]

    def _check_names(self) -> None:
        names = list(self.nodes)
        for host in (*self._by_host, *(host for pair in self.links for host in pair)):
            if host not in self.nodes:
                raise InputError(WHERE, f"there is no node {host!r}; the nodes are {names[0]} to {names[-1]}")
        leaves = list(dict.fromkeys(node.leaf for node in self.nodes.values()))
        for leaf in (leaf for pair in self.paths for leaf in pair):
            if leaf not in leaves:
                known = f"{leaves[0]} to {leaves[-1]}" if len(leaves) > 1 else f"only {leaves[0]}"
                raise InputError(WHERE, f"there is no leaf {leaf!r}; there is {known} (--leaf-size)")
