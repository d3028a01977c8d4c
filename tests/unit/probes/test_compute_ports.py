"""Storage ports of the same card, firmware and rate as the compute ports: the wiring of the GPUs tells them apart."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from healthcheck.edge.shipped import shipped_platforms
from healthcheck.model.finding import CheckResult
from healthcheck.model.node import NodeFacts
from healthcheck.model.platform import Platform
from healthcheck.model.verdict import Verdict
from healthcheck.probes import PROBES, hca_counters, hcas, kernel_log, mtu, pcie, topology
from healthcheck.probes.batch import PartOutput
from healthcheck.probes.compute_ports import ComputePorts, compute_of
from healthcheck.probes.detect import detect_platform
from healthcheck.probes.probe import Needs
from healthcheck.probes.read import read_node
from tests.unit.probes.fixtures import DGX_A100, answer, said

NEEDS = Needs(DGX_A100, own_token="hc-own", began_at=1_700_000_000.0)
STORAGE = ("mlx5_4", "mlx5_5")
COMPUTE = tuple(f"mlx5_{index}" for index in (0, 1, 2, 3, 6, 7, 8, 9))
PLACES = dict(zip((*COMPUTE, *STORAGE), (f"NIC{index}" for index in range(10)), strict=True))
"""NIC8 and NIC9 of the recorded matrix are behind the processor, as mlx5_4 and mlx5_5 of a DGX A100 are."""
Changes = dict[str, tuple[str, str]]
"""Device -> (state, rate) where they are not those of a good port."""
HALF, DOWN = ("4: ACTIVE", "100 Gb/sec (2X HDR)"), ("1: DOWN", "10 Gb/sec (4X SDR)")
GUEST = "machine kvm\ngroups 0"


def ports(changed: Changes, without: tuple[str, ...] = ()) -> PartOutput:
    lines = []
    for device in sorted(set(PLACES) - set(without)):
        state, rate = changed.get(device, ("4: ACTIVE", "200 Gb/sec (4X HDR)"))
        lines += [f"{device} 0 fw_ver 20.41.1000", f"{device} 0 board_id MT_0000000223"]
        lines += [f"{device} 0 pci 0000:0{device[-1]}:00.0", f"{device} 1 state {state}", f"{device} 1 rate {rate}"]
        lines += [f"{device} 1 link_layer InfiniBand", f"{device} 1 lid 0x7", f"{device} 1 sm_lid 0x1"]
    return said("\n".join(lines))


def matrix(without: tuple[str, ...] = (), fixture: str = "healthy") -> PartOutput:
    """The recorded matrix under the names of a DGX A100; columns of missing cards are gone."""
    head, _, _ = answer("topology", fixture).stdout.replace("\x1b[4m", "").replace("\x1b[0m", "").partition("\nNIC0\t")
    table = [line.split("\t") for line in head.splitlines()]
    names = {place: device for device, place in PLACES.items()}
    gone = {index for index, name in enumerate(table[0]) if names.get(name) in without}
    rows = [[names.get(cell, cell) for index, cell in enumerate(row) if index not in gone] for row in table]
    return said("\n".join("\t".join(row) for row in rows))


def bridges(without: tuple[str, ...] = ()) -> PartOutput:
    text = answer("pcie", "healthy").stdout
    card = next(line for line in text.splitlines() if "mlx5_8" in line)
    text = text.replace("#end", card.replace("mlx5_8", "mlx5_9") + "\n#end")
    for device, place in PLACES.items():
        text = text.replace(f"|mlx5_{place[3:]}|", f"|!{device}|")
    lines = text.replace("|!", "|").splitlines()
    return said("\n".join(line for line in lines if not any(f"|{device}|" in line for device in without)))


def seen(changed: Changes | None = None, /, **parts: PartOutput) -> NodeFacts:
    """A node with eight compute ports and two storage ports; the matrix is seen unless other parts are given."""
    return read_node("node05", {"hcas": ports(changed or {}), **(parts or {"topology": matrix()})})


def against(facts: NodeFacts, platform: Platform = DGX_A100) -> list[tuple[str, str, str]]:
    results = PROBES[hcas.NAME].judge(facts, replace(NEEDS, platform=platform))
    return [(str(r.component), r.verdict.name, r.rule) for r in results if r.verdict is not Verdict.PASS]


def names(found: ComputePorts) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return tuple(port.device for port in found.sure), tuple(port.device for port in found.candidates)


@pytest.mark.parametrize("part", [{"topology": matrix()}, {"pcie": bridges()}])
def test_a_broken_compute_port_is_not_replaced_by_a_storage_port(part: dict[str, PartOutput]) -> None:
    assert names(compute_of(seen({}, **part), DGX_A100)) == (COMPUTE, ())
    assert against(seen({}, **part)) == []
    assert against(seen({"mlx5_8": HALF}, **part)) == [("node05/hca:mlx5_8", "FAIL", "hca.rate_broken")]
    assert against(seen({"mlx5_8": DOWN, "mlx5_9": DOWN}, **part)) == [
        ("node05", "FAIL", "hca.inactive"),
        ("node05/hca:mlx5_8", "FAIL", "hca.down"),
        ("node05/hca:mlx5_9", "FAIL", "hca.down"),
    ]


def test_storage_ports_may_be_slow_or_down() -> None:
    assert against(seen({"mlx5_4": HALF, "mlx5_5": DOWN})) == []


@pytest.mark.parametrize("part", [{"clock": said("now 1.0")}, {"topology": answer("topology", "healthy_flat_vm")}])
def test_what_cannot_be_told_apart_is_named_and_nobody_is_blamed(part: dict[str, PartOutput]) -> None:
    assert against(seen({}, **part)) == []
    assert against(seen({"mlx5_8": HALF}, **part)) == [("node05", "INCONCLUSIVE", "hca.unclear")]
    many: Changes = {"mlx5_4": DOWN, "mlx5_8": HALF, "mlx5_9": HALF}
    results = PROBES[hcas.NAME].judge(seen(many, **part), NEEDS)
    (broken,) = [result for result in results if result.rule == "hca.one_of"]
    assert (broken.verdict, str(broken.component)) == (Verdict.FAIL, "node05")
    assert "mlx5_4, mlx5_8, mlx5_9" in str(broken.message)


def test_the_bus_of_a_virtual_machine_tells_no_networks_apart() -> None:
    parts = {"topology": matrix(), "iommu": said(GUEST)}
    assert names(compute_of(seen(**parts), DGX_A100))[0] == ()
    assert against(seen({"mlx5_8": HALF}, **parts)) == [("node05", "INCONCLUSIVE", "hca.unclear")]


@pytest.mark.parametrize("part", ["topology", "pcie"])
def test_a_compute_card_that_is_gone_is_not_replaced_by_a_storage_port(part: str) -> None:
    gone = ("mlx5_8",)
    parts = {"topology": matrix(gone)} if part == "topology" else {"pcie": bridges(gone)}
    facts = read_node("node05", {"hcas": ports({}, gone), **parts})
    assert against(facts) == [("node05", "INCONCLUSIVE", "hca.unclear")]
    (unclear,) = [r for r in PROBES[hcas.NAME].judge(facts, NEEDS) if r.rule == "hca.unclear"]
    assert "7 of 8 InfiniBand compute ports are next to a GPU: mlx5_4, mlx5_5" in str(unclear.message)


def test_a_gone_card_is_missing_where_the_storage_ports_are_on_other_cards() -> None:
    text = ports({}, ("mlx5_8",)).stdout
    for device in STORAGE:
        text = text.replace(f"{device} 0 board_id MT_0000000223", f"{device} 0 board_id MT_0000000012")
    facts = read_node("node05", {"hcas": said(text), "topology": matrix(("mlx5_8",))})
    assert against(facts) == [("node05", "FAIL", "hca.missing")]


def test_one_storage_port_does_not_make_up_the_number() -> None:
    gone = ("mlx5_5", "mlx5_8")
    text = ports({}, gone).stdout.replace("mlx5_4 0 board_id MT_0000000223", "mlx5_4 0 board_id MT_0000000012")
    facts = read_node("node05", {"hcas": said(text), "topology": matrix(gone)})
    assert against(facts) == [("node05", "FAIL", "hca.missing")]


def test_the_kind_of_card_tells_them_apart_where_the_wiring_does_not() -> None:
    text = ports({"mlx5_8": HALF}).stdout
    for device in STORAGE:
        text = text.replace(f"{device} 0 fw_ver 20.41.1000", f"{device} 0 fw_ver 20.39.3004")
    facts = read_node("node05", {"hcas": said(text)})
    assert against(facts) == [("node05/hca:mlx5_8", "FAIL", "hca.rate_broken")]


def counted(by: dict[str, int]) -> PartOutput:
    return said("\n".join(f"{device} 1 port_xmit_data {1_000 + by.get(device, 0)}" for device in PLACES))


def traffic(by: dict[str, int], platform: Platform | None = DGX_A100, **parts: PartOutput) -> list[CheckResult]:
    before = read_node("node05", {"hcas": ports({}), "hca_counters": counted({}), **parts})
    after = read_node("node05", {"hca_counters": counted(by)})
    results = hca_counters.judge_after(before, after, replace(NEEDS, platform=platform))
    return [result for result in results if result.check == hca_counters.TRAFFIC_CHECK]


@pytest.mark.parametrize("platform", [DGX_A100, None])
def test_storage_ports_have_no_share_in_a_job(platform: Platform | None) -> None:
    busy = dict.fromkeys(COMPUTE, 5_000_000_000)
    (even,) = traffic(busy, platform, topology=matrix())
    assert even.rule == "hca.traffic_even"
    (unused,) = traffic({**busy, "mlx5_9": 0}, platform, topology=matrix())
    assert (unused.rule, str(unused.component)) == ("hca.unused", "node05/hca:mlx5_9")
    (unclear,) = traffic(busy, platform)
    assert (unclear.verdict, unclear.rule) == (Verdict.SKIPPED, "hca.does_not_apply")


@pytest.mark.parametrize(("device", "verdict"), [("mlx5_4", None), ("mlx5_8", Verdict.FAIL)])
def test_a_storage_link_that_drops_is_no_finding(device: str, verdict: Verdict | None) -> None:
    line = f"[79995.000000] mlx5_core 0000:0{device[-1]}:00.0 ib0: Link down"
    log = said(f"now 1700000010.0 80000.0\nsource dmesg\nlast [79999.000000] x\n{line}")
    before = replace(seen(), kernel_log=kernel_log.read(said("now 1.0 1.0\nsource dmesg\nlast [1.000000] x")))
    after = read_node("node05", {"kernel_log": log, "clock": said("now 1700000010.0")}, (1700000009.9, 1700000010.1))
    results = kernel_log.judge_after(before, after, NEEDS)
    assert [r.verdict for r in results if r.rule == "kernel.link_down"] == ([] if verdict is None else [verdict])


def test_the_platform_is_found_with_storage_ports_at_its_rate() -> None:
    four = replace(DGX_A100, name="four", nics=replace(DGX_A100.nics, count=4))
    known = {DGX_A100.name: DGX_A100, four.name: four}
    facts = read_node("node05", {"hcas": ports({}), "gpus": answer("gpus", "healthy"), "topology": matrix()})
    assert detect_platform([facts], known) is DGX_A100


def test_the_other_looks_at_ports_leave_storage_alone() -> None:
    text = ports({}).stdout + "".join(f"\n{device} 1 netdev ib{device[-1]}" for device in PLACES)
    devinfo = "".join(
        f"hca_id: {device}\n\tport: 1\n\tactive_mtu: {2048 if device in STORAGE else 4096} (5)\n\tstate: PORT_ACTIVE\n"
        for device in PLACES
    )
    files = "".join(f"node uverbs{index} {device} ok\n" for index, device in enumerate(PLACES))
    parts = {"hcas": said(text), "verbs": said(f"{files}#devinfo 0\n{devinfo}"), "topology": matrix()}
    narrow = bridges().stdout.splitlines()
    card = next(index for index, line in enumerate(narrow) if "|mlx5_4|" in line)
    narrow[card] = narrow[card].replace("16.0 GT/s PCIe|16|", "16.0 GT/s PCIe|4|", 1)
    facts = read_node("node05", {**parts, "pcie": said("\n".join(narrow))})
    for name in ("verbs", topology.NAME, pcie.NAME):
        assert {result.verdict for result in PROBES[name].judge(facts, NEEDS)} == {Verdict.PASS}
    assert mtu.judge("node05", facts.hcas, facts.verbs, NEEDS)[0].verdict is Verdict.DEGRADED


KNOWN = shipped_platforms()
GPUS = {"gpus": answer("gpus", "healthy")}


def counted_as(name: str, facts: NodeFacts) -> CheckResult:
    needs = replace(NEEDS, platform=KNOWN[name], known=tuple(KNOWN.values()))
    return next(found for found in PROBES[hcas.NAME].judge(facts, needs) if found.check == hcas.COUNT_CHECK)


@pytest.mark.parametrize("part", [{"topology": matrix()}, {"pcie": bridges()}, {}])
def test_a_node_with_more_compute_ports_than_the_type_is_another_machine(part: dict[str, PartOutput]) -> None:
    facts = seen({}, **GPUS, **part)
    found = counted_as("a100-sxm4-8gpu-4x200", facts)
    assert (found.verdict, found.rule, found.expected) == (Verdict.INCONCLUSIVE, "hca.other_type", 4)
    assert found.observed == (8 if part else 10)
    assert str(found.message).startswith("this is not that machine type: ")
    assert str(found.message).endswith("fits a100-sxm4-8gpu-8x200")


def test_storage_ports_make_no_other_machine() -> None:
    """Eight compute and two storage ports, and four compute ports with as many behind the processor."""
    assert counted_as("a100-sxm4-8gpu-8x200", seen({}, topology=matrix(), **GPUS)).verdict is Verdict.PASS
    gone = ("mlx5_1", "mlx5_3", "mlx5_7", "mlx5_9")
    few = read_node("node05", {"hcas": ports({}, gone), "topology": matrix(gone), **GPUS})
    assert counted_as("a100-sxm4-8gpu-4x200", few).rule != "hca.other_type"
    assert counted_as("a100-sxm4-8gpu-1x200", few).rule == "hca.other_type"


def test_one_broken_port_does_not_turn_the_larger_machine_into_the_smaller() -> None:
    found = counted_as("a100-sxm4-8gpu-4x200", seen({"mlx5_2": DOWN}, topology=matrix(), **GPUS))
    assert (found.observed, found.rule) == (7, "hca.other_type")
