"""One nccl-tests run on simulated nodes: its options, the rows it measures, the lines it prints.

Under a split nccl-tests prints one table: that of the group of rank 0, with the times that `-a` makes of all ranks of
all groups. `-a 3` takes the slowest rank, the average of `-a 1` dilutes what one slow group lost.
"""

from __future__ import annotations

import itertools
import math
import zlib
from collections.abc import Iterator, Sequence

from msgspec import Struct

from healthcheck.model.collective import Collective
from healthcheck.model.measurement import CollectiveRow, Placement
from healthcheck.model.units import Bytes
from healthcheck.simulator.bandwidth import Speed
from healthcheck.simulator.cluster import SimCluster, SimNode
from healthcheck.simulator.communicators import Placed, jobs
from healthcheck.simulator.gpu_names import bus_of, gpu_model
from healthcheck.simulator.group_times import GroupNoise, together
from healthcheck.simulator.rank_settings import group_of_rank, visible_gpus
from healthcheck.simulator.render import (
    LAYOUTS,
    Device,
    Extras,
    TableHead,
    average_busbw,
    footer,
    head,
    printed_size,
    redop_and_root,
    row,
)
from healthcheck.simulator.reply import Piece, Reply

WRONG_VALUES_PER_RANK = 3.0
"""What a corrupt node adds to #wrong; what it shows as `error` in versions that print the largest difference."""

_BINARIES = {collective.binary: collective for collective in Collective}


class Options(Struct, frozen=True):
    """The options of nccl-tests that change what it prints. Sizes in bytes."""

    min_bytes: int = 32 << 20
    max_bytes: int = 32 << 20
    step_bytes: int = 1 << 20
    factor: int = 1
    threads: int = 1
    gpus: int = 1
    iterations: int = 20
    warmup: int | None = None
    check: int = 1
    average: int = 1
    per_iteration: int = 0

    @property
    def sizes(self) -> tuple[int, ...]:
        """Every size of the sweep, ascending."""
        sizes = [self.min_bytes]
        while True:
            following = sizes[-1] * self.factor if self.factor > 1 else sizes[-1] + self.step_bytes
            if following > self.max_bytes or following <= sizes[-1]:
                return tuple(sizes)
            sizes.append(following)


class Run(Struct, frozen=True):
    """One job on the cluster. `ranks` is how many processes each host gets; `key` decides the noise, and `env` is what
    the ranks have for variables.

    With `whole_nodes` the speed is that of all GPUs of each node, however few ranks stand for them (the stand-in
    runs 2 processes where a real node runs 8).
    """

    cluster: SimCluster
    collective: Collective
    hosts: tuple[str, ...]
    ranks: tuple[int, ...]
    options: Options
    key: str
    whole_nodes: bool = False
    env: tuple[tuple[str, str], ...] = ()

    @property
    def nodes(self) -> tuple[SimNode, ...]:
        """The simulated nodes of the job; the caller has made sure that they exist."""
        return tuple(self.cluster.nodes[host] for host in self.hosts)

    @property
    def gpus(self) -> tuple[int, ...]:
        """GPUs, which are the ranks of the communicator, a host."""
        each = self.options.threads * self.options.gpus
        return tuple(count * each for count in self.ranks)

    @property
    def placed(self) -> Placed:
        """Where its ranks are."""
        each = self.options.threads * self.options.gpus
        return Placed(self.hosts, self.ranks, each, dict(self.env), self.whole_nodes)

    @property
    def head(self) -> TableHead:
        """What stands above the rows."""
        options = self.options
        layout = LAYOUTS[self.cluster.tool_version]
        return TableHead(
            version=self.cluster.tool_version,
            collective=self.collective,
            devices=tuple(_devices(self)),
            min_bytes=options.min_bytes,
            max_bytes=options.max_bytes,
            factor=options.factor,
            step_bytes=options.step_bytes,
            threads=options.threads,
            gpus=options.gpus,
            warmup=layout.default_warmup if options.warmup is None else options.warmup,
            iterations=options.iterations,
            check=options.check,
            extras=Extras(per_iteration=options.per_iteration > 0 and layout.per_iteration),
        )


def collective_of(program: str) -> Collective | None:
    """Which collective an executable path runs, None when it is none of nccl-tests."""
    return _BINARIES.get(program.rpartition("/")[2])


def parse_options(argv: Sequence[str]) -> Options:
    """Options as nccl-tests reads them; ValueError for a size or number it would not take. Others are ignored."""
    found: dict[str, str] = {}
    names = {
        "--minbytes": "-b",
        "--maxbytes": "-e",
        "--stepbytes": "-i",
        "--stepfactor": "-f",
        "--nthreads": "-t",
        "--ngpus": "-g",
        "--iters": "-n",
        "--warmup_iters": "-w",
        "--check": "-c",
        "--average": "-a",
        "--per_iter_timing": "-I",
    }
    for name, value in itertools.pairwise(argv):
        if name.startswith("-"):
            found[names.get(name, name)] = value
    options = Options(
        min_bytes=int(Bytes.parse(found.get("-b", "32M"))),
        max_bytes=int(Bytes.parse(found.get("-e", "32M"))),
        step_bytes=int(Bytes.parse(found.get("-i", "1M"))),
        factor=int(found.get("-f", "1")),
        threads=int(found.get("-t", "1")),
        gpus=int(found.get("-g", "1")),
        iterations=int(found.get("-n", "20")),
        warmup=int(found["-w"]) if "-w" in found else None,
        check=int(found.get("-c", "1")),
        average=int(found.get("-a", "1")),
        per_iteration=int(found.get("-I", "0")),
    )
    if options.min_bytes > options.max_bytes:
        raise ValueError(f"invalid sizes for 'minbytes' and 'maxbytes': {options.min_bytes} > {options.max_bytes}")
    return options


