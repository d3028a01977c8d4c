"""Variables that force NCCL off its way: from the environment of the node or from nccl.conf, not from this run.

The rules are those of the look at the settings of a login (`probes/nccl_settings.py`): what NCCL took of them, and what
only the environment of the job held, has the same causes.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from msgspec import Struct

from healthcheck.evaluation.transport_view import Found, HostView, source_of
from healthcheck.model.message import say
from healthcheck.model.nccl import NcclRankLog, NcclSetting
from healthcheck.model.reading import Evidence
from healthcheck.model.verdict import Verdict

SETTINGS_CHECK = "nccl.settings"

_MOST_QUOTED = 5
_CHOOSES_GID = (2, 21)  # NCCL finds the right one by itself since then
_LOWEST_LEVEL = ("0", "LOC")  # shuts a way altogether; NVL, PXB, SYS are choices a site may have made for good


def _on(value: str) -> bool:
    return value not in ("", "0")


def _lowest(value: str) -> bool:
    return value.upper() in _LOWEST_LEVEL


def _any(_value: str) -> bool:
    return True


class _Force(Struct, frozen=True):
    """Variables and what they do. `taken`: with which values; `where`: on which hosts it matters."""

    rule: str
    name: re.Pattern[str]
    taken: Callable[[str], bool] = _any
    where: Callable[[HostView, NcclRankLog], bool] = lambda view, log: True


def _force(
    rule: str,
    names: str,
    taken: Callable[[str], bool] = _any,
    where: Callable[[HostView, NcclRankLog], bool] = lambda view, log: True,
) -> _Force:
    return _Force(f"settings.{rule}", re.compile(rf"NCCL_(?:{names})"), taken, where)


def _has_rdma(view: HostView, _log: NcclRankLog) -> bool:
    return view.platform is None or view.has_rdma_nics


def _has_nvls(view: HostView, _log: NcclRankLog) -> bool:
    return view.platform is None or view.has_nvls


def _chooses_gid(_view: HostView, log: NcclRankLog) -> bool:
    if log.version is None:
        return False
    major, minor, *_ = log.version.split(".")
    return (int(major), int(minor)) >= _CHOOSES_GID


# Order: what costs most first; the first one that is set names the rule.
_FORCES = (
    _force("ib_disable", "IB_DISABLE", _on, _has_rdma),
    _force("p2p_disable", r"P2P_\w*DISABLE\w*", _on),
    _force("p2p_disable", "P2P_LEVEL", _lowest),
    _force("gdr_level", "(?:NET|IB)_GDR_LEVEL", _lowest, _has_rdma),
    _force("shm_disable", "SHM_DISABLE", _on),
    _force("nvls_disable", "NVLS_ENABLE", lambda value: value == "0", _has_nvls),
    _force("algo", "ALGO"),
    _force("proto", "PROTO"),
    _force("channels", "(?:MAX|MIN)_(?:NCHANNELS|NRINGS|CTAS)"),
    _force("gid_index", "IB_GID_INDEX", lambda value: not value.startswith("-"), _chooses_gid),
    _force("forced", "NTHREADS|BUFFSIZE"),
    _force("forced", r"(?:SHM|IB|NVLS)_\w*DISABLE\w*", _on),
)


def forced_settings(view: HostView) -> Found | None:
    """None where the logs do not reach as far as to show settings."""
    if not any(log.init_complete or log.network is not None for log in view.logs):
        return None
    forced: dict[str, tuple[int, NcclRankLog, NcclSetting]] = {}
    for log in view.logs:
        for setting in log.settings:
            place = _place(setting, log, view)
            if place is not None and setting.name not in view.own_settings:
                forced.setdefault(setting.name, (place, log, setting))
    if not forced:
        return Found(Verdict.PASS, "settings.plain", say("nccl.settings_plain"))
    worst_first = sorted(forced.values(), key=lambda entry: entry[0])
    names = ", ".join(f"{setting.name}={setting.value[:60]}" for _, _, setting in worst_first)
    sources = ", ".join(dict.fromkeys(setting.source for _, _, setting in worst_first))
    evidence = tuple(Evidence(source_of(log), setting.text) for _, log, setting in worst_first[:_MOST_QUOTED])
    message = say("nccl.settings_forced", names=names, sources=sources)
    return Found(Verdict.DEGRADED, _FORCES[worst_first[0][0]].rule, message, evidence)


def _place(setting: NcclSetting, log: NcclRankLog, view: HostView) -> int | None:
    """The row of what this setting forces here; None for one that forces nothing."""
    for place, force in enumerate(_FORCES):
        if force.name.fullmatch(setting.name) and force.taken(setting.value) and force.where(view, log):
            return place
    return None
