"""Variables that force NCCL off its way: from the environment of the node or from nccl.conf, not from this run.

The look at the settings of a login (`probes/nccl_settings.py`) holds what it finds against the same table. What NCCL
took of it, and what only the environment of the job held, stands here. What a plugin brought along is its own choice.
"""

from __future__ import annotations

from healthcheck.evaluation.harmful_settings import HARMS, Machine, harm_of
from healthcheck.evaluation.transport_view import Found, HostView, source_of
from healthcheck.model.message import say
from healthcheck.model.nccl import NcclRankLog, NcclSetting
from healthcheck.model.reading import noted
from healthcheck.model.verdict import Verdict

SETTINGS_CHECK = "nccl.settings"

_MOST_QUOTED = 5


def forced_settings(view: HostView) -> Found | None:
    """None where the logs do not reach as far as to show settings."""
    if not any(log.init_complete or log.network is not None for log in view.logs):
        return None
    forced: dict[str, tuple[int, NcclRankLog, NcclSetting]] = {}
    for log in view.logs:
        machine = _machine(view, log)
        for setting in log.settings:
            place = harm_of(setting.name, setting.value, machine)
            if place is not None and not setting.of_plugin and setting.name not in view.own_settings:
                forced.setdefault(setting.name, (place, log, setting))
    if not forced:
        return Found(Verdict.PASS, "settings.plain", say("nccl.settings_plain"))
    worst_first = sorted(forced.values(), key=lambda entry: entry[0])
    names = ", ".join(f"{setting.name}={setting.value[:60]}" for _, _, setting in worst_first)
    sources = ", ".join(dict.fromkeys(setting.source for _, _, setting in worst_first))
    evidence = tuple(noted(source_of(log), setting.text) for _, log, setting in worst_first[:_MOST_QUOTED])
    message = say("nccl.settings_forced", names=names, sources=sources)
    return Found(Verdict.DEGRADED, HARMS[worst_first[0][0]].rule, message, evidence)


def _machine(view: HostView, log: NcclRankLog) -> Machine:
    platform = view.platform
    if platform is None:
        return Machine(nccl=log.version)
    return Machine(platform.has_verbs, platform.has_nvls, log.version)
