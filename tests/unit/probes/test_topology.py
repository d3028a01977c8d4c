"""The matrix of GPUs and NICs: a GPU that lost its links is named, a machine that is built otherwise is left alone."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from healthcheck.model.fabric_facts import Topology
from healthcheck.model.finding import CheckResult
from healthcheck.model.node import NodeFacts
from healthcheck.model.platform import Platform, Sourced
from healthcheck.model.reading import ReadingState
from healthcheck.model.verdict import Verdict
from healthcheck.parsing.topology import parse_topology
from healthcheck.probes import hcas, rails, topology
from healthcheck.probes.batch import PartState
from healthcheck.probes.settings import settings
from tests.unit.probes.fixtures import DGX_A100, answer, said, unreachable

PCIE_CARDS = replace(DGX_A100, intra_busbw_gbyte_s=Sourced(24.0, "test"))
FOUR_NICS = replace(DGX_A100, nics=replace(DGX_A100.nics, count=4))


def matrix(fixture: str) -> Topology:
    found = topology.read(answer("topology", fixture)).value
    assert found is not None
    return found


def brief(results: tuple[CheckResult, ...]) -> list[tuple[str, str, str]]:
    return [(str(result.component), result.verdict.name, result.rule) for result in results]


@pytest.mark.parametrize(
    ("fixture", "platform", "expected"),
    [
        ("healthy", DGX_A100, [("node05", "PASS", "topology.joined")]),
        ("healthy", None, [("node05", "PASS", "topology.joined")]),
        ("healthy_16_gpus", None, [("node05", "PASS", "topology.joined")]),
        ("healthy_old_driver", None, [("node05", "PASS", "topology.joined")]),
        ("healthy_pasted_spaces", None, [("node05", "PASS", "topology.joined")]),
        ("healthy_flat_vm", DGX_A100, [("node05", "PASS", "topology.joined")]),
        ("healthy_cube_mesh", None, [("node05", "SKIPPED", "topology.does_not_apply")]),
        ("healthy_cube_mesh", DGX_A100, [("node05", "SKIPPED", "topology.does_not_apply")]),
        ("healthy_pcie_pairs", PCIE_CARDS, [("node05", "SKIPPED", "topology.does_not_apply")]),
        ("healthy_pcie_pairs", None, [("node05", "SKIPPED", "topology.does_not_apply")]),
        ("sick_cut_off", DGX_A100, [("node05/gpu:3", "FAIL", "topology.cut_off")]),
        ("sick_cut_off", None, [("node05/gpu:3", "FAIL", "topology.cut_off")]),
        ("sick_fewer_links", DGX_A100, [("node05/gpu:5", "FAIL", "topology.fewer_links")]),
        (
            "sick_two_gpus",
            DGX_A100,
            [("node05/gpu:2", "FAIL", "topology.cut_off"), ("node05/gpu:6", "FAIL", "topology.cut_off")],
        ),
        ("sick_one_pair", DGX_A100, [("node05", "FAIL", "topology.pairs")]),
        ("sick_no_nvlink", DGX_A100, [("node05", "FAIL", "topology.no_nvlink")]),
        ("sick_no_nvlink", PCIE_CARDS, [("node05", "SKIPPED", "topology.does_not_apply")]),
        ("sick_no_nvlink", None, [("node05", "SKIPPED", "topology.does_not_apply")]),
        ("sick_error_text_exit_0", DGX_A100, [("node05", "INCONCLUSIVE", "unseen.unparsable")]),
        ("sick_localised", DGX_A100, [("node05", "INCONCLUSIVE", "unseen.unparsable")]),
        ("sick_cell_unreadable", DGX_A100, [("node05", "INCONCLUSIVE", "unseen.unparsable")]),
        ("tool_missing", DGX_A100, [("node05", "SKIPPED", "unseen.tool_missing")]),
    ],
)
def test_recorded_nodes(fixture: str, platform: Platform | None, expected: list[tuple[str, str, str]]) -> None:
    results = topology.judge("node05", topology.read(answer("topology", fixture)), platform)
    assert brief(results) == expected
    assert all(result.evidence for result in results if result.verdict > Verdict.PASS)


def test_the_row_of_the_sick_gpu_is_quoted_as_printed() -> None:
    (sick,) = topology.judge("n", topology.read(answer("topology", "sick_cut_off")), DGX_A100)
    assert str(sick.message) == "GPU3 reaches 7 of 7 other GPUs over PCIe (SYS) instead of NV12"
    assert sick.evidence[0].source == "nvidia-smi topo -m"
    assert sick.evidence[0].text.startswith("GPU3 SYS SYS SYS")


def test_labels_devices_and_cells_are_read_from_a_new_driver() -> None:
    found = matrix("healthy")
    assert found.gpus == tuple(f"GPU{index}" for index in range(8))
    assert found.nics[9] == ("NIC9", "mlx5_9")
    assert found.cells[4][:10] == ("NV12", "NV12", "NV12", "NV12", "X", "NV12", "NV12", "NV12", "SYS", "SYS")
    assert {len(cells) for cells in found.cells} == {18}


def test_an_old_driver_prints_device_names_for_columns() -> None:
    assert matrix("healthy_old_driver").nics == (("mlx5_0", "mlx5_0"), ("mlx5_1", "mlx5_1"))


def test_a_copy_with_spaces_reads_like_the_original() -> None:
    text = answer("topology", "healthy").stdout
    copied = text.replace("\x1b[4m", "").replace("\x1b[0m", "").replace("\t", "    ")
    original, copy = parse_topology(text), parse_topology(copied)
    assert original is not None and copy is not None
    assert (copy.gpus, copy.nics, copy.cells) == (original.gpus, original.nics, original.cells)


def test_every_cut_of_the_matrix_is_noticed() -> None:
    text = answer("topology", "healthy").stdout
    end = text.index("NIC0\t", text.index("GPU7\t"))
    # The columns behind the matrix are not read, so only what ends before them is not whole.
    for length in range(0, end - len("80-95,208-223\t5\t\tN/A\n"), 11):
        assert parse_topology(text[:length]) is None


def test_one_gpu_has_nobody_to_reach() -> None:
    alone = topology.read(said("\tGPU0\tCPU Affinity\tNUMA Affinity\nGPU0\t X \t0-7\t\tN/A\n\nLegend:\n"))
    assert brief(topology.judge("n", alone, DGX_A100)) == [("n", "SKIPPED", "topology.does_not_apply")]


def test_a_matrix_that_never_comes_is_a_finding_of_its_own() -> None:
    late = topology.read(said("", state=PartState.TIMED_OUT))
    (result,) = topology.judge("n", late, DGX_A100)
    assert (result.verdict, result.rule) == (Verdict.INCONCLUSIVE, "topology.late")
    assert brief(rails.judge("n", late, hcas.read(answer("hcas", "healthy")), DGX_A100)) == [
        ("n", "INCONCLUSIVE", "unseen.unparsable")
    ]


def rail_results(fixture: str, platform: Platform | None, ports: str = "healthy") -> list[tuple[str, str, str]]:
    seen = topology.read(answer("topology", fixture))
    return brief(rails.judge("node05", seen, hcas.read(answer("hcas", ports)), platform))


@pytest.mark.parametrize(
    ("fixture", "platform", "expected"),
    [
        ("healthy", DGX_A100, [("node05", "PASS", "rail.near")]),
        ("healthy", None, [("node05", "PASS", "rail.near")]),
        ("healthy_pasted_spaces", None, [("node05", "PASS", "rail.near")]),
        ("healthy_flat_vm", DGX_A100, [("node05", "PASS", "rail.flat")]),
        ("healthy_pcie_pairs", None, [("node05", "PASS", "rail.flat")]),
        (
            "sick_far_nics",
            DGX_A100,
            [("node05/gpu:6", "DEGRADED", "rail.far"), ("node05/gpu:7", "DEGRADED", "rail.far")],
        ),
        ("tool_missing", DGX_A100, [("node05", "SKIPPED", "unseen.tool_missing")]),
    ],
)
def test_rails_of_recorded_nodes(fixture: str, platform: Platform | None, expected: list[tuple[str, str, str]]) -> None:
    assert rail_results(fixture, platform) == expected


def test_fewer_nics_than_gpus_leave_some_gpus_without_and_that_is_no_fault() -> None:
    four = "\n".join(line for line in answer("hcas", "healthy").stdout.splitlines() if int(line[5]) < 4)
    seen = topology.read(answer("topology", "healthy"))
    results = rails.judge("node05", seen, hcas.read(said(four)), FOUR_NICS)
    assert brief(results) == [("node05", "PASS", "rail.shared")]


def test_the_bus_of_a_virtual_machine_is_made_up() -> None:
    seen = topology.read(answer("topology", "sick_far_nics"))
    results = rails.judge("node05", seen, hcas.read(answer("hcas", "healthy")), DGX_A100, virtual=True)
    assert brief(results) == [("node05", "PASS", "rail.flat")]


def test_a_nic_that_is_next_to_no_gpu_tells_of_a_fault_even_then() -> None:
    seen = topology.read(said(answer("topology", "sick_far_nics").stdout))
    seven = answer("hcas", "healthy").stdout.replace("mlx5_0", "mlx5_9")
    ports = hcas.read(said(seven.replace("mlx5_1", "mlx5_0")))
    platform = replace(DGX_A100, nics=replace(DGX_A100.nics, count=7))
    assert ("n/gpu:7", "DEGRADED", "rail.far") in brief(rails.judge("n", seen, ports, platform))


def test_without_a_compute_nic_in_the_matrix_there_is_no_map() -> None:
    seen = topology.read(said("\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tNV4\t0-7\nGPU1\tNV4\t X \t0-7\n"))
    results = rails.judge("n", seen, hcas.read(answer("hcas", "healthy")), DGX_A100)
    assert brief(results) == [("n", "SKIPPED", "rail.does_not_apply")]


def test_the_fingerprint_tells_machines_apart() -> None:
    def of(fixture: str) -> dict[str, str]:
        facts: NodeFacts = unreachable("n", "x")
        return dict(settings(replace(facts, topology=topology.read(answer("topology", fixture)))))

    assert of("healthy") == {"topology": "8xNV12+8xPXB"}
    assert of("sick_cut_off") == {"topology": "8xSYS+8xPXB"}
    assert of("sick_far_nics") == {"topology": "8xNV12+6xPXB+2xSYS"}
    assert of("tool_missing") == {}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\t" * 100_000,
        "GPU0 " * 100_000,
        "\tGPU0\tGPU0\nGPU0\t X \t X \n",
        "\tGPU0\tGPU1\nGPU0\t X \tNV12\n",
        "\tGPU0\tGPU1\nGPU0\tNV12\t X \nGPU1\t X \tNV12\n",
        "GPU[0] : Card series: AMD INSTINCT MI250\n",
        "\tGPU٣\nGPU٣\t X \n",
    ],
)
def test_what_is_no_matrix_is_not_read_as_one(text: str) -> None:
    assert topology.read(said(text)).state is ReadingState.UNPARSABLE
