"""`--platform auto`: by majority, never a smaller platform for a half-broken bigger machine."""

from __future__ import annotations

from msgspec.structs import replace

from healthcheck.model.message import Message
from healthcheck.model.node import NodeFacts
from healthcheck.model.platform import Platform
from healthcheck.probes.detect import detect_platform
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


def test_unknown_machines_and_unseen_ones_name_what_there_is_to_choose() -> None:
    text = answer("gpus", "healthy").stdout.replace("A100-SXM4-80GB", "H100 80GB HBM3")
    other = read_node("n", {"gpus": said(text), "hcas": answer("hcas", "healthy")})
    for facts in ([other], [unreachable("n", "down")], [], [node(ports=3)]):
        found = detect_platform(facts, PLATFORMS)
        assert isinstance(found, Message)
        assert all(name in str(found) for name in PLATFORMS)
