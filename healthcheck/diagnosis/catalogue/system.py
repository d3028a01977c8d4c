"""Kernel, limits, clock and settings of a node."""

from __future__ import annotations

from healthcheck.diagnosis.catalogue.kernel import KERNEL_CAUSES
from healthcheck.diagnosis.catalogue.lines import NCCL, RUN_TROUBLE, SETTINGS, TESTS
from healthcheck.diagnosis.catalogue.repairs import GOVERNOR
from healthcheck.diagnosis.cause import Cause, Severity

_W = Severity.WARNING
_SHM = (("ssh", "{host}", "df -h /dev/shm; ls -l /dev/shm | head"),)
_CONF = (("ssh", "{host}", "grep -n . /etc/nccl.conf .nccl.conf; env | grep '^NCCL_'"),)
_CPUFREQ = (("ssh", "{host}", "cat /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor | sort | uniq -c"),)
_GOVERNORS = "https://docs.kernel.org/admin-guide/pm/cpufreq.html"
_FORCED = "settings.forced"  # the same, as the log of a job shows it
_MEMLOCK = ("integrity", "peak", "warn.verbs_memory_locked")

SYSTEM_CAUSES: tuple[Cause, ...] = (
    *KERNEL_CAUSES,
    Cause(
        "memlock_low",
        rules=("memlock.low",),
        explains=_MEMLOCK,
        contradicted=("transport.rdma",),
        commands=(("ssh", "{host}", "ulimit -l"),),
        reference=TESTS + "/issues/206",
    ),
    Cause(
        "shm_size",
        rules=("shm.small",),
        explains=("integrity", "warn.shm_too_small"),
        commands=_SHM,
        reference=NCCL + "/issues/290",
    ),
    Cause(
        "shm_full",
        rules=("shm.low",),
        explains=("integrity", "warn.shm_too_small"),
        commands=_SHM,
        reference=NCCL + "/issues/525",
    ),
    Cause(
        "settings_network_off",
        _W,
        rules=("settings.ib_disable",),
        explains=("peak", _FORCED, "transport.socket", "nics", "gdr.off"),
        commands=_CONF,
        reference=SETTINGS,
    ),
    Cause(
        "settings_peers_off",
        _W,
        rules=("settings.p2p_disable",),
        explains=("peak", _FORCED, "p2p", "transport.loopback"),
        commands=_CONF,
        reference=TESTS + "/issues/228",
    ),
    Cause(
        "settings_gdr_off",
        _W,
        rules=("settings.gdr_level",),
        explains=("peak", _FORCED, "gdr.off"),
        commands=_CONF,
        reference=SETTINGS,
    ),
    Cause(
        "settings_shm_off",
        _W,
        rules=("settings.shm_disable",),
        explains=("peak", _FORCED, "transport.loopback"),
        commands=_CONF,
        reference=SETTINGS,
    ),
    Cause(
        "settings_nvls_off",
        _W,
        rules=("settings.nvls_disable",),
        explains=("peak", _FORCED),
        commands=_CONF,
        reference=SETTINGS,
    ),
    Cause(
        "settings_algorithm",
        _W,
        rules=("settings.algo", "settings.proto"),
        explains=(_FORCED,),
        commands=_CONF,
        reference=SETTINGS,
    ),
    Cause(
        "settings_channels", _W, rules=("settings.channels",), explains=(_FORCED,), commands=_CONF, reference=SETTINGS
    ),
    Cause("settings_gid", _W, rules=("settings.gid_index",), explains=(_FORCED,), commands=_CONF, reference=SETTINGS),
    Cause("cpu_held_back", _W, rules=("cpu.governor_slow",), commands=_CPUFREQ, repairs=GOVERNOR, reference=_GOVERNORS),
    Cause("cpu_mixed", _W, rules=("cpu.governors_differ",), commands=_CPUFREQ, repairs=GOVERNOR, reference=_GOVERNORS),
    Cause("files_few", _W, rules=("files.low",), commands=(("ssh", "{host}", "ulimit -n"),), reference=RUN_TROUBLE),
    Cause(
        "clock_wrong",
        Severity.INFO,
        rules=("clock.off",),
        commands=(("ssh", "{host}", "timedatectl; chronyc -n tracking"),),
        reference="https://chrony-project.org/documentation.html",
    ),
)
