"""Host channel adapters, their ports and cables."""

from __future__ import annotations

from healthcheck.diagnosis.catalogue.lines import CARDS, NCCL, PORT, SETTINGS, SYSFS
from healthcheck.diagnosis.catalogue.repairs import CLEAR_COUNTERS, IB_DRIVERS, UVERBS
from healthcheck.diagnosis.cause import Cause, Drain, Severity
from healthcheck.model.finding import Confidence

_SLOWS = ("peak",)
_BREAKS = ("peak", "integrity")
# What NCCL does with a port that is not there: it takes the others, or none.
_UNUSED = ("nics.fewer", "transport.socket")
# What a bad cable or port counts beside what is worst about it.
_COUNTED = ("hca.link_errors", "hca.retries", "hca.unused")
_SUBNET = (("ssh", "{host}", "ibstat {device}"), ("ssh", "-t", "{host}", "sudo sminfo"))
_COUNTERS = (
    ("ssh", "{host}", "grep . /sys/class/infiniband/{device}/ports/*/counters/*"),
    ("ssh", "-t", "{host}", "sudo mlxlink -d {device} -m -c -e"),
)
_UVERBS = (("ssh", "{host}", "ls -l /dev/infiniband; ibv_devinfo -l"),)

NETWORK_CAUSES: tuple[Cause, ...] = (
    Cause(
        "hca_no_subnet_manager",
        rules=("hca.no_subnet_manager", "hca.no_lid"),
        explains=(*_BREAKS, *_UNUSED, "hca.inactive", "hca.down"),
        commands=_SUBNET,
        reference=SYSFS,
    ),
    Cause(
        "hca_other_link_layer",
        rules=("hca.other_link_layer",),
        explains=_SLOWS,
        commands=CARDS,
        drain=Drain.FIRST,
        reference=SYSFS,
    ),
    Cause(
        "hca_down",
        rules=("hca.down",),
        explains=(*_BREAKS, *_UNUSED, *_COUNTED, "hca.inactive", "hca.link_downed"),
        commands=PORT,
        drain=Drain.FIRST,
        repairs=CLEAR_COUNTERS,
        reference=SYSFS,
    ),
    Cause(
        "hca_vanished",
        rules=("hca.vanished",),
        explains=(*_BREAKS, *_UNUSED),
        commands=CARDS,
        drain=Drain.FIRST,
        reference=SYSFS,
    ),
    Cause(
        "hca_missing",
        rules=("hca.missing",),
        explains=(*_SLOWS, *_UNUSED),
        commands=CARDS,
        drain=Drain.FIRST,
        reference=SYSFS,
    ),
    Cause("hca_inactive", rules=("hca.inactive",), explains=(*_SLOWS, *_UNUSED), commands=CARDS, reference=SYSFS),
    Cause(
        "hca_slow",
        rules=("hca.rate_broken", "hca.rate_low"),
        explains=(*_SLOWS, *_COUNTED, "hca.link_downed"),
        contradicted=("hca.traffic_even",),
        commands=PORT,
        drain=Drain.FIRST,
        repairs=CLEAR_COUNTERS,
        reference=SYSFS,
    ),
    Cause(
        "hca_link_flaps",
        rules=("hca.link_downed",),
        explains=(*_BREAKS, *_COUNTED),
        commands=_COUNTERS,
        drain=Drain.FIRST,
        repairs=CLEAR_COUNTERS,
        reference=SYSFS,
    ),
    Cause("hca_one_of", rules=("hca.one_of",), explains=_SLOWS, commands=CARDS, reference=SYSFS),
    Cause("hca_unclear", rules=("hca.unclear",), explains=_SLOWS, commands=CARDS, reference=SYSFS),
    Cause(
        "uverbs_missing",
        rules=("hca.verbs_missing",),
        explains=_BREAKS,
        contradicted=("transport.rdma",),
        commands=_UVERBS,
        repairs=UVERBS,
        reference=NCCL + "/issues/451",
    ),
    Cause(
        "uverbs_closed",
        rules=("hca.verbs_closed",),
        explains=_BREAKS,
        contradicted=("transport.rdma",),
        commands=_UVERBS,
        reference=NCCL + "/issues/451",
    ),
    Cause(
        "hca_link_errors",
        Severity.WARNING,
        rules=("hca.link_errors",),
        explains=(*_SLOWS, "hca.retries"),
        commands=_COUNTERS,
        drain=Drain.FIRST,
        repairs=CLEAR_COUNTERS,
        reference=SYSFS,
    ),
    Cause(
        "hca_mtu",
        Severity.WARNING,
        rules=("hca.mtu_small", "hca.mtu_differs"),
        explains=(*_SLOWS, "hca.retries"),
        commands=(("ssh", "{host}", "ip link; ibv_devinfo | grep -e hca_id -e mtu"),),
        reference=NCCL + "/issues/1453",
    ),
    Cause(
        "hca_congestion",
        Severity.WARNING,
        rules=("hca.congestion",),
        confidence=Confidence.LIKELY,
        explains=(*_SLOWS, "hca.retries"),
        commands=(("ssh", "{host}", "grep . /sys/class/infiniband/*/ports/*/counters/port_xmit_*"),),
        reference=SYSFS,
    ),
    Cause(
        "hca_retries",
        Severity.WARNING,
        rules=("hca.retries",),
        confidence=Confidence.LIKELY,
        explains=_SLOWS,
        commands=_COUNTERS,
        repairs=CLEAR_COUNTERS,
        reference=NCCL + "/issues/1453",
    ),
    Cause(
        "hca_unused",
        Severity.WARNING,
        rules=("hca.unused",),
        explains=_SLOWS,
        commands=(("ssh", "{host}", "env | grep NCCL_; cat /etc/nccl.conf; nvidia-smi topo -m"),),
        reference=SETTINGS,
    ),
    Cause(
        "hca_tool_missing",
        rules=("hca.tool_missing",),
        commands=(("ssh", "{host}", "lsmod | grep -e ib_core -e mlx5_ib"),),
        repairs=IB_DRIVERS,
        reference=SYSFS,
    ),
    Cause("hca_unreadable", rules=("hca.unreadable", "hca.rate_unknown"), commands=CARDS, reference=SYSFS),
)
