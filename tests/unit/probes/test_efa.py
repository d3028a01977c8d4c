"""Elastic Fabric Adapters: neither InfiniBand nor Ethernet, and healthy all the same."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from healthcheck.model.node import Hca, NodeFacts
from healthcheck.model.platform import Platform
from healthcheck.model.verdict import Verdict
from healthcheck.probes import PROBES, gpudirect, hca_counters, hcas, nccl_settings, verbs
from healthcheck.probes.detect import detect_platform
from healthcheck.probes.probe import Needs
from healthcheck.probes.read import read_node
from tests.unit.probes.fixtures import DGX_A100, answer, said

P4D = replace(DGX_A100, name="p4d", nics=replace(DGX_A100.nics, count=4, rate_gbit_s=100.0, link_layer="EFA"))
FOUR_HDR = replace(DGX_A100, name="hgx", nics=replace(DGX_A100.nics, count=4))
NEEDS = Needs(P4D, own_token="hc-own", began_at=1_700_000_000.0)
FILES = "".join(f"node uverbs{index} rdmap{bus}s27 ok\n" for index, bus in enumerate((16, 32, 144, 160)))


def p4d(text: str | None = None) -> NodeFacts:
    parts = {
        "hcas": answer("hcas", "healthy_efa") if text is None else said(text),
        "gpus": answer("gpus", "healthy"),
        "verbs": said(f"{FILES}#devinfo missing\n"),
        "hca_counters": said(""),
        "gpudirect": answer("gpudirect", "healthy_efa"),
        "nccl_settings": said("settings\nenv NCCL_IB_DISABLE=1"),
    }
    return read_node("node05", parts)


def told(facts: NodeFacts, platform: Platform | None = P4D) -> dict[str, tuple[str, str, str]]:
    looks = (hcas.NAME, hca_counters.NAME, verbs.NAME, gpudirect.NAME, nccl_settings.NAME)
    needs = replace(NEEDS, platform=platform)
    results = [result for name in looks for result in PROBES[name].judge(facts, needs)]
    return {result.check: (str(result.component), result.verdict.name, result.rule) for result in results}


def test_a_healthy_machine_passes_what_applies_to_it() -> None:
    assert told(p4d()) == {
        "hca.count": ("node05", "PASS", "hca.all_there"),
        "hca.rate": ("node05", "PASS", "hca.at_rate"),
        "hca.subnet": ("node05", "SKIPPED", "hca.does_not_apply"),
        "hca.errors": ("node05", "SKIPPED", "hca.does_not_apply"),
        "hca.verbs": ("node05", "PASS", "hca.verbs_ready"),
        "hca.mtu": ("node05", "SKIPPED", "hca.does_not_apply"),
        "gdr.support": ("node05", "SKIPPED", "gdr.does_not_apply"),
        "nccl.settings": ("node05", "PASS", "settings.harmless"),
    }
    assert hca_counters.judge_after(p4d(), p4d(), NEEDS) == ()


def test_without_a_platform_it_is_known_by_its_driver() -> None:
    assert told(p4d(), None)["nccl.settings"][2] == "settings.harmless"


def test_an_adapter_that_is_down_or_gone_is_named() -> None:
    text = answer("hcas", "healthy_efa").stdout
    down = told(p4d(text.replace("rdmap144s27 1 state 4: ACTIVE", "rdmap144s27 1 state 1: DOWN")))
    assert down["hca.rate"] == ("node05/hca:rdmap144s27", "FAIL", "hca.down")
    gone = told(p4d("\n".join(line for line in text.splitlines() if "rdmap144" not in line)))
    assert gone["hca.count"] == ("node05", "FAIL", "hca.missing")


@pytest.mark.parametrize("fixture", ["healthy_efa", "healthy_efa_devinfo"])
def test_every_tool_has_its_own_word_for_the_link_layer(fixture: str) -> None:
    ports = hcas.read(answer("hcas", fixture))
    assert [port.efa for port in ports.value or ()] == [True] * 4
    assert {result.verdict for result in hcas.judge("n", ports, P4D)} == {Verdict.PASS, Verdict.SKIPPED}
    assert hcas.judge("n", ports, FOUR_HDR)[0].rule == "hca.missing"


def test_infiniband_does_not_stand_in_for_efa() -> None:
    assert hcas.judge("n", hcas.read(answer("hcas", "healthy")), P4D)[0].rule == "hca.missing"
    named = Hca("rdmap16s27", 1, "4: ACTIVE", "", 200.0, "", "InfiniBand", driver="mlx5_core")
    assert not named.efa


def test_the_platform_is_found() -> None:
    assert detect_platform([p4d()], {"hgx": FOUR_HDR, "p4d": P4D}) is P4D
