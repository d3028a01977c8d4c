"""Did NCCL take the ways the machine has? From its own log, whatever the number says.

A check has a result only where the log says something about it: newer versions of NCCL leave lines out, so a line
that is not there is no evidence. What this run asked for itself (`job.env`) is never held against a host.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from healthcheck.evaluation.nccl_settings import SETTINGS_CHECK, forced_settings
from healthcheck.evaluation.rank_hosts import logs_by_host, ranks_by_host
from healthcheck.evaluation.transport_view import Found, HostView, quoted
from healthcheck.model.command import CollectiveJob
from healthcheck.model.component import node
from healthcheck.model.finding import CheckResult
from healthcheck.model.message import say
from healthcheck.model.nccl import NcclRankLog
from healthcheck.model.platform import Platform
from healthcheck.model.reading import Evidence
from healthcheck.model.verdict import Verdict

TRANSPORT_CHECK = "nccl.transport"
GDR_CHECK = "nccl.gdr"
NICS_CHECK = "nccl.nics"
P2P_CHECK = "nccl.p2p"
NVLS_CHECK = "nccl.nvls"
NO_LOG = "no_log"
CHECKS = (TRANSPORT_CHECK, GDR_CHECK, NICS_CHECK, P2P_CHECK, NVLS_CHECK, SETTINGS_CHECK)

_SOCKET, _SOCKET_LINK = "Socket", "NET/Socket"
_TCP_PROVIDERS = ("OFI tcp", "OFI sockets")
_FEWEST_WITHOUT_GDR = 2  # one line may have lost its end; a rank without GDR says it for every channel, twice
_PCIE_GBYTE_S = 50.0  # NCCL's own figures: PCIe 12, 24 or 48, NVLink from 72 up


def judge_transport(
    job: CollectiveJob,
    logs: Sequence[NcclRankLog],
    platform: Platform | None,
    expected_hosts: Iterable[str] = (),
) -> tuple[CheckResult, ...]:
    """One result for each check and host the logs say something about, in the order of the job's hosts.

    `host` of a log is the name in the hostfile. `expected_hosts` are those a log was asked of: one without gets
    SKIPPED, once.
    """
    by_host = logs_by_host(job, logs)
    ranks = ranks_by_host(job, by_host)
    counts = dict(zip(job.hosts, job.ranks_per_host, strict=False))
    wanted = set(expected_hosts)
    results: list[CheckResult] = []
    for host in job.hosts:
        if host in by_host:
            view = HostView(host, job, tuple(by_host[host]), platform, ranks, counts.get(host, 0))
            results += (result for check in CHECKS if (result := _judge(check, view)) is not None)
        elif host in wanted:
            found = Found(Verdict.SKIPPED, f"unseen.{NO_LOG}", say("nccl.no_log", hides=say("nccl.hides")))
            results.append(_result(TRANSPORT_CHECK, host, job, found))
    return tuple(results)


def nccl_version_by_host(logs: Sequence[NcclRankLog]) -> tuple[tuple[str, str], ...]:
    """(host, NCCL version) of every host whose log names one, each pair once, sorted; to compare over the fleet."""
    return tuple(sorted({(log.host, log.version) for log in logs if log.version is not None}))


def _judge(check: str, view: HostView) -> CheckResult | None:
    found = _JUDGES[check](view)
    if found is None:
        return None
    asked = [name for name in _ASKED.get(check, ()) if name in view.own_settings]
    if found.verdict > Verdict.PASS and asked:
        message = say("nccl.as_asked", names=", ".join(asked))
        found = Found(Verdict.SKIPPED, f"{check.partition('.')[2]}.as_asked", message, found.evidence)
    return _result(check, view.host, view.job, found)


def _result(check: str, host: str, job: CollectiveJob, found: Found) -> CheckResult:
    return CheckResult(
        check, node(host), found.verdict, found.message, found.rule, job.stage, evidence=found.evidence, job=job.id
    )


def _transport(view: HostView) -> Found | None:
    """TCP where there is RDMA. NCCL picks the network when it starts, so a job on one node shows it too."""
    on_tcp = next((log for log in view.logs if _is_tcp(log)), None)
    if on_tcp is not None:
        if not view.has_rdma:
            return None
        message = say("nccl.socket", network=_SOCKET if on_tcp.links_of(_SOCKET_LINK) else on_tcp.network or "")
        # Where only the connections show it, the network that was announced would say the opposite.
        abouts = ("no_nics", *(("network", "plugin") if _announced_tcp(on_tcp) else ()), f"link:{_SOCKET_LINK}")
        return Found(Verdict.FAIL, "transport.socket", message, quoted(on_tcp, *abouts))
    loops, log, pair = view.loopback()
    # Between GPUs that only PCIe joins NCCL may choose the way over the NIC, because it is the faster one.
    if loops and log is not None and (view.platform is None or view.has_nvlink):
        message = say("nccl.loopback", count=loops)
        return Found(Verdict.FAIL, "transport.loopback", message, quoted(log, pair))
    if any(log.network is not None for log in view.logs):
        return Found(Verdict.PASS, "transport.rdma", say("nccl.rdma"))
    return None


def _is_tcp(log: NcclRankLog) -> bool:
    """Connections over sockets are TCP, whatever network was announced before they were made."""
    return log.links_of(_SOCKET_LINK) > 0 or _announced_tcp(log)


def _announced_tcp(log: NcclRankLog) -> bool:
    """Plugins of clouds (AWS Libfabric, FasTrak, IBext) count as RDMA, but for libfabric over a TCP provider."""
    if log.network == _SOCKET:
        return True
    return "Libfabric" in (log.network or "") and (log.network_plugin or "").startswith(_TCP_PROVIDERS)


def _gdr(view: HostView) -> Found | None:
    """Does the network reach GPU memory? Asked of InfiniBand and RoCE; other plugins say it in other ways."""
    logs = [log for log in view.logs if (log.network or "").startswith("IB")]
    if not logs:
        return None
    with_gdr, without = view.net_links(logs)
    refused = next((log for log in logs if view.refused_hcas(log)), None)
    far = view.far_gpus(logs)
    if view.together and without >= _FEWEST_WITHOUT_GDR and (view.one_nic_a_gpu or not with_gdr):
        plain = next(log for log in logs if view.net_links([log])[1])
        about = tuple(name for name, _ in plain.links if name.startswith("NET/") and not name.endswith("/GDRDMA"))
        evidence = quoted(plain, *(f"link:{name}" for name in about))
        if refused is None and far:
            return Found(Verdict.DEGRADED, "gdr.far", say("nccl.gdr_far"), (*evidence, *_quoted_far(logs)))
        reason = quoted(refused, "gdr_off") if refused is not None else ()
        return Found(Verdict.DEGRADED, "gdr.off", say("nccl.gdr_off"), (*reason, *evidence))
    if view.together and with_gdr:
        return Found(Verdict.PASS, "gdr.on", say("nccl.gdr_on"))
    if refused is not None:
        return Found(Verdict.DEGRADED, "gdr.off", say("nccl.gdr_off"), quoted(refused, "gdr_off"))
    if far:
        return Found(Verdict.DEGRADED, "gdr.far", say("nccl.gdr_far"), _quoted_far(logs))
    flag = next((log for log in logs if log.gdr_flag is False), None)
    if view.together and flag is not None:
        return Found(Verdict.DEGRADED, "gdr.off", say("nccl.gdr_off"), quoted(flag, "gdr_flag"))
    if any(hca.enabled for log in logs for hca in log.gdr_hcas) or any(log.gdr_distances for log in logs):
        return Found(Verdict.PASS, "gdr.on", say("nccl.gdr_on"))
    return None


def _quoted_far(logs: Sequence[NcclRankLog]) -> tuple[Evidence, ...]:
    return next((lines for log in logs if (lines := quoted(log, "gdr_far"))), ())


def _nics(view: HostView) -> Found | None:
    """More NICs than promised are no finding: NCCL takes storage ports too."""
    used = view.nics_used
    if used is None or view.platform is None or not view.platform.has_verbs:
        return None
    expected = view.platform.nics.count
    if used >= expected:
        return Found(Verdict.PASS, "nics.all", say("nccl.nics_all"))
    log = next(one for one in view.logs if one.nics)
    message = say("nccl.nics_fewer", used=used, expected=expected)
    return Found(Verdict.DEGRADED, "nics.fewer", message, quoted(log, "nics"))


def _p2p(view: HostView) -> Found | None:
    if not view.has_nvlink or view.ranks_here < 2:
        return None
    over_memory = next((log for log in view.logs if log.links_of("SHM")), None)
    if over_memory is not None:
        return Found(Verdict.FAIL, "p2p.shm", say("nccl.shm"), quoted(over_memory, "link:SHM"))
    slow = next((log for log in view.logs if log.max_bw_gbyte_s is not None), None)
    if slow is not None and slow.max_bw_gbyte_s is not None and slow.max_bw_gbyte_s <= _PCIE_GBYTE_S:
        message = say("nccl.pcie", estimate=slow.max_bw_gbyte_s)
        return Found(Verdict.FAIL, "p2p.pcie", message, quoted(slow, "max_bw"))
    if any(log.links_of("P2P") for log in view.logs):
        return Found(Verdict.PASS, "p2p.direct", say("nccl.p2p"))
    return None


def _nvls(view: HostView) -> Found | None:
    """Multicast in the switch came with the NVSwitch of Hopper: without it A100 is as healthy as it can be."""
    if not view.has_nvls:
        return None
    off = next((log for log in view.logs if log.nvls is False), None)
    if off is not None:
        return Found(Verdict.DEGRADED, "nvls.off", say("nccl.nvls_off"), quoted(off, "nvls"))
    if any(log.nvls for log in view.logs):
        return Found(Verdict.PASS, "nvls.on", say("nccl.nvls_on"))
    return None


_JUDGES: Mapping[str, Callable[[HostView], Found | None]] = {
    TRANSPORT_CHECK: _transport,
    GDR_CHECK: _gdr,
    NICS_CHECK: _nics,
    P2P_CHECK: _p2p,
    NVLS_CHECK: _nvls,
    SETTINGS_CHECK: forced_settings,
}
# What a run may set itself, and then has to expect.
_ASKED: Mapping[str, tuple[str, ...]] = {
    TRANSPORT_CHECK: ("NCCL_NET", "NCCL_NET_PLUGIN", "NCCL_IB_DISABLE", "NCCL_IB_HCA", "NCCL_P2P_DISABLE"),
    GDR_CHECK: ("NCCL_NET_GDR_LEVEL", "NCCL_NET_GDR_READ", "NCCL_NET_PLUGIN", "NCCL_IB_HCA", "NCCL_DMABUF_ENABLE"),
    NICS_CHECK: ("NCCL_IB_HCA", "NCCL_NET", "NCCL_NET_PLUGIN", "NCCL_IB_DISABLE"),
    P2P_CHECK: ("NCCL_P2P_DISABLE", "NCCL_P2P_LEVEL"),
    NVLS_CHECK: ("NCCL_NVLS_ENABLE",),
}
