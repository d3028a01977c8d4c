"""What sends traffic between a GPU and a NIC through the processor: ACS on switches, and translation by the IOMMU."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from healthcheck.model.fabric_facts import Iommu
from healthcheck.model.finding import CheckResult
from healthcheck.model.reading import Reading, ReadingState
from healthcheck.model.verdict import Verdict
from healthcheck.probes import acs, iommu, pcie
from tests.unit.probes.fixtures import answer, said, unreachable

METAL = Reading(ReadingState.OBSERVED, Iommu(0))
GUEST = Reading(ReadingState.OBSERVED, Iommu(0, machine="kvm"))


def acs_result(fixture: str, machine: Reading[Iommu] = METAL, devices: str = "healthy") -> CheckResult:
    reading = acs.read(answer("acs", fixture))
    (result,) = acs.judge("node05", reading, pcie.read(answer("pcie", devices)), machine)
    return result


@pytest.mark.parametrize(
    ("fixture", "expected"),
    [
        ("healthy", ("PASS", "acs.off")),
        ("healthy_disk_backplane", ("PASS", "acs.off")),
        ("healthy_no_bridges", ("SKIPPED", "acs.does_not_apply")),
        ("sick_on", ("DEGRADED", "pcie.acs_on")),
        ("sick_denied", ("SKIPPED", "unseen.denied")),
        ("sick_lspci_broken", ("SKIPPED", "unseen.unparsable")),
        ("tool_missing", ("SKIPPED", "unseen.tool_missing")),
    ],
)
def test_acs_of_recorded_nodes(fixture: str, expected: tuple[str, str]) -> None:
    result = acs_result(fixture)
    assert (result.verdict.name, result.rule) == expected


def test_the_redirecting_ports_are_counted_and_one_is_quoted() -> None:
    result = acs_result("sick_on")
    assert str(result.message).startswith("8 of 8 PCIe switch ports above GPUs and NICs")
    assert result.evidence[0].source == "lspci -vvv -s 0000:02:04.0"
    assert result.evidence[0].text.startswith("ACSCtl:")
    assert "ReqRedir+" in result.evidence[0].text


def test_in_a_virtual_machine_acs_has_to_stay() -> None:
    assert acs_result("sick_on", GUEST).rule == "acs.does_not_apply"


def test_what_stays_hidden_without_root_is_said() -> None:
    assert "whether PCIe ACS sends GPU traffic through the CPU" in str(acs_result("sick_denied").message)


def test_ports_cannot_be_told_from_those_of_disks_without_the_ways_to_the_gpus() -> None:
    assert acs_result("sick_on", devices="tool_missing").rule == "unseen.tool_missing"


@pytest.mark.parametrize(
    ("fixture", "expected"),
    [
        ("healthy", ("PASS", "iommu.passthrough")),
        ("healthy_off", ("PASS", "iommu.off")),
        ("healthy_old_kernel", ("PASS", "iommu.passthrough")),
        ("healthy_virtual", ("SKIPPED", "iommu.does_not_apply")),
        ("healthy_grace", ("SKIPPED", "iommu.does_not_apply")),
        ("sick_translating", ("DEGRADED", "pcie.iommu_on")),
        ("sick_old_kernel", ("DEGRADED", "pcie.iommu_on")),
        ("tool_missing", ("SKIPPED", "unseen.tool_missing")),
    ],
)
def test_iommu_of_recorded_nodes(fixture: str, expected: tuple[str, str]) -> None:
    (result,) = iommu.judge("node05", iommu.read(answer("iommu", fixture)))
    assert (result.verdict.name, result.rule) == expected
    assert result.evidence or result.verdict <= Verdict.PASS


def test_what_the_gpus_are_in_weighs_more_than_the_command_line() -> None:
    text = answer("iommu", "sick_translating").stdout
    (result,) = iommu.judge("n", iommu.read(said(f"word iommu=pt\n{text}")))
    assert (result.rule, result.evidence[1].text) == ("pcie.iommu_on", "DMA-FQ")


@pytest.mark.parametrize(
    ("words", "rule"),
    [
        ("", "unseen.denied"),
        ("iommu.strict=0", "unseen.denied"),
        ("iommu.passthrough=y", "iommu.passthrough"),
        ("iommu.passthrough=on", "iommu.passthrough"),
        ("iommu.passthrough=1", "iommu.passthrough"),
        ("intel_iommu=on iommu=force,pt", "iommu.passthrough"),
        ("intel_iommu=on", "pcie.iommu_on"),
        ("iommu.passthrough=off", "pcie.iommu_on"),
        ("iommu=pt iommu=nopt", "pcie.iommu_on"),
        ("iommu.passthrough=0 iommu.passthrough=y", "iommu.passthrough"),
    ],
)
def test_a_kernel_that_does_not_show_the_domains_is_asked_for_its_command_line(words: str, rule: str) -> None:
    lines = "".join(f"word {word}\n" for word in words.split())
    reading = iommu.read(said(f"{lines}machine none\nunit dmar0\ngroups 187"))
    (result,) = iommu.judge("n", reading)
    assert result.rule == rule
    facts = replace(unreachable("n", "x"), iommu=reading)
    assert bool(iommu.settings(facts)) is (rule != "unseen.denied")


def test_a_kernel_that_was_built_to_let_addresses_pass_needs_no_word() -> None:
    text = "machine none\nunit ivhd0\ndomain identity\ngroups 214"
    assert iommu.judge("n", iommu.read(said(text)))[0].rule == "iommu.passthrough"


def test_the_mode_is_compared_across_the_fleet() -> None:
    facts = replace(unreachable("n", "x"), iommu=iommu.read(answer("iommu", "healthy")))
    assert iommu.settings(facts) == (("iommu", "passthrough"),)
    assert iommu.settings(unreachable("n", "x")) == ()


@pytest.mark.parametrize("text", ["", "groups 0", "machine none", "machine none\ngroups many", "machine none\n<html>"])
def test_half_an_answer_about_the_iommu_is_none(text: str) -> None:
    assert iommu.read(said(text)).state is ReadingState.UNPARSABLE


@pytest.mark.parametrize("text", ["", "0000:00:01.0 PCI bridge: Intel", "nonsense\n#end", "\tACSCtl: SrcValid-\n#end"])
def test_half_an_answer_about_switches_is_none(text: str) -> None:
    assert acs.read(said(text)).state is ReadingState.UNPARSABLE