def measure(run: Run, table: TableHead) -> Iterator[CollectiveRow]:
    """The rows of a run, one a size, for its head. Deterministic for a seed, a key and a plan."""
    cluster = run.cluster
    measured = jobs(cluster, run.placed, run.collective, run.key)
    noise = GroupNoise(cluster, run.key, len(measured), between_nodes=len(run.hosts) > 1)
    printed, n_ranks = measured[0], sum(run.gpus)
    redop, root = redop_and_root(table)
    wrong = WRONG_VALUES_PER_RANK if is_corrupt(run) else 0.0
    for size in run.options.sizes:
        size_bytes, count = printed_size(table, size, printed.n_ranks)
        halves = [
            _placement(
                together(measured, size_bytes, noise.next(), run.options.average), table, wrong, n_ranks, in_place
            )
            for in_place in (False, True)
        ]
        yield CollectiveRow(size_bytes, count, "float", redop, root, halves[0], halves[1])


def is_corrupt(run: Run) -> bool:
    """True when a node of the job computes wrong values and somebody looks."""
    return run.options.check > 0 and any(node.corrupt for node in run.nodes)


def out_of_bounds(run: Run, rows: Sequence[CollectiveRow]) -> int:
    """What the footer counts: processes x halves that saw a wrong value."""
    halves = sum(1 for one in rows for _, half in one.placements if half.wrong or (half.max_delta or 0.0) > 1e-5)
    return halves * sum(run.ranks) * run.options.threads


def reply(run: Run) -> Reply:
    """The output of the program itself, spread over the duration of the job: head, rows, footer."""
    table = run.head
    lacking = lacking_gpus(run)
    if lacking is not None:
        return _too_many_gpus(run, table, lacking)
    start = Piece(0.0, head(table))
    if any(node.hang for node in run.nodes):
        return Reply((start,), duration_s=math.inf)
    rows = list(measure(run, table))
    duration = run.cluster.job_seconds
    pieces = [start]
    for number, one in enumerate(rows, start=1):
        pieces.append(Piece(duration * number / (len(rows) + 1), row(table, one)))
    bad = out_of_bounds(run, rows)
    pieces.append(Piece(duration, footer(table, average_busbw(rows), bad)))
    return Reply(tuple(pieces), exit_code=table.layout.failed_exit if bad else 0, duration_s=duration)


def failing_rank(run: Run) -> int:
    """The first rank that ends with an error: the one without a GPU, else rank 0."""
    lacking = lacking_gpus(run)
    return 0 if lacking is None else sum(run.ranks[:lacking]) + _gpus_seen(run, lacking)


def lacking_gpus(run: Run) -> int | None:
    """Position of the first host that shows fewer GPUs than its ranks ask for; None when all have enough."""
    for position, needed in enumerate(run.gpus):
        if needed > _gpus_seen(run, position):
            return position
    return None


def _gpus_seen(run: Run, position: int) -> int:
    """GPUs that the ranks of a host could take."""
    return len(visible_gpus(dict(run.env), run.nodes[position].gpus))


def _too_many_gpus(run: Run, table: TableHead, position: int) -> Reply:
    """As the true program ends when a process asks for a GPU that the node does not show."""
    layout, host, there = table.layout, run.hosts[position], _gpus_seen(run, position)
    above, using, _ = head(table).partition("# Using devices\n")
    if layout.fitted_numbers:
        stderr = (
            f"Invalid number of GPUs: {run.gpus[position]} requested but only {there} were found.\n"
            "Please check the number of processes and GPUs per process.\n"
        )
        return Reply((Piece(0.0, above + using),), stderr, layout.too_many_exit)
    trouble = (
        f"{host}: Test CUDA failure common.cu:1030 'invalid device ordinal'\n"
        f" .. {host} pid {pid_of(host, there)}: Test failure common.cu:936\n"
    )
    return Reply((Piece(0.0, above + using + trouble),), exit_code=layout.too_many_exit)


def pid_of(host: str, rank: int) -> int:
    """A process number that looks like one and stays the same."""
    return 10_000 + (zlib.crc32(host.encode()) + rank) % 50_000


def _devices(run: Run) -> Iterator[Device]:
    """The device lines. A GPU has the number under which its process sees it and the address it has on the node."""
    rank = 0
    per_process = run.options.threads * run.options.gpus
    model = gpu_model(run.cluster.platform)
    variables = dict(run.env)
    number_of = group_of_rank(variables, run.cluster.tool_version)
    world = itertools.count()
    for host, processes in zip(run.hosts, run.ranks, strict=True):
        short = host.partition(".")[0]
        seen = visible_gpus(variables, run.cluster.platform.gpu.count)
        for process in range(processes):
            group = 0 if number_of is None else number_of(next(world))
            for slot in range(per_process):
                index = process * per_process + slot
                bus_id = f"0000:{bus_of(seen[index] if index < len(seen) else index)}:00"
                yield Device(rank, pid_of(host, process), short, index, bus_id, model, group)
                rank += 1


def _placement(measured: Speed, table: TableHead, wrong: float, n_ranks: int, in_place: bool) -> Placement:
    counted = table.check > 0 and (table.collective.in_place_is_checked or not in_place)
    time_us, algbw, busbw = measured.time_us, measured.algbw_gbyte_s, measured.busbw_gbyte_s
    if not table.layout.wrong_count:
        return Placement(time_us, algbw, busbw, max_delta=wrong if table.check else None)
    return Placement(time_us, algbw, busbw, wrong=wrong * n_ranks if counted else None)
