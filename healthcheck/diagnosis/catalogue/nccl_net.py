"""What NCCL writes about connections between nodes: verbs, RoCE, sockets. Status numbers are those of ibv_wc_status."""

from __future__ import annotations

from healthcheck.diagnosis.catalogue.lines import (
    ACS,
    CARDS,
    NCCL,
    NET_TROUBLE,
    OFI,
    RUN_TROUBLE,
    SETTINGS,
    SOURCE,
    TESTS,
)
from healthcheck.diagnosis.catalogue.repairs import PEERMEM
from healthcheck.diagnosis.cause import Cause, Drain, Severity
from healthcheck.model.finding import Confidence

_LIKELY, _SUSPECTED = Confidence.LIKELY, Confidence.SUSPECTED
_WARNING, _INFO = Severity.WARNING, Severity.INFO
_BREAKS = ("integrity", "peak")
_GIDS = (("ssh", "{host}", "show_gids"), ("ssh", "{host}", "ip -br addr"))
_VERBS = (("ssh", "{host}", "ls -l /dev/infiniband; ibv_devinfo -l"),)
_INTERFACES = (("ssh", "{host}", "ip -br addr; ip route"),)
_COUNTERS = (("ssh", "{host}", "grep -H . /sys/class/infiniband/*/ports/*/counters/*err* | grep -v :0$"),)

# Somebody calls somebody else: NCCL's own sockets, those of Open MPI, and what an address stands behind.
_CONNECT = (
    r"(?i:call to connect|socket\w*connect\b|\bconnect\(\)|\bconnect(?:ion)? (?:attempt )?to (?:the |a )?"
    r"(?:peer|address|host|[\w-]+\.[\w.-]+|\S+[<:]\d+|\S+ port \d+))"
)


def _completion(status: str) -> str:
    """A failed work request: `with error 12` (2.10 on), `with status=12` (2.20), `status=IBV_WC_..._ERR(12)` (2.29)."""
    return rf"Got completion .*(?:error|status=)[ :]?(?:IBV_WC_\w+\()?(?:{status})\b"


def _modify_qp(errno: str, words: str) -> str:
    return rf"ibv_modify_qp failed.*(?:\b{errno}\b|{words})"


