"""What changed on the nodes between two runs: versions and settings of the fleet, node by node."""

from __future__ import annotations

from functools import lru_cache

from msgspec import Struct

from healthcheck.errors import InputError
from healthcheck.model.fleet import FleetSetting
from healthcheck.model.history import PastRun
from healthcheck.parsing.nodeset import expand


class SettingChange(Struct, frozen=True):
    """One setting that changed in the same way on some nodes; `hosts` is empty where it is about the run itself."""

    name: str
    before: str
    after: str
    hosts: tuple[str, ...] = ()


def changes(before: PastRun, after: PastRun, host: str | None = None) -> tuple[SettingChange, ...]:
    """What both runs told and told differently, on the nodes of both (or on `host` only); the run's own things first.

    What only one of them told may have been there all the time.
    """
    own = [
        SettingChange(name, was, now)
        for name, was, now in (
            ("platform", before.platform, after.platform),
            ("playbook", before.playbook, after.playbook),
            ("healthcheck", before.tool, after.tool),
        )
        if was and now and was != now
    ]
    known = {setting.name: setting for setting in before.settings}
    found = [
        change
        for setting in after.settings
        if setting.name in known
        for change in _of_setting(known[setting.name], setting, host)
    ]
    return (*own, *found)


def _of_setting(before: FleetSetting, after: FleetSetting, host: str | None) -> list[SettingChange]:
    if {value.value for value in before.values} == {value.value for value in after.values} and len(after.values) == 1:
        return []
    was, now = _by_host(before), _by_host(after)
    groups: dict[tuple[str, str], list[str]] = {}
    for name in was.keys() & now.keys() if host is None else {host} & was.keys() & now.keys():
        if was[name] != now[name]:
            groups.setdefault((was[name], now[name]), []).append(name)
    ordered = sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))
    return [SettingChange(after.name, *pair, hosts=tuple(sorted(hosts))) for pair, hosts in ordered]


@lru_cache(maxsize=256)
def _by_host(setting: FleetSetting) -> dict[str, str]:
    return {host: value.value for value in setting.values for host in _members(value.nodes)}


@lru_cache(maxsize=64)
def _members(nodes: str) -> tuple[str, ...]:
    try:
        return expand(nodes, "fleet")
    except InputError:
        return ()
