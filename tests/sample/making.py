"""The sample: 32 simulated nodes of which four are not well, a month after a run in which all were.

Nothing of the machine that makes it gets into it: seed, clock, run ids and owner are fixed, and a job takes as long as
it is told to. One worker runs, so that the virtual clock passes in one order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from healthcheck.cli.asked import OPTIONS, Asked, encode_asked, new_request, read_inputs
from healthcheck.cli.console import Console
from healthcheck.edge.earlier import settled_earlier
from healthcheck.edge.history_index import DirectoryIndex
from healthcheck.edge.shipped import load_platform
from healthcheck.edge.store import DirectoryStore
from healthcheck.model.record import Owner
from healthcheck.simulator.cluster import SimCluster
from healthcheck.simulator.faults import parse_fault
from healthcheck.simulator.generations import GENERATIONS, Generation
from healthcheck.simulator.transport import SimTransport, VirtualClock
from healthcheck.workflows.engine import Engine
from healthcheck.workflows.pages import write_pages
from healthcheck.workflows.run import check_up

FOLDER = Path(__file__).parents[2] / "reports" / "sample"
FILES = (
    "report.html",
    "report.md",
    "junit.xml",
    "metrics.prom",
    "healthy.hosts",
    "exclude.hosts",
    "suggested-actions.sh",
    "record.json",
    "inputs/earlier.json",
)
"""What is committed: all that the pages are made of, and what is made of it; no raw output, no other inputs."""

PLATFORM = "a100-sxm4-8gpu-8x200"
NODES = 32
JOB_SECONDS = 21.0
OWNER = Owner(user="operator", machine="headnode", pid=4242, pid_started="1", token="5a6d706c65000001")


class Made(Struct, frozen=True):
    """One run of the sample. `run_seed` is what is new in it."""

    run_id: str
    started: datetime
    faults: tuple[str, ...]
    run_seed: int
    software: Generation


SOFTWARE = GENERATIONS[0]
EARLIER = Made(
    "20260214T021501Z-mvkd",
    datetime(2026, 2, 14, 2, 15, 1, tzinfo=UTC),
    (),
    1,
    replace(SOFTWARE, driver="550.54.15", nccl="2.20.5"),
)
SICK = Made(
    "20260314T021503Z-qhzt",
    datetime(2026, 3, 14, 2, 15, 3, tzinfo=UTC),
    ("node13:hca=mlx5_5,slow=0.5", "node22:unreachable", "node27:nvlink=0.95", "node30:busy"),
    2,
    SOFTWARE,
)


def sample(scratch: Path) -> Mapping[str, str]:
    """File name to content of the sick run; `scratch` is an empty folder for both runs."""
    for one in (EARLIER, SICK):
        _run(one, scratch)
    folder = scratch / SICK.run_id
    return {name: (folder / name).read_text(encoding="utf-8") for name in FILES}


def _run(one: Made, results: Path) -> None:
    asked = Asked(hosts=None, playbook="full", platform=PLATFORM, simulate=NODES, faults=one.faults, results=results)
    inputs, _ = read_inputs(asked)
    cluster = SimCluster(
        NODES,
        load_platform(PLATFORM)[0],
        faults=tuple(map(parse_fault, one.faults)),
        job_seconds=JOB_SECONDS,
        generation=one.software,
        run_seed=one.run_seed,
    )
    clock = VirtualClock(one.started)
    transport = SimTransport(cluster, clock)
    for name in ("raw", "inputs"):
        (results / one.run_id / name).mkdir(parents=True)
    store = DirectoryStore(results / one.run_id, clock)
    store.write(OPTIONS, encode_asked(asked))
    request = replace(
        new_request(asked, inputs, one.run_id),
        owner=OWNER,
        arguments=_arguments(one.faults),
        slurm_jobs=(),
    )
    quiet = Console(clock, quiet=True)
    engine = Engine(transport, transport, clock, quiet, store, width=1)
    record = check_up(request, engine, {})
    write_pages(record, store, settled_earlier(record, store))
    DirectoryIndex(results).add(store.folder)


def _arguments(faults: Sequence[str]) -> tuple[str, ...]:
    """The line that simulates such a cluster again."""
    words = ["run", "full", "--simulate", str(NODES)]
    for fault in faults:
        words += ["--fault", fault]
    return tuple(words)