NCCL_NET_CAUSES: tuple[Cause, ...] = (
    # The link or the way.
    Cause(
        "port_error_event",
        signature=r"(?:async fatal event|Got (?:async|non-fatal)\S* .*event).*port err",
        explains=_BREAKS,
        confidence=_LIKELY,
        commands=(*CARDS, *_COUNTERS),
        drain=Drain.FIRST,
        reference=SOURCE + "transport/net_ib/common.cc",
    ),
    Cause(
        "retry_exceeded",
        signature=_completion("12"),
        info=True,
        explains=_BREAKS,
        confidence=_LIKELY,
        commands=(*CARDS, *_COUNTERS),
        reference=NCCL + "/issues/426",
    ),
    Cause(
        "dma_blocked",
        signature=_completion("4"),
        info=True,
        explains=_BREAKS,
        confidence=_LIKELY,
        commands=(ACS, ("ssh", "{host}", "cat /proc/cmdline; lsmod | grep peermem")),
        reference=NCCL + "/issues/214",
    ),
    Cause(
        "remote_refused",
        signature=_completion("9|10|11"),
        info=True,
        explains=_BREAKS,
        confidence=_LIKELY,
        reference=NCCL + "/issues/1353",
    ),
    Cause(
        "receiver_not_ready",
        _WARNING,
        signature=_completion("13"),
        info=True,
        explains=_BREAKS,
        confidence=_SUSPECTED,
        reference=SOURCE + "transport/net_ib/p2p.cc",
    ),
    Cause(
        "roce_peer_silent",
        signature=_modify_qp("110", "timed out"),
        explains=_BREAKS,
        confidence=_LIKELY,
        commands=_GIDS,
        reference=NCCL + "/issues/769",
    ),
    Cause(
        "roce_no_route",
        signature=_modify_qp("101", "Network is unreachable"),
        explains=_BREAKS,
        confidence=_LIKELY,
        commands=(*_GIDS, ("ssh", "{host}", "ip route")),
        reference=TESTS + "/issues/185",
    ),
    Cause(
        "gid_wrong",
        signature=_modify_qp("22", "Invalid argument") + r"|ibv_(?:create_ah|query_gid)\S* .*(?:[Ff]ail|Invalid)",
        explains=_BREAKS,
        confidence=_LIKELY,
        commands=_GIDS,
        reference=NET_TROUBLE,
    ),
    Cause(
        "device_hidden",
        signature=_modify_qp("19", "No such device"),
        explains=_BREAKS,
        confidence=_LIKELY,
        commands=(("ssh", "{host}", "rdma system; ibv_devinfo -l"),),
        reference=NCCL + "/issues/925",
    ),
    Cause(
        "gid_table_changed",
        _WARNING,
        signature=r"GID table change",
        explains=_BREAKS,
        confidence=_LIKELY,
        commands=_GIDS,
        reference=NCCL + "/issues/1819",
    ),
    Cause(
        "link_layers_mixed",
        signature=r"Attempted to (?:merge|connect) incompatible devices",
        explains=_BREAKS,
        commands=(("ssh", "{host}", "grep -H . /sys/class/infiniband/*/ports/*/link_layer"),),
        reference=SOURCE + "transport/net_ib/connect.cc",
    ),
    Cause(
        "net_devices_differ",
        signature=r"Detected mixed local (?:Net|CollNet) device counts",
        explains=_BREAKS,
        commands=CARDS,
        reference=SOURCE + "init.cc",
    ),
    Cause(
        "ports_numbered_differently",
        _WARNING,
        signature=r"mismatched physical devices|different number of devices",
        explains=_BREAKS,
        confidence=_LIKELY,
        commands=CARDS,
        reference=SOURCE + "transport/net_ib/connect.cc",
    ),
    # Verbs on the node.
    Cause(
        "memory_not_registered",
        signature=r"ibv_reg_(?:dmabuf_)?mr\S* failed.*(?:Bad address|\b14\b)",
        explains=_BREAKS,
        confidence=_LIKELY,
        commands=(("ssh", "{host}", "lsmod | grep peermem; cat /proc/driver/nvidia/version"),),
        drain=Drain.IF_NEEDED,
        repairs=PEERMEM,
        reference=NCCL + "/issues/1939",
    ),
    Cause(
        "verbs_memory_locked",
        signature=r"ibv_(?:reg_\S*mr\S*|create_qp|create_cq) failed.*(?:Cannot allocate memory|\b12\b)",
        explains=_BREAKS,
        confidence=_LIKELY,
        commands=(("ssh", "{host}", "ulimit -l"),),
        reference=TESTS + "/issues/206",
    ),
    Cause(
        "verbs_not_permitted",
        signature=r"NET/IB ?: Unable to open device|ibv_open_device failed",
        explains=_BREAKS,
        confidence=_LIKELY,
        commands=_VERBS,
        reference=NCCL + "/issues/451",
    ),
    Cause(
        "no_ib_device",
        signature=r"NET/IB ?: No device found",
        info=True,
        explains=_BREAKS,
        confidence=_LIKELY,
        commands=(*_VERBS, *CARDS),
        reference=NCCL + "/issues/952",
    ),
    Cause(
        "libibverbs_missing",
        signature=r"Failed to open libibverbs\.so",
        info=True,
        explains=_BREAKS,
        commands=(("ssh", "{host}", "ldconfig -p | grep libibverbs"),),
        reference="https://github.com/NVIDIA/nvidia-container-toolkit/issues/1877",
    ),
    Cause(
        "verbs_call_failed",
        signature=r"Call to ibv_\w+ failed",
        explains=_BREAKS,
        confidence=_SUSPECTED,
        commands=CARDS,
        reference=NET_TROUBLE,
    ),
    # Plugins of the clouds.
    Cause(
        "efa_missing",
        signature=r"NET/OFI.*(?:No eligible providers|Unable to find|initialization failed|Couldn't open a fabric)",
        explains=_BREAKS,
        commands=(("ssh", "{host}", "fi_info -p efa"),),
        reference=OFI + "README.md",
    ),
    Cause(
        "net_plugin_forced",
        signature=r"Failed to initialize any NET plugin|[Nn]etwork \S+ not found",
        explains=_BREAKS,
        commands=(("ssh", "{host}", "cat /etc/nccl.conf ~/.nccl.conf; env | grep NCCL_NET"),),
        reference=SETTINGS,
    ),
    Cause(
        "net_plugin_missing",
        _INFO,
        signature=r"NET/Plugin.*libnccl-net\S*\.so.*(?:[Cc]annot open|No such file)",
        confidence=_SUSPECTED,
        reference=OFI + "INSTALL.md",
    ),
    Cause(
        "sharp_failed",
        _WARNING,
        signature=r"(?i:\b(?:collnet|sharp)\b.*(?:\bfail(?:ed|ure)\b|(?<!\bno )\berror\s?[:(]))",
        explains=("peak",),
        confidence=_LIKELY,
        reference=SETTINGS,
    ),
    # The sockets under everything.
    Cause(
        "no_socket_interface",
        signature=r"no socket interface found|No (?:usable listening )?interface found|No IP interface found",
        explains=_BREAKS,
        commands=_INTERFACES,
        reference=SETTINGS,
    ),
    Cause(
        "address_not_assigned",
        signature=_CONNECT + r".*Cannot assign requested address",
        explains=_BREAKS,
        confidence=_LIKELY,
        commands=(*_INTERFACES, ("ssh", "{host}", "ss -s")),
        reference=SETTINGS,
    ),
    Cause(
        "peer_not_reached",
        signature=_CONNECT + r".*(?:Connection refused|No route to host|Network is unreachable|timed out|Timeout)",
        explains=_BREAKS,
        confidence=_LIKELY,
        commands=_INTERFACES,
        reference=TESTS + "/issues/15",
    ),
    Cause(
        "stray_connection",
        _WARNING,
        signature=r"wrong (?:magic|type)\b",
        explains=("integrity",),
        confidence=_LIKELY,
        commands=(("ssh", "{host}", "ss -tnp | head -n 40"),),
        reference=TESTS + "/issues/188",
    ),
    # What only follows from a rank that failed elsewhere.
    Cause(
        "work_flushed",
        _INFO,
        signature=_completion("5"),
        info=True,
        confidence=_SUSPECTED,
        secondary=True,
        reference=NCCL + "/issues/1353",
    ),
    Cause(
        "peer_closed",
        _INFO,
        signature=r"[Cc]onnection closed by (?:remote )?peer|Connection reset by peer|Broken pipe",
        confidence=_SUSPECTED,
        secondary=True,
        reference=NCCL + "/issues/795",
    ),
    Cause(
        "proxy_failed",
        _INFO,
        signature=r"Failed to execute operation \w+ from rank",
        confidence=_SUSPECTED,
        secondary=True,
        reference=TESTS + "/issues/111",
    ),
    Cause(
        "error_without_reason",
        _INFO,
        signature=r"unhandled (?:system|cuda) error|internal error|remote process exited or there was a network error",
        confidence=_SUSPECTED,
        secondary=True,
        reference=RUN_TROUBLE,
    ),
)
"""Rows with a wide pattern stand behind those with a narrow one: the first that matches a line names its cause."""
