"""Tables byte for byte as the true programs printed them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from healthcheck.model.collective import Collective
from healthcheck.model.measurement import CollectiveTable, OutputState, Rank
from healthcheck.parsing.nccl_tests import parse_output
from healthcheck.simulator.cluster import SimCluster
from healthcheck.simulator.render import LAYOUTS, SIMULATED_LINE, Device, Extras, TableHead, head, render_table
from tests.unit.simulator.sim import A100, cluster, parsed, run_all, run_single

FIXTURES = Path(__file__).parents[2] / "fixtures" / "nccl_tests"
CONFIG = re.compile(
    r"nThread (\d+) nGpus (\d+) minBytes (\d+) maxBytes (\d+) step: (\d+)\(factor\) warmup iters: (\d+) "
    r"iters: (\d+) .*validation: (\d+)"
)
TRUE_OUTPUTS = [
    "v2.10.1-sweep-g8",
    "v2.10.1-coll-alltoall",
    "v2.10.1-mpi-np16-2hosts",
    "v2.10.1-wrong-g8",
    "v2.13.10-sweep-g8",
    "v2.13.10-sweep-g8-c0",
    "v2.13.10-coll-sendrecv",
    "v2.13.10-coll-hypercube",
    "v2.13.10-mpi-np16-2hosts",
    "v2.16.9-sweep-g8",
    "v2.16.9-wrong-g8",
    "v2.17.10-sweep-g8",
    "v2.17.10-mpi-np16-2hosts",
    "v2.19.6-sweep-g8",
    "v2.19.6-mpi-np16-2hosts",
    "v2.19.6-mpi-slow-host",
    "v2.19.6-wrong-g8",
    "v2.19.6-n0",
    "v2.19.6-memory-M1",
    "v2.19.6-mpi-split-div2",
]


@pytest.mark.parametrize("name", TRUE_OUTPUTS)
def test_the_numbers_of_a_true_output_give_its_bytes_again(name: str) -> None:
    text = (FIXTURES / f"{name}.txt").read_text()
    command = json.loads((FIXTURES / f"{name}.json").read_text())["command"]
    table = parse_output(text.splitlines(), argv=command.split()).tables[0]
    program = re.search(r"(\w+)_perf", command)
    config = CONFIG.search(text)
    assert program is not None
    assert config is not None
    threads, gpus, least, most, factor, warmup, iterations, check = map(int, config.groups())
    head = TableHead(
        version=name.partition("-")[0][1:],
        collective=Collective(program[1]),
        devices=tuple(map(_device, table.ranks)),
        min_bytes=least,
        max_bytes=most,
        factor=factor,
        threads=threads,
        gpus=gpus,
        warmup=warmup,
        iterations=iterations,
        check=check,
        nccl_code=23203,
        extras=Extras(memory="GPU memory usage" in text),
    )
    again = render_table(head, table.rows, table.avg_busbw_gbyte_s, table.out_of_bounds_count or 0, simulated=False)
    assert again == text


@pytest.mark.parametrize(
    ("name", "extras"),
    [
        ("v2.19.6-per-iter-I1", Extras(per_iteration=True)),
        ("v2.19.6-timestamps", Extras(timestamps=True)),
        ("v2.19.6-sweep-g8", Extras()),
    ],
)
def test_the_column_names_of_options_are_the_true_ones(name: str, extras: Extras) -> None:
    device = Device(0, 1, "vm", 0, "0000:07:00", "X")
    table = TableHead("2.19.6", Collective.ALL_REDUCE, (device,), 8, 8, extras=extras)
    true = (FIXTURES / f"{name}.txt").read_text().splitlines()
    assert set(head(table, simulated=False).splitlines()[-3:]) <= set(true)


@pytest.mark.parametrize("version", LAYOUTS)
@pytest.mark.parametrize("collective", [c for c in Collective if c is not Collective.HYPERCUBE])
def test_a_simulated_table_of_every_version_and_collective_is_read_back_whole(
    version: str, collective: Collective
) -> None:
    sim = cluster(version=version, nodes=2)
    for reply, ranks in ((run_single(sim, "node01", collective), 8), (run_all(sim, collective), 16)):
        output = parse_output(reply.stdout.splitlines(), exit_code=0, argv=(f"/opt/{collective.binary}",))
        assert output.state is OutputState.COMPLETE
        assert output.tables[0].collective == collective.value
        assert output.tables[0].n_ranks == ranks
        assert len(output.tables[0].rows) == 5


def test_a_simulated_table_says_so_before_anything_else() -> None:
    assert run_single(cluster(), "node01").stdout.startswith(SIMULATED_LINE)
    assert "simulated" in SIMULATED_LINE


def test_a_long_host_name_is_cut_at_its_first_dot_as_nccl_tests_does() -> None:
    sim = SimCluster(1, A100, names=["gpu-0017-rack3.example.org"])
    assert " on gpu-0017-rack3 device  0 [0000:07:00]" in run_single(sim, "gpu-0017-rack3.example.org").stdout


def test_shared_buffers_are_cut_to_whole_ranks() -> None:
    table: CollectiveTable = parsed(run_all(cluster(nodes=3), Collective.ALL_GATHER)).tables[0]
    for row in table.rows:
        assert row.size_bytes == (row.count or 0) * 4 * 24
        assert row.size_bytes % (24 * 16) == 0


def _device(rank: Rank) -> Device:
    bus = rank.bus_id or ""
    full = bus if ":" in bus else f"0000:{bus.removeprefix('0x')}:00"
    return Device(rank.rank, rank.pid or 0, rank.host, rank.device or 0, full, rank.model or "", rank.group or 0)
