"""`--platform auto`: by majority, never a smaller platform for a half-broken bigger machine."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from healthcheck.edge.shipped import shipped_platforms
from healthcheck.model.fabric_facts import Topology
from healthcheck.model.message import Message
from healthcheck.model.node import NodeFacts
from healthcheck.model.platform import Platform
from healthcheck.model.reading import Reading, ReadingState
from healthcheck.probes.detect import detect_platform, fitting, shown
from healthcheck.probes.read import read_node
from tests.unit.probes.fixtures import DGX_A100, answer, said, unreachable


def platform(count: int) -> Platform:
    name = f"a100-sxm4-8gpu-{count}x200"
    return replace(DGX_A100, name=name, nics=replace(DGX_A100.nics, count=count))


PLATFORMS = {found.name: found for found in map(platform, (8, 4, 1))}


def node(gpus: str = "healthy", hcas: str = "healthy", ports: int = 8) -> NodeFacts:
    out = answer("hcas", hcas)
    kept = [line for line in out.stdout.splitlines() if int(line[5]) < ports]
    return read_node("n", {"gpus": answer("gpus", gpus), "hcas": said("\n".join(kept))})


def test_the_number_of_ports_decides_between_machines_with_the_same_gpus() -> None:
    for count in (8, 4, 1):
        found = detect_platform([node(ports=count)] * 3, PLATFORMS)
        assert isinstance(found, Platform)
        assert found.nics.count == count


def test_sick_nodes_are_outvoted() -> None:
    facts = [node()] * 5 + [node(gpus="sick_fewer"), node(hcas="sick_half_rate"), unreachable("n", "down")]
    found = detect_platform(facts, PLATFORMS)
    assert isinstance(found, Platform)
    assert found.nics.count == 8


def test_a_lone_machine_with_half_of_its_ports_slow_is_not_taken_for_a_smaller_one() -> None:
    text = answer("hcas", "healthy").stdout
    for index in range(4, 8):
        text = text.replace(f"mlx5_{index} 1 rate 200", f"mlx5_{index} 1 rate 100")
    facts = read_node("n", {"gpus": answer("gpus", "healthy"), "hcas": said(text)})
    assert isinstance(detect_platform([facts], PLATFORMS), Message)


def test_a_tie_asks_the_user_and_names_the_candidates() -> None:
    found = detect_platform([node(ports=8), node(ports=4)], PLATFORMS)
    assert isinstance(found, Message)
    assert "a100-sxm4-8gpu-4x200, a100-sxm4-8gpu-8x200" in str(found)
    assert "--platform" in str(found)


def test_unknown_machines_and_unseen_ones_name_where_to_choose() -> None:
    text = answer("gpus", "healthy").stdout.replace("A100-SXM4-80GB", "H100 80GB HBM3")
    other = read_node("n", {"gpus": said(text), "hcas": answer("hcas", "healthy")})
    for facts in ([other], [unreachable("n", "down")], []):
        found = detect_platform(facts, PLATFORMS)
        assert isinstance(found, Message)
        assert "healthcheck platform list" in str(found)
    ports = detect_platform([node(ports=3)], PLATFORMS)
    assert isinstance(ports, Message)
    assert all(name in str(ports) for name in PLATFORMS)


SHIPPED = shipped_platforms()


@pytest.mark.parametrize(
    ("printed", "means"),
    [
        ("NVIDIA A100-SXM4-80GB", "a100-sxm4-8gpu-8x200"),
        ("NVIDIA A100 80GB PCIe", "a100-pcie-8gpu"),
        ("NVIDIA A100-PCIE-40GB", "a100-pcie-8gpu"),
        ("NVIDIA A800-SXM4-80GB", "a800-sxm4-8gpu"),
        ("Tesla V100-SXM2-32GB", "v100-sxm2-8gpu-4x100"),
        ("Tesla V100-SXM3-32GB", "v100-sxm3-16gpu"),
        ("NVIDIA H100 80GB HBM3", "h100-sxm5-8gpu-8x400"),
        ("NVIDIA H100 PCIe", "h100-pcie-8gpu"),
        ("NVIDIA H100 NVL", "h100-nvl-2gpu-bridged"),
        ("NVIDIA H200", "h200-sxm5-8gpu-8x400"),
        ("NVIDIA H200 NVL", None),
        ("NVIDIA H20", "h20-sxm5-8gpu"),
        ("NVIDIA H20-3e", "h20-sxm5-8gpu"),
        ("NVIDIA H800", "h800-sxm5-8gpu"),
        ("NVIDIA H800 PCIe", None),
        ("NVIDIA L40S", "l40s-8gpu"),
        ("NVIDIA L40", None),
        ("NVIDIA B200", "b200-sxm6-8gpu-8x400"),
        ("NVIDIA GB200", "gb200-4gpu-4x400"),
        ("NVIDIA GH200 480GB", None),
    ],
)
def test_a_gpu_is_meant_by_no_platform_of_another_one(printed: str, means: str | None) -> None:
    meant = {platform.gpu.names[0] for platform in SHIPPED.values() if platform.gpu.means(printed)}
    assert meant == ({SHIPPED[means].gpu.names[0]} if means else set())


def cards(count: int, cell: str | None, ports: int = 0) -> NodeFacts:
    """A node with A100 cards; `cell` between neighbours of a pair, PHB between all others."""
    gpu = (node().gpus.value or ())[0]
    found = tuple(replace(gpu, index=index, name="NVIDIA A100 80GB PCIe") for index in range(count))
    facts = replace(node(ports=ports), gpus=Reading(ReadingState.OBSERVED, found))
    if cell is None:
        return facts
    cells = tuple(
        tuple("X" if a == b else cell if a // 2 == b // 2 else "PHB" for b in range(count)) for a in range(count)
    )
    names = tuple(f"GPU{index}" for index in range(count))
    return replace(facts, topology=Reading(ReadingState.OBSERVED, Topology(names, (), cells, names)))


def test_the_matrix_tells_bridged_cards_from_others() -> None:
    assert fitting(cards(2, "NV12"), SHIPPED) == ("a100-pcie-2gpu-bridged",)
    assert fitting(cards(4, "NV12"), SHIPPED) == ("a100-pcie-4gpu-bridged",)
    assert fitting(cards(8, "PHB"), SHIPPED) == ("a100-pcie-8gpu",)
    # Four cards without a bridge are no pairs, and eight in pairs are not eight alone.
    assert fitting(cards(4, "PHB"), SHIPPED) == ()
    assert fitting(cards(8, "NV12"), SHIPPED) == ()
    # What was not seen decides nothing.
    assert fitting(cards(2, None), SHIPPED) == ("a100-pcie-2gpu-bridged",)
    found = detect_platform([cards(4, "PHB")], SHIPPED)
    assert isinstance(found, Message)
    assert "joined by PHB" in str(found)


def test_a_platform_that_names_no_ports_fits_any_but_comes_second() -> None:
    def a800(ports: int, rate: str = "200") -> NodeFacts:
        gpus = answer("gpus", "healthy").stdout.replace("A100-SXM4", "A800-SXM4")
        out = answer("hcas", "healthy").stdout.replace("rate 200", f"rate {rate}")
        kept = [line for line in out.splitlines() if int(line[5]) < ports]
        return read_node("n", {"gpus": said(gpus), "hcas": said("\n".join(kept))})

    assert fitting(a800(1), SHIPPED) == ("a800-sxm4-8gpu-1x200",)
    assert fitting(a800(8), SHIPPED) == ("a800-sxm4-8gpu",)
    assert fitting(a800(1, rate="100"), SHIPPED) == ()  # the one port, at half its rate


def test_nodes_that_show_something_else_are_named() -> None:
    facts = [replace(node(), host=name) for name in ("a", "b", "c")]
    facts.append(replace(node(gpus="sick_fewer"), host="d"))
    groups = shown(facts, PLATFORMS)
    assert [group.hosts for group in groups] == [("a", "b", "c"), ("d",)]
    assert groups[0].fits == ("a100-sxm4-8gpu-8x200",)
    assert groups[1].fits == ()
    assert "7 x NVIDIA A100-SXM4-80GB" in groups[1].words
