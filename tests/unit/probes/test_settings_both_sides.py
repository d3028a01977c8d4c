"""A variable is judged alike where a login brings it along and where the log of a job shows that NCCL took it."""

from __future__ import annotations

from typing import NamedTuple

import pytest
from msgspec.structs import replace

from healthcheck.evaluation.transport import judge_transport
from healthcheck.model.platform import Platform
from healthcheck.model.verdict import Verdict
from healthcheck.parsing.nccl_log import read_nccl_log
from healthcheck.probes import nccl_settings
from healthcheck.probes.probe import Needs
from healthcheck.probes.read import read_node
from tests.unit.evaluation.builders import job
from tests.unit.probes.fixtures import DGX_A100, answer, said

HGX_H100 = replace(DGX_A100, gpu=replace(DGX_A100.gpu, names=("H100 80GB HBM3",)))
H100_PCIE = replace(DGX_A100, gpu=replace(DGX_A100.gpu, names=("H100 PCIe",)))
FOUR_H100 = replace(HGX_H100, gpu=replace(HGX_H100.gpu, count=4))
NO_NICS = replace(DGX_A100, nics=replace(DGX_A100.nics, count=0))
EFA = replace(DGX_A100, nics=replace(DGX_A100.nics, link_layer="EFA"))


class Case(NamedTuple):
    """A setting, and the rule it ends with on both sides; "" for none."""

    setting: str
    rule: str
    platform: Platform | None = DGX_A100
    version: str = "2.21.5"


CASES = (
    Case("NCCL_IB_DISABLE=1", "settings.ib_disable"),
    Case("NCCL_IB_DISABLE=2", "settings.ib_disable"),
    Case("NCCL_IB_DISABLE=0", ""),
    Case("NCCL_IB_DISABLE=1", "settings.ib_disable", None),
    Case("NCCL_IB_DISABLE=1", "", NO_NICS),
    Case("NCCL_IB_DISABLE=1", "", EFA),
    Case("NCCL_P2P_DISABLE=1", "settings.p2p_disable"),
    Case("NCCL_P2P_LEVEL=loc", "settings.p2p_disable"),
    Case("NCCL_P2P_LEVEL=NVL", ""),
    Case("NCCL_P2P_DIRECT_DISABLE=1", "settings.forced"),
    Case("NCCL_SHM_DISABLE=1", "settings.shm_disable"),
    Case("NCCL_NET_GDR_LEVEL=0", "settings.gdr_level"),
    Case("NCCL_IB_GDR_LEVEL=LOC", "settings.gdr_level"),
    Case("NCCL_NET_GDR_LEVEL=PHB", ""),
    Case("NCCL_NVLS_ENABLE=0", "settings.nvls_disable", HGX_H100),
    Case("NCCL_NVLS_ENABLE=0", ""),
    Case("NCCL_NVLS_ENABLE=0", "", H100_PCIE),
    Case("NCCL_NVLS_ENABLE=0", "", FOUR_H100),
    Case("NCCL_NVLS_ENABLE=0", "", None),
    Case("NCCL_NVLS_ENABLE=1", "", HGX_H100),
    Case("NCCL_ALGO=Ring", "settings.algo"),
    Case("NCCL_ALGO=TREE", "settings.algo"),
    Case("NCCL_ALGO=Ring,Tree", ""),
    Case("NCCL_ALGO=Ring,NVLS", ""),
    Case("NCCL_ALGO=^NVLS,NVLSTree", ""),
    Case("NCCL_ALGO=^Ring,Tree", "settings.algo"),
    Case("NCCL_ALGO=allreduce:tree;broadcast:ring", "settings.algo"),
    Case("NCCL_ALGO=allreduce:tree,ring;broadcast:^nvls", ""),
    Case("NCCL_ALGO=", ""),
    Case("NCCL_PROTO=Simple", ""),
    Case("NCCL_PROTO=LL", "settings.proto"),
    Case("NCCL_PROTO=LL,LL128", "settings.proto"),
    Case("NCCL_PROTO=LL128,Simple", ""),
    Case("NCCL_PROTO=^LL128", ""),
    Case("NCCL_PROTO=^LL,LL128", ""),
    Case("NCCL_PROTO=^Simple", "settings.proto"),
    Case("NCCL_PROTO=allreduce:LL", "settings.proto"),
    Case("NCCL_MAX_NCHANNELS=2", "settings.channels"),
    Case("NCCL_MAX_NCHANNELS=7", "settings.channels"),
    Case("NCCL_MAX_NCHANNELS=16", ""),
    Case("NCCL_MAX_NCHANNELS=32", ""),
    Case("NCCL_MAX_NCHANNELS=-2", ""),
    Case("NCCL_MAX_NCHANNELS=many", ""),
    Case("NCCL_MAX_CTAS=2", "settings.channels"),
    Case("NCCL_MIN_NCHANNELS=32", ""),
    Case("NCCL_MIN_CTAS=32", ""),
    Case("NCCL_MIN_NRINGS=4", ""),
    Case("NCCL_NTHREADS=256", "settings.forced"),
    Case("NCCL_NTHREADS=512", ""),
    Case("NCCL_BUFFSIZE=1048576", "settings.forced"),
    Case("NCCL_BUFFSIZE=8388608", ""),
    Case("NCCL_IB_GID_INDEX=3", "settings.gid_index"),
    Case("NCCL_IB_GID_INDEX=-1", ""),
    Case("NCCL_IB_GID_INDEX=3", "", DGX_A100, "2.18.3"),
    Case("NCCL_SOCKET_IFNAME=eth0", ""),
    Case("NCCL_DEBUG=INFO", ""),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.setting}-{case.rule or 'harmless'}")
