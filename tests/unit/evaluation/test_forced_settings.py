"""Variables that the log of a job shows: quoted where they force NCCL off its way, and nothing where they do not."""

from __future__ import annotations

import pytest

from healthcheck.model.verdict import Verdict
from tests.unit.evaluation.nccl_nodes import H100, HEALTHY, judged


@pytest.mark.parametrize(
    ("said", "rule"),
    [
        ("NCCL_ALGO set by environment to Ring", "settings.algo"),
        ("NCCL_PROTO set by environment to LL", "settings.proto"),
        ("NCCL_MAX_NCHANNELS set by environment to 2.", "settings.channels"),
        ("NCCL_NTHREADS set by environment to 64.", "settings.forced"),
        ("NCCL_BUFFSIZE set by environment to 1048576.", "settings.forced"),
        ("NCCL_P2P_DISABLE set by environment to 1.", "settings.p2p_disable"),
        ("NCCL_P2P_DIRECT_DISABLE set by environment to 1.", "settings.forced"),
        ("NCCL_P2P_LEVEL set by environment to LOC", "settings.p2p_disable"),
        ("NCCL_SHM_DISABLE set by environment to 1.", "settings.shm_disable"),
        ("NCCL_IB_DISABLE set by environment to 2.", "settings.ib_disable"),
        ("NCCL_NET_GDR_LEVEL set by environment to LOC", "settings.gdr_level"),
        ("NCCL_IB_GID_INDEX set by environment to 3.", "settings.gid_index"),
    ],
)
def test_a_variable_that_forces_nccl_is_quoted(said: str, rule: str) -> None:
    result = judged(*HEALTHY, said)["nccl.settings"]
    assert (result.verdict, result.rule) == (Verdict.DEGRADED, rule)
    assert result.evidence[0].text.endswith(said)
    name = said.partition(" ")[0]
    assert name in str(result.message)
    assert judged(*HEALTHY, said, sets=name)["nccl.settings"].verdict is Verdict.PASS  # this run set it


@pytest.mark.parametrize(
    "brought",
    [
        "NET/OFI Adding NCCL_BUFFSIZE=1048576 to environment",
        "NET/OFI Setting NCCL_BUFFSIZE to 1MiB",
        "NET/OFI Running on p5 platform, Setting NCCL_BUFFSIZE environment variable to 1048576",
    ],
)
def test_what_the_plugin_of_a_network_brings_along_is_no_leftover(brought: str) -> None:
    taken = "NCCL_BUFFSIZE set by environment to 1048576."
    for lines in ((brought, taken), (taken, brought)):
        assert judged(*HEALTHY, *lines)["nccl.settings"].verdict is Verdict.PASS
    assert judged(*HEALTHY, taken.replace("environment", "env plugin"))["nccl.settings"].verdict is Verdict.PASS
    other = "NCCL_PROTO set by environment to LL"
    result = judged(*HEALTHY, brought, taken, other)["nccl.settings"]
    assert result.rule == "settings.proto" and "BUFFSIZE" not in str(result.message)


def test_the_variable_that_costs_most_comes_first() -> None:
    said = ("NCCL_ALGO set by environment to Ring", "NCCL_IB_DISABLE set by environment to 1.")
    result = judged(*HEALTHY, *said)["nccl.settings"]
    assert result.rule == "settings.ib_disable"
    assert str(result.message).endswith("NCCL_IB_DISABLE=1, NCCL_ALGO=Ring")


def test_nvls_switched_off_matters_where_it_exists() -> None:
    said = "NCCL_NVLS_ENABLE set by environment to 0."
    assert judged(*HEALTHY, said)["nccl.settings"].verdict is Verdict.PASS
    assert judged(*HEALTHY, said, platform=H100)["nccl.settings"].rule == "settings.nvls_disable"


@pytest.mark.parametrize(
    "said",
    [
        "NCCL_DEBUG_FILE set by environment to /tmp/x",
        "NCCL_IB_HCA set to mlx5",
        "NCCL_SOCKET_IFNAME set by environment to eth0",
        "NCCL_P2P_DISABLE set by environment to 0.",
        "NCCL_NVLS_ENABLE set by environment to 1.",
        "NCCL_P2P_LEVEL set by environment to NVL",
        "NCCL_NET_GDR_LEVEL set by environment to SYS",
        "NCCL_IB_GID_INDEX set by environment to -1.",
        "NCCL_MIN_NCHANNELS set by environment to 32.",
        "NCCL_TOPO_FILE set by environment to /etc/topo.xml",
    ],
)
def test_a_variable_that_forces_nothing_is_no_finding(said: str) -> None:
    assert judged(*HEALTHY, said)["nccl.settings"].verdict is Verdict.PASS


def test_a_gid_index_is_needed_before_2_21() -> None:
    older = ("NCCL version 2.18.3+cuda12.2", *HEALTHY[1:], "NCCL_IB_GID_INDEX set by environment to 3.")
    assert judged(*older)["nccl.settings"].verdict is Verdict.PASS
