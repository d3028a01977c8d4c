"""Variables that force NCCL off its way: from the environment of the node or from nccl.conf, not from this run."""

from __future__ import annotations

import re

from healthcheck.evaluation.transport_view import Found, HostView
from healthcheck.model.message import say
from healthcheck.model.nccl import NcclRankLog, NcclSetting
from healthcheck.model.reading import Evidence
from healthcheck.model.verdict import Verdict

SETTINGS_CHECK = "nccl.settings"

_TUNED = re.compile(r"NCCL_(?:ALGO|PROTO|MAX_NCHANNELS|MIN_NCHANNELS|NTHREADS|BUFFSIZE)")
_SWITCHED_OFF = re.compile(r"NCCL_(?:P2P|SHM|IB|NVLS)\w*DISABLE\w*")
# Levels that shut a way altogether; others (NVL, PXB, SYS) are choices a site may have made for good.
_SHUT = {"NCCL_NVLS_ENABLE": ("0",), "NCCL_P2P_LEVEL": ("0", "LOC"), "NCCL_NET_GDR_LEVEL": ("0", "LOC")}
_GID_INDEX = "NCCL_IB_GID_INDEX"
_CHOOSES_GID = (2, 21)  # NCCL finds the right one by itself since then
_MOST_QUOTED = 5


def forced_settings(view: HostView) -> Found | None:
    """None where the logs do not reach as far as to show settings."""
    if not any(log.init_complete or log.network is not None for log in view.logs):
        return None
    forced: dict[str, tuple[NcclRankLog, NcclSetting]] = {}
    for log in view.logs:
        for setting in log.settings:
            if setting.name not in view.own_settings and _forces(setting, log.version):
                forced.setdefault(setting.name, (log, setting))
    if not forced:
        return Found(Verdict.PASS, "settings.plain", say("nccl.settings_plain"))
    names = ", ".join(f"{setting.name}={setting.value[:40]}" for _, setting in forced.values())
    evidence = tuple(
        Evidence("NCCL log" if log.rank is None else f"NCCL log, rank {log.rank}", setting.text)
        for log, setting in list(forced.values())[:_MOST_QUOTED]
    )
    return Found(Verdict.DEGRADED, "settings.forced", say("nccl.settings_forced", names=names), evidence)


def _forces(setting: NcclSetting, version: str | None) -> bool:
    if _SWITCHED_OFF.fullmatch(setting.name):
        return setting.value not in ("", "0")
    if setting.name == _GID_INDEX:
        return version is not None and _number(version) >= _CHOOSES_GID and not setting.value.startswith("-")
    return _TUNED.fullmatch(setting.name) is not None or setting.value.upper() in _SHUT.get(setting.name, ())


def _number(version: str) -> tuple[int, int]:
    major, minor, *_ = version.split(".")
    return int(major), int(minor)
