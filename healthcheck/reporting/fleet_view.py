"""Versions and settings of the nodes: those that differ first, and in one line those on which all agree."""

from __future__ import annotations

from msgspec import Struct

from healthcheck.evaluation.fleet import NOT_TOLD
from healthcheck.model.fleet import FleetSetting, FleetValue
from healthcheck.model.message import say
from healthcheck.model.record import RunRecord
from healthcheck.reporting.counted import counted
from healthcheck.reporting.figures import one_line

MOST_VALUES = 6
"""Values beside the most common one that are written out."""


class FleetRow(Struct, frozen=True):
    """One setting: the value most nodes have, that with how many they are, and each other value with its nodes.

    Where no value has more than half of the nodes, `most` says so and every value stands with its nodes.
    """

    name: str
    value: str
    most: str
    different: tuple[str, ...]


class FleetView(Struct, frozen=True):
    """`differ` are the settings with more than one value, `agree` the others; `agreeing` names how many those are."""

    answer: str
    differ: tuple[FleetRow, ...]
    agree: tuple[FleetRow, ...]
    agreeing: str


def fleet_view(record: RunRecord) -> FleetView:
    """Every setting that any node told."""
    differ = tuple(_row(setting) for setting in record.fleet if len(setting.values) > 1)
    agree = tuple(_row(setting) for setting in record.fleet if len(setting.values) == 1)
    return FleetView(_answer(record, differ), differ, agree, str(say("report.fleet.agree", n=len(agree))))


def _row(setting: FleetSetting) -> FleetRow:
    first, *others = setting.values
    value, most = _value(first), str(say("report.fleet.on", value=_value(first), n=first.count))
    if others and 2 * first.count <= sum(each.count for each in setting.values):
        # As where it is judged: a value that half of the nodes do not have is nobody's yardstick.
        others, most = list(setting.values), str(say("report.fleet.no_most"))
    shown = [_other(value) for value in others[:MOST_VALUES]]
    if others[MOST_VALUES:]:
        shown.append(str(say("report.terminal.more", n=len(others) - MOST_VALUES)))
    return FleetRow(one_line(setting.name), value, most, tuple(shown))


def _other(value: FleetValue) -> str:
    return str(say("report.fleet.differs", nodes=one_line(value.nodes), value=_value(value)))


def _value(value: FleetValue) -> str:
    return str(say("report.fleet.not_told")) if value.value == NOT_TOLD else one_line(value.value)


def _answer(record: RunRecord, differ: tuple[FleetRow, ...]) -> str:
    if not record.fleet:
        return str(say("report.fleet.none"))
    read, total = max(sum(value.count for value in setting.values) for setting in record.fleet), len(record.hosts)
    who = counted(read, total)
    if not differ:
        return str(say("report.fleet.answer_one" if read == 1 else "report.fleet.answer_same", who=who))
    names = ", ".join(row.name for row in differ)
    return str(say("report.fleet.answer", who=who, n=len(differ), all=len(record.fleet), names=names))