def test_a_login_and_a_log_agree(case: Case) -> None:
    assert _of_login(case) == _of_log(case) == case.rule


def _of_login(case: Case) -> str:
    software = said(answer("software", "healthy").stdout.replace("2.21.5", case.version))
    parts = {"nccl_settings": said(f"settings\nfile /etc/nccl.conf\nline 3:{case.setting}"), "software": software}
    (result,) = nccl_settings.judge(read_node("node01", parts), Needs(case.platform, own_token="hc-own"))
    return result.rule if result.verdict > Verdict.PASS else ""


def _of_log(case: Case) -> str:
    name, _, value = case.setting.partition("=")
    lines = (
        f"NCCL version {case.version}+cuda12.4",
        "Using network IB",
        f"{name} set by environment to {value}",
        "comm 0x1 rank 0 nranks 8 cudaDev 0 busId 7000 - Init COMPLETE",
    )
    log = read_nccl_log([f"node01:40:41 [0] NCCL INFO {line}\n" for line in lines], "node01")
    found = judge_transport(job(1), [log], case.platform)
    (result,) = (result for result in found if result.check == "nccl.settings")
    return result.rule if result.verdict > Verdict.PASS else ""


def test_what_costs_most_comes_first_on_both_sides() -> None:
    both = "settings\nfile /etc/nccl.conf\nline 1:NCCL_ALGO=Ring\nline 2:NCCL_IB_DISABLE=1"
    (login,) = nccl_settings.judge(read_node("n", {"nccl_settings": said(both)}), Needs(DGX_A100, own_token="hc-own"))
    lines = ("Using network IB", "NCCL_ALGO set by environment to Ring", "NCCL_IB_DISABLE set by environment to 1")
    log = read_nccl_log([f"node01:40:41 [0] NCCL INFO {line}\n" for line in lines], "node01")
    (result,) = (one for one in judge_transport(job(1), [log], DGX_A100) if one.check == "nccl.settings")
    assert login.rule == result.rule == "settings.ib_disable"
    for message in (login.message, result.message):
        assert "NCCL_IB_DISABLE=1, NCCL_ALGO=Ring" in str(message)
