"""Two documents of a training side by side on a terminal, the one line on stdout, and the document of `--json`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from healthcheck.model.comparison import Answer, Direction
from healthcheck.model.language import ENGLISH, speaking
from healthcheck.model.message import Message, say
from healthcheck.model.units import signed
from healthcheck.model.vitals_compare import SCHEMA, Metric, Unit, VitalsComparison
from healthcheck.parsing.record_codec import encode_document
from healthcheck.reporting.figures import one_line
from healthcheck.reporting.joining import in_a_row, pair
from healthcheck.reporting.text_table import table
from healthcheck.reporting.text_width import readable, spaced, wrapped
from healthcheck.reporting.training_figures import rate_text, share_text, step_text

_ANSWERS = {
    Answer.WORSE: "vcompare.answer.worse",
    Answer.BETTER: "vcompare.answer.better",
    Answer.SAME: "vcompare.answer.same",
    Answer.INCOMPLETE: "vcompare.answer.incomplete",
    Answer.INCOMPARABLE: "vcompare.answer.incomparable",
}
_MOVED = {Answer.WORSE: Direction.WORSE, Answer.BETTER: Direction.BETTER}
_MOST_IN_LINE = 4


def compared_line(found: VitalsComparison) -> str:
    """`WORSE Step Time 2.00 s -> 2.17 s (+8.5 %); log, 7 numbers compared`: English, one line, always.

    Contract: the answer, the numbers that moved that way, the kind of document, how many were compared and were not.
    """
    with speaking(ENGLISH):
        way = _MOVED.get(found.answer)
        moved = [_moved(one) for one in found.metrics if one.direction is way and way is not None]
        if len(moved) > _MOST_IN_LINE:
            moved = [*moved[:_MOST_IN_LINE], f"{len(moved) - _MOST_IN_LINE} more"]
        judged = sum(one.direction is not None for one in found.metrics)
        counted = f"{found.kind.value}, {judged} compared"
        if found.not_compared:
            counted += f", {len(found.not_compared)} not compared"
        parts = [", ".join(moved), counted]
        return one_line(f"{found.answer.value.upper()} {'; '.join(part for part in parts if part)}")


def _moved(one: Metric) -> str:
    return f"{_name(one)} {_number(one, one.before)} -> {_number(one, one.after)} ({_change(one)})"


def compared_document(found: VitalsComparison) -> str:
    """`healthcheck.vitals.compare/1` as JSON text, with its line."""
    return encode_document(SCHEMA, replace(found, line=compared_line(found)))


def compared_lines(found: VitalsComparison, width: int) -> list[str]:
    """The story: both sides, the answer, every number, what differs, what is not compared, and the noise."""
    width = readable(width)
    sides = (("BEFORE", found.before), ("AFTER", found.after))
    blocks = [
        [line for name, side in sides for line in _side(name, side.file, side.what, width)],
        [line for note in found.notes for line in _wrapped(str(note), width, "  ")],
        _wrapped(str(Message(_ANSWERS[found.answer])), width, "  "),
        _table(found.metrics, width),
        _list("vcompare.heading.differs", map(str, found.differs), width),
        _list("vcompare.heading.not_compared", map(str, found.not_compared), width),
        _list("vcompare.heading.noise", _rules(found), width),
    ]
    return spaced(blocks)


def _side(name: str, file: str, what: Message, width: int) -> list[str]:
    return _wrapped(in_a_row((file, what), "text.comma"), width, f"  {name:<8}", "          ")


def _table(metrics: Sequence[Metric], width: int) -> list[str]:
    if not metrics:
        return []
    head = [str(Message(f"vcompare.column.{name}")) for name in ("number", "before", "after", "change", "bar", "way")]
    rows = [[one_line(cell) for cell in _row(one)] for one in metrics]
    return [f"  {line}".rstrip() for line in table(head, rows, (1, 2, 3, 4), width - 2)]


def _row(one: Metric) -> tuple[str, ...]:
    way = "told" if one.direction is None else one.direction.value
    numbers = (_number(one, one.before), _number(one, one.after), _change(one), _bar(one))
    return (_name(one), *numbers, str(Message(f"vcompare.way.{way}")))


def _name(one: Metric) -> str:
    name = say(f"vcompare.metric.{one.name}")
    return str(name if one.of is None else say("vcompare.of", name=name, of=one.of))


def _number(one: Metric, value: float) -> str:
    if one.unit is Unit.SECONDS:
        return step_text(value)
    if one.unit is Unit.SHARE:
        return share_text(value)
    if one.unit is Unit.TOKENS_PER_S:
        return rate_text(value)
    return f"{value:.1f} {'GB/s' if one.unit is Unit.GBYTE_S else 'TFLOP/s'}"


def _change(one: Metric) -> str:
    change = signed(100 * one.change)
    if one.unit is Unit.SHARE:
        return str(say("vcompare.points", change=change))
    return str(say("vcompare.of_step", change=change)) if one.of_step else f"{change} %"


def _bar(one: Metric) -> str:
    bar = f"{100 * one.noise.bar:.1f}"
    if one.unit is Unit.SHARE:
        return str(say("vcompare.bar_points", bar=bar))
    return str(say("vcompare.bar_of_step", bar=bar)) if one.of_step else f"{bar} %"


def _rules(found: VitalsComparison) -> Iterable[str]:
    """Each rule once, with the numbers it is of."""
    rules: dict[str, list[str]] = {}
    for one in found.metrics:
        rules.setdefault(str(one.noise.rule), []).append(_name(one))
    for rule, names in rules.items():
        yield pair(in_a_row(names, "text.comma"), rule)
    if rules:
        yield str(say("vcompare.noise.asked", floor=round(100 * found.floor, 1)))


def _list(heading: str, entries: Iterable[str], width: int) -> list[str]:
    lines = [line for entry in entries for line in _wrapped(entry, width, "    ", "      ")]
    return [*_wrapped(str(Message(heading)), width, "  "), *lines] if lines else []


def _wrapped(text: str, width: int, indent: str, hanging: str | None = None) -> list[str]:
    return wrapped(one_line(text), width, indent, hanging, break_long=False)
