"""The joint diagnosis on a terminal, its one line on stdout, and the document of `--json`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from healthcheck.model.joint import SCHEMA, Joint, Kind, Level, Match, Seen, Sign
from healthcheck.model.language import ENGLISH, speaking
from healthcheck.model.message import Message, say
from healthcheck.parsing.record_codec import encode_document
from healthcheck.reporting.figures import one_line
from healthcheck.reporting.joining import in_a_row, pair
from healthcheck.reporting.joint_rules import word_of
from healthcheck.reporting.text_table import table
from healthcheck.reporting.text_width import readable, spaced, wrapped
from healthcheck.reporting.training_figures import share_text

_WORDS = {0: "WELL", 1: "FAIL", 3: "UNKNOWN", 4: "SUSPECT"}
_IN_LINE = (
    (Sign.MFU, "MFU"),
    (Sign.EXPOSED, "exposed"),
    (Sign.GOODPUT, "goodput"),
    (Sign.BUSBW, "busbw of peak"),
    (Sign.LINK_VERDICT, "links"),
)


def joint_line(joint: Joint) -> str:
    """`SUSPECT fault_tolerance; MFU 41.0 %, goodput 71.0 %, links PASS`: English, one line, always.

    Contract: the word of the exit code, the rules to act on (else those that keep it from being called well), the
    numbers that are known, `documents differ` where those of the training contradict each other, `simulated` where the
    links are.
    """
    with speaking(ENGLISH):
        kind = Kind.GAP if joint.exit_code == 3 else Kind.FINDING
        rules = [match.rule for match in joint.matches if match.kind is kind]
        known = {one.sign: one for one in joint.seen if one.level is not Level.UNKNOWN}
        numbers = [f"{name} {value_text(known[sign])}" for sign, name in _IN_LINE if sign in known]
        differ = any(one.sign is Sign.DOCUMENTS and one.level is Level.LOW for one in joint.seen)
        marks = ["documents differ" if differ else "", "simulated" if joint.simulated else ""]
        parts = [", ".join(rules), ", ".join(numbers), *marks]
        return one_line(f"{_WORDS.get(joint.exit_code, 'UNKNOWN')} {'; '.join(part for part in parts if part)}")


def joint_document(joint: Joint) -> str:
    """`healthcheck.diagnose/1` as JSON text, with its line."""
    return encode_document(SCHEMA, replace(joint, line=joint_line(joint)))


def joint_lines(joint: Joint, width: int) -> list[str]:
    """The story: what is known, each rule to act on with its numbers and what to do next, what is not known."""
    width = readable(width)
    blocks = [
        [line for note in joint.notes for line in _wrapped(str(note), width, "  ")],
        [*_heading("joint.heading.signs", width), *_signs(joint.seen, width)],
        *_rules("joint.heading.finding", joint.matches, Kind.FINDING, width),
        *_rules("joint.heading.gap", joint.matches, Kind.GAP, width),
        _list("joint.heading.missing", map(str, joint.missing), width),
        _list("joint.heading.fine", _quiet(joint.matches), width),
        _thresholds(joint, width),
    ]
    return spaced(blocks)


def _quiet(matches: Sequence[Match]) -> Iterable[str]:
    """What is well, and notes about what is known in part; that nothing is known stands in its own list."""
    for match in matches:
        if match.kind is Kind.FINE or (match.kind is Kind.NOTE and match.because):
            yield str(match.title)


def _signs(seen: Sequence[Seen], width: int) -> list[str]:
    head = [str(Message(f"joint.column.{name}")) for name in ("sign", "value", "level", "thresholds", "basis")]
    rows = [_row(one) for one in seen if one.level is not Level.UNKNOWN]
    lines = [f"  {line}".rstrip() for line in table(head, rows, (1, 3), width - 2)] if rows else []
    for why, names in _unknown(seen).items():
        lines += _wrapped(pair(why, in_a_row(names, "text.comma")), width, "  ", "    ")
    return lines


def _unknown(seen: Sequence[Seen]) -> dict[str, list[Message]]:
    """The signs nothing is known of, by the reason."""
    found: dict[str, list[Message]] = {}
    for one in seen:
        if one.level is Level.UNKNOWN:
            found.setdefault(in_a_row((level_text(one), one.basis), "text.comma"), []).append(_name(one))
    return found


def _row(one: Seen) -> list[str]:
    cells = [str(_name(one)), value_text(one), level_text(one), thresholds_text(one)]
    return [*map(one_line, cells), one_line(str(one.basis))]


def level_text(one: Seen) -> str:
    """`low`, `high`, `not measured`; empty where a word stands for the number."""
    return str(say(f"training.level.{one.level.value}")) if one.low is not None or one.level is Level.UNKNOWN else ""


def value_text(one: Seen) -> str:
    """Its number, or the word that stands for one."""
    if one.value is not None:
        return _number(one, one.value)
    return word_of(one.sign, one.level) or one.shown


def thresholds_text(one: Seen) -> str:
    """`15 % to 30 %`; empty where a sign has none."""
    if one.low is None or one.high is None:
        return ""
    return str(say("joint.thresholds", low=_number(one, one.low), high=_number(one, one.high)))


def _number(one: Seen, value: float) -> str:
    return str(say("joint.days", days=value)) if one.sign is Sign.RECORD_AGE else share_text(value)


def _name(one: Seen) -> Message:
    return Message(f"training.sign.{one.sign.value}")


def _rules(heading: str, matches: Sequence[Match], kind: Kind, width: int) -> list[list[str]]:
    found = [_rule(match, width) for match in matches if match.kind is kind]
    if found:
        found[0] = [*_heading(heading, width), *found[0]]
    return found


def _rule(match: Match, width: int) -> list[str]:
    """Title, rule and numbers, what it means, the steps, and the lines to copy, each on a line of its own."""
    because = [str(say("joint.because", sign=_name(one), value=value_text(one))) for one in match.because]
    told = say("joint.rule_alone", code=match.rule, source=match.source)
    if because:
        told = say("joint.rule", code=match.rule, because=in_a_row(because, "text.comma"), source=match.source)
    lines = [*_wrapped(str(match.title), width, "  * ", "    "), *_wrapped(str(told), width, "    ")]
    if match.meaning is not None:
        lines += _wrapped(str(match.meaning), width, "    ")
    for step in match.next_steps:
        lines += _wrapped(str(say("joint.next", step=step)), width, "    - ", "      ")
    return [*lines, *(f"        {one_line(command)}" for command in match.commands)]


def _list(heading: str, entries: Iterable[str], width: int) -> list[str]:
    lines = [line for entry in entries for line in _wrapped(entry, width, "    ", "      ")]
    return [*_heading(heading, width), *lines] if lines else []


def _thresholds(joint: Joint, width: int) -> list[str]:
    lines = _wrapped(str(say("joint.thumb")), width, "  ")
    if joint.changed:
        names = ", ".join(f"{name}={joint.thresholds[name]:g}" for name in joint.changed)
        lines = [*_wrapped(str(say("joint.changed", names=names)), width, "  "), *lines]
    return lines


def _heading(code: str, width: int) -> list[str]:
    return _wrapped(str(Message(code)), width, "  ")


def _wrapped(text: str, width: int, indent: str, hanging: str | None = None) -> list[str]:
    return wrapped(one_line(text), width, indent, hanging, break_long=False)
