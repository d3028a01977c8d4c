"""Versions and NCCL settings: read as they are, compared across the fleet, and named where they slow jobs down."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from healthcheck.diagnosis.explain import findings
from healthcheck.model.reading import ReadingState
from healthcheck.model.verdict import Verdict
from healthcheck.probes import nccl_settings, software
from healthcheck.probes.probe import Needs
from healthcheck.probes.read import read_node
from healthcheck.probes.settings import settings
from tests.unit.probes.fixtures import DGX_A100, answer, said

NEEDS = Needs(DGX_A100, own_token="hc-own")
SETTINGS = "settings\nfile /etc/nccl.conf\nline 3:"


def test_versions_of_a_healthy_node() -> None:
    found = software.read(answer("software", "healthy")).value
    assert found is not None
    assert (found.os, found.kernel, found.cuda, found.nccl) == (
        "Ubuntu 22.04.4 LTS",
        "5.15.0-113-generic",
        "12.4",
        "2.21.5",
    )
    assert (found.ofed, found.modules, found.container) == ("MLNX_OFED_LINUX-5.8-4.1.5.0", "closed", None)
    opened = software.read(answer("software", "healthy_open_modules")).value
    assert opened is not None
    assert opened.modules == "open"


def test_what_is_not_installed_is_unknown_and_no_trouble() -> None:
    bare = software.read(answer("software", "healthy_bare"))
    assert bare.state is ReadingState.OBSERVED
    half = software.read(answer("software", "sick_half_installed")).value
    assert half is not None
    assert (half.cuda, half.nccl, half.ofed) == (None, None, None)
    assert software.read(answer("software", "sick_garbage")).state is ReadingState.UNPARSABLE
    assert software.read(answer("software", "tool_missing")).state is ReadingState.TOOL_MISSING


@pytest.mark.parametrize(
    ("fixture", "verdict", "rule"),
    [
        ("healthy", Verdict.PASS, "software.read"),
        ("healthy_bare", Verdict.PASS, "software.read"),
        ("sick_garbage", Verdict.SKIPPED, "unseen.unparsable"),
        ("tool_missing", Verdict.SKIPPED, "unseen.tool_missing"),
    ],
)
def test_versions_that_cannot_be_read_are_said_to_be_unseen(fixture: str, verdict: Verdict, rule: str) -> None:
    (result,) = software.judge(read_node("node01", {"software": answer("software", fixture)}))
    assert (result.check, result.verdict, result.rule) == ("software.versions", verdict, rule)
    assert rule == "software.read" or "libnccl" in str(result.message)


@pytest.mark.parametrize(
    ("fixture", "verdict", "rule"),
    [
        ("healthy", Verdict.PASS, "settings.harmless"),
        ("healthy_documented", Verdict.PASS, "settings.harmless"),
        ("sick_p2p", Verdict.DEGRADED, "settings.p2p_disable"),
        ("sick_environment", Verdict.DEGRADED, "settings.ib_disable"),
        ("sick_gid_index", Verdict.DEGRADED, "settings.gid_index"),
        ("sick_unread", Verdict.SKIPPED, "unseen.denied"),
        ("tool_missing", Verdict.SKIPPED, "unseen.tool_missing"),
    ],
)
def test_recorded_settings(fixture: str, verdict: Verdict, rule: str) -> None:
    parts = {"nccl_settings": answer("nccl_settings", fixture), "software": answer("software", "healthy")}
    (result,) = nccl_settings.judge(read_node("node01", parts), NEEDS)
    assert (result.verdict, result.rule) == (verdict, rule)


def test_a_leftover_is_quoted_with_file_and_line() -> None:
    (result,) = nccl_settings.judge(read_node("n", {"nccl_settings": answer("nccl_settings", "sick_p2p")}), NEEDS)
    assert [(entry.source, entry.text) for entry in result.evidence] == [
        ("/etc/nccl.conf:4", "NCCL_P2P_DISABLE=1"),
        ("/etc/nccl.conf:7", "NCCL_ALGO=Ring"),
    ]
    assert "NCCL_P2P_DISABLE=1, NCCL_ALGO=Ring" in str(result.message)


def test_a_variable_of_the_environment_is_removed_where_the_login_sets_it() -> None:
    parts = {"nccl_settings": answer("nccl_settings", "sick_environment")}
    (found,) = findings(nccl_settings.judge(read_node("n", parts), NEEDS), {}, "run")
    assert str(found.remedy).startswith("Remove it from the environment of the login (~/.bashrc, /etc/environment")


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        ("NCCL_SHM_DISABLE=1", "settings.shm_disable"),
        ("NCCL_SHM_DISABLE=0", "settings.harmless"),
        ("NCCL_P2P_LEVEL=LOC", "settings.p2p_disable"),
        ("NCCL_P2P_LEVEL=NVL", "settings.harmless"),
        ("NCCL_NET_GDR_LEVEL=LOC", "settings.gdr_level"),
        ("NCCL_NET_GDR_LEVEL=PXB", "settings.harmless"),
        ("NCCL_PROTO=Simple", "settings.harmless"),
        ("NCCL_PROTO=LL", "settings.proto"),
        ("NCCL_MAX_NCHANNELS=8", "settings.harmless"),
        ("NCCL_MAX_NCHANNELS=4", "settings.channels"),
        ("NCCL_DEBUG=INFO", "settings.harmless"),
    ],
)
def test_what_slows_jobs_down(line: str, rule: str) -> None:
    (result,) = nccl_settings.judge(read_node("n", {"nccl_settings": said(SETTINGS + line)}), NEEDS)
    assert result.rule == rule


def test_what_changes_nothing_on_this_machine_is_not_held_against_it() -> None:
    nvls = {"nccl_settings": said(SETTINGS + "NCCL_NVLS_ENABLE=0"), "gpus": answer("gpus", "healthy")}
    assert nccl_settings.judge(read_node("n", nvls), NEEDS)[0].rule == "settings.harmless"
    hopper = said(answer("gpus", "healthy").stdout.replace("A100-SXM4-80GB", "H100 80GB HBM3"))
    assert nccl_settings.judge(read_node("n", nvls | {"gpus": hopper}), NEEDS)[0].rule == "settings.nvls_disable"
    no_ib = {"nccl_settings": said(SETTINGS + "NCCL_IB_DISABLE=1")}
    efa = replace(NEEDS, platform=replace(DGX_A100, nics=replace(DGX_A100.nics, link_layer="EFA")))
    assert nccl_settings.judge(read_node("n", no_ib), efa)[0].rule == "settings.harmless"
    gid = {"nccl_settings": answer("nccl_settings", "sick_gid_index")}
    old = said(answer("software", "healthy").stdout.replace("2.21.5", "2.18.3"))
    for parts in (gid, gid | {"software": old}):
        assert nccl_settings.judge(read_node("n", parts), NEEDS)[0].rule == "settings.harmless"


def test_the_environment_counts_before_the_files() -> None:
    text = "settings\nenv NCCL_P2P_DISABLE=0\nfile /etc/nccl.conf\nline 1:NCCL_P2P_DISABLE=1"
    assert nccl_settings.judge(read_node("n", {"nccl_settings": said(text)}), NEEDS)[0].rule == "settings.harmless"


def test_every_version_and_setting_can_be_compared_with_other_nodes() -> None:
    parts = {name: answer(name, "healthy") for name in ("gpus", "software", "cpu")}
    plain = dict(settings(read_node("n", parts | {"nccl_settings": answer("nccl_settings", "healthy")})))
    assert plain["driver"] == "550.90.07"
    assert (plain["libnccl"], plain["cuda"], plain["kernel"]) == ("2.21.5", "12.4", "5.15.0-113-generic")
    assert (plain["cpu_governor"], plain["numa_nodes"], plain["nccl_settings"]) == ("performance", "8", "none")
    forced = dict(settings(read_node("n", parts | {"nccl_settings": answer("nccl_settings", "sick_p2p")})))
    assert forced["nccl_settings"] == "NCCL_ALGO=Ring NCCL_DEBUG=WARN NCCL_P2P_DISABLE=1"
    assert "libnccl" not in dict(settings(read_node("n", {})))
