"""What differs between two runs besides the numbers: versions and settings of the nodes, playbook, limits, launch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from healthcheck.errors import InputError
from healthcheck.evaluation.fleet import NOT_TOLD
from healthcheck.model.comparison import Change
from healthcheck.model.component import natural
from healthcheck.model.digest import RunDigest
from healthcheck.model.fleet import FleetSetting
from healthcheck.parsing.nodeset import expand, fold, split

NONE = "(none)"
_OF_LAUNCH = ("--launch-from", "--launcher", "--seed")


def node_changes(before: RunDigest, after: RunDigest) -> tuple[tuple[Change, frozenset[str]], ...]:
    """Every setting that is another one on some nodes than before, with those nodes; the most nodes first.

    Only nodes that told anything in both runs are compared: one that could not be asked has not changed.
    """
    told = _told(before.fleet) & _told(after.fleet)
    old = {setting.name: setting for setting in before.fleet}
    new = {setting.name: setting for setting in after.fleet}
    found = []
    folded: dict[frozenset[str], str] = {}
    for name in sorted(old.keys() | new.keys(), key=natural):
        was, now = old.get(name), new.get(name)
        if was is not None and now is not None and was.values == now.values:
            continue
        values_before, values_after = _by_node(was), _by_node(now)
        groups: dict[tuple[str, str], list[str]] = {}
        for node in told:
            pair = values_before.get(node, NOT_TOLD), values_after.get(node, NOT_TOLD)
            if pair[0] != pair[1]:
                groups.setdefault(pair, []).append(node)
        for (one, other), hosts in sorted(groups.items(), key=lambda item: (-len(item[1]), item[0])):
            # Most changes are those of all nodes: folding thousands of names again and again would cost.
            nodes = frozenset(hosts)
            if nodes not in folded:
                folded[nodes] = fold(nodes)
            found.append((Change(name, one, other, folded[nodes], len(nodes), len(told)), nodes))
    return tuple(sorted(found, key=lambda item: -item[0].count))


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
    return {node for text in {value.nodes for setting in fleet for value in setting.values} for node in names_of(text)}


def _by_node(setting: FleetSetting | None) -> Mapping[str, str]:
    if setting is None:
        return {}
    return {node: value.value for value in setting.values for node in names_of(value.nodes)}


# Most settings have one value, which all nodes share: the same text again and again.
@lru_cache(maxsize=256)
def names_of(text: str) -> tuple[str, ...]:
    """The names of a node set as a record has it; addresses that no node set can hold stand in it as they are."""
    names: list[str] = []
    for part in split(text):
        try:
            names += expand(part, "record") if part else ()
        except InputError:
            names.append(part)
    return tuple(names)
