"""What changed between two runs besides the numbers: settings node by node, and what the whole run was given."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from msgspec import Struct

from healthcheck.errors import InputError
from healthcheck.evaluation.fleet import NOT_TOLD
from healthcheck.model.comparison import Change
from healthcheck.model.component import natural
from healthcheck.model.digest import RunDigest
from healthcheck.model.fleet import FleetSetting
from healthcheck.model.history import PastRun
from healthcheck.parsing.nodeset import expand, fold, split

NONE = "(none)"
_OF_LAUNCH = ("--launch-from", "--launcher", "--seed")


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
    own = (
        SettingChange(name, was, now)
        for name, was, now in (
            ("platform", before.platform, after.platform),
            ("playbook", before.playbook, after.playbook),
            ("healthcheck", before.tool, after.tool),
        )
        if was and now and was != now
    )
    known = {setting.name: setting for setting in before.settings}
    both = ((known[setting.name], setting) for setting in after.settings if setting.name in known)
    return (*own, *(change for was, now in both for change in _where_both_told(was, now, host)))


def _where_both_told(before: FleetSetting, after: FleetSetting, host: str | None) -> list[SettingChange]:
    if len(after.values) == 1 and {value.value for value in before.values} == {after.values[0].value}:
        return []
    was, now = _by_node(before), _by_node(after)
    told = was.keys() & now.keys()
    return _grouped(after.name, was, now, told if host is None else told & {host})


def node_changes(before: RunDigest, after: RunDigest) -> tuple[tuple[Change, frozenset[str]], ...]:
    """Every setting that is another one on some nodes than before, with those nodes; the most nodes first.

    Only nodes that told anything in both runs are compared: one that could not be asked has not changed.
    """
    told = _told(before.fleet) & _told(after.fleet)
    old = {setting.name: setting for setting in before.fleet}
    new = {setting.name: setting for setting in after.fleet}
    found = []
    folded: dict[tuple[str, ...], str] = {}
    for name in sorted(old.keys() | new.keys(), key=natural):
        was, now = old.get(name), new.get(name)
        if was is not None and now is not None and was.values == now.values:
            continue
        for one in _grouped(name, _by_node(was), _by_node(now), told):
            # Most changes are those of all nodes: folding thousands of names again and again would cost.
            if one.hosts not in folded:
                folded[one.hosts] = fold(one.hosts)
            change = Change(name, one.before, one.after, folded[one.hosts], len(one.hosts), len(told))
            found.append((change, frozenset(one.hosts)))
    return tuple(sorted(found, key=lambda item: -item[0].count))


def _grouped(name: str, was: Mapping[str, str], now: Mapping[str, str], nodes: Iterable[str]) -> list[SettingChange]:
    """The change of each of `nodes`, those with the same change as one; the most nodes first."""
    groups: dict[tuple[str, str], list[str]] = {}
    for node in nodes:
        pair = was.get(node, NOT_TOLD), now.get(node, NOT_TOLD)
        if pair[0] != pair[1]:
            groups.setdefault(pair, []).append(node)
    ordered = sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))
    return [SettingChange(name, *pair, hosts=tuple(sorted(hosts))) for pair, hosts in ordered]


def run_changes(before: RunDigest, after: RunDigest) -> tuple[Change, ...]:
    """What the whole run was given and what is another one now: platform, playbook, environment, limits, launch."""
    old, new = dict(_of_run(before)), dict(_of_run(after))
    return tuple(
        Change(name, old.get(name, NONE), new.get(name, NONE))
        for name in dict.fromkeys([*old, *new])
        if old.get(name) != new.get(name)
    )


def _of_run(run: RunDigest) -> Iterator[tuple[str, str]]:
    if run.platform is not None:
        yield "platform", run.platform.name
        yield "platform nics", f"{run.platform.nics.count} x {run.platform.nics.rate_gbit_s:g} Gb/s"
    yield "playbook", run.playbook.name
    yield "playbook sha256", run.provenance.playbook_sha256[:12]
    yield from ((f"env {name}", value) for name, value in sorted(run.playbook.env.items()))
    for stage in run.playbook.stages:
        yield from ((f"env {name} of {stage.name}", value) for name, value in sorted(stage.env.items()))
        for what, number in (("iterations", stage.iterations), ("warmup", stage.warmup), ("repeats", stage.repeats)):
            if number is not None:
                yield f"{what} of {stage.name}", str(number)
    for limit in run.provenance.limits:
        if limit.check == "bandwidth.busbw":
            fractions = f"{100 * limit.healthy:g} % and {100 * limit.broken:g} % of {limit.peak:g} GB/s"
            yield f"limits of {limit.stage} {limit.collective}", fractions
    yield "launcher", run.playbook.launcher
    yield from ((name[2:], _option(run.provenance.arguments, name)) for name in _OF_LAUNCH)
    if run.provenance.only:
        yield "only", run.provenance.only
    yield "healthcheck", run.provenance.tool


def _option(arguments: Sequence[str], name: str) -> str:
    """The last value of an option on a command line."""
    value = NONE
    for place, word in enumerate(arguments):
        if word == name and place + 1 < len(arguments):
            value = arguments[place + 1]
        elif word.startswith(f"{name}="):
            value = word.partition("=")[2]
    return value


def _told(fleet: Sequence[FleetSetting]) -> set[str]:
    return {node for text in {value.nodes for setting in fleet for value in setting.values} for node in _names(text)}


@lru_cache(maxsize=256)
def _by_node(setting: FleetSetting | None) -> Mapping[str, str]:
    """What each node told; a history asks for the same setting with the run before and with the one after."""
    if setting is None:
        return {}
    return {node: value.value for value in setting.values for node in _names(value.nodes)}


# Most settings have one value, which all nodes share: the same text again and again.
@lru_cache(maxsize=256)
def _names(text: str) -> tuple[str, ...]:
    """The names of a node set as a record has it; addresses that no node set can hold stand in it as they are."""
    names: list[str] = []
    for part in split(text):
        try:
            names += expand(part, "record") if part else ()
        except InputError:
            names.append(part)
    return tuple(names)
