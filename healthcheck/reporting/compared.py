"""A comparison on a terminal, the one line on stdout, and the document of `--json`."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct, structs

from healthcheck.model.comparison import SCHEMA, Answer, Comparison
from healthcheck.model.language import ENGLISH, speaking
from healthcheck.model.message import Message, say
from healthcheck.parsing.record_codec import message_document
from healthcheck.reporting.compared_view import WORD_COLUMNS, Table, answer, percent, sections, side, table
from healthcheck.reporting.figures import one_line
from healthcheck.reporting.joining import in_a_row
from healthcheck.reporting.text_width import left, readable, right, spaced, width_of, wrapped


def compared_line(comparison: Comparison) -> str:
    """`WORSE 3 of 64 nodes, fleet -0.2 % (noise 0.6 %)`: English, one line, always.

    Contract: the answer, the nodes, the shift of the fleet and of jobs between nodes, what is missing or not compared.
    """
    with speaking(ENGLISH):
        return compared_title(comparison)


def compared_title(comparison: Comparison) -> str:
    """The same line in the language that is spoken: what a page has for its title."""
    nodes = comparison.before.nodes
    told = say("compare.line.nodes", nodes=nodes)
    if comparison.answer is Answer.WORSE:
        told = say("compare.line.moved", moved=len(comparison.worse), nodes=nodes)
    elif comparison.answer is Answer.BETTER:
        told = say("compare.line.moved", moved=len(comparison.better), nodes=nodes)
    elif comparison.answer is Answer.INCOMPLETE or comparison.compared != nodes:
        told = say("compare.line.compared", compared=comparison.compared, nodes=nodes)
    parts = [told]
    if comparison.before.simulated and comparison.after.simulated:
        parts.append(say("compare.line.simulated"))
    for code, alone in (("compare.line.fleet", True), ("compare.line.between", False)):
        groups = [one for one in comparison.groups if one.saturated and (one.nodes_a_job == 1) is alone]
        if groups:
            low = min(groups, key=lambda one: one.change_percent)
            which = f"{low.collective} " if len(groups) > 1 else ""
            change = f"{which}{percent(low.change_percent)}"
            parts.append(say(code, change=change, noise=low.noise_percent))
    missing = sum(one.nodes for one in comparison.missing)
    if missing:
        parts.append(say("compare.line.missing", n=missing))
    if comparison.not_compared:
        parts.append(say("compare.line.not_compared", n=len(comparison.not_compared)))
    return one_line(f"{comparison.answer.value.upper()} {in_a_row(parts, 'text.comma')}")


def compared_lines(comparison: Comparison, width: int) -> list[str]:
    """The story on stderr: plain text in at most 96 columns; foreign text on one line, its control signs visible."""
    width = readable(width)
    sides = (("BEFORE", comparison.before), ("AFTER", comparison.after))
    blocks = [
        [line for name, of in sides for line in _wrapped(side(of), width, f"  {name:<8}", "          ")],
        [line for note in comparison.notes for line in _wrapped(str(note), width, "  ")],
        _wrapped(answer(comparison), width, "  "),
        _table(table(comparison), width),
    ]
    for section in sections(comparison):
        entries = [line for entry in section.entries for line in _wrapped(entry, width, "    ", "      ")]
        blocks.append([*_wrapped(section.heading, width, "  "), *entries])
    return spaced(blocks)


def _table(of: Table, width: int) -> list[str]:
    """Side by side where there is room, else one sentence a row."""
    if not of.rows:
        return []
    rows = (of.titles, *of.rows)
    sizes = [max(map(width_of, column)) for column in zip(*rows, strict=True)]
    lines: list[str] = []
    if sum(sizes) + 2 * len(sizes) <= width:
        for row in rows:
            cells = (
                left(cell, size) if place < WORD_COLUMNS else right(cell, size)
                for place, (cell, size) in enumerate(zip(row, sizes, strict=True))
            )
            lines.append(_one_line(f"  {'  '.join(cells)}".rstrip()))
    else:
        lines += [line for sentence in of.sentences for line in _wrapped(sentence, width, "  ", "    ")]
    return lines + [line for remark in of.remarks for line in _wrapped(remark, width, "  ", "    ")]


def _one_line(text: str) -> str:
    """`one_line` that leaves the blanks between columns as they are."""
    return " ".join(map(one_line, text.split(" ")))


def _wrapped(text: str, width: int, indent: str, hanging: str | None = None) -> list[str]:
    return wrapped(_one_line(text), width, indent, hanging)


def document(comparison: Comparison) -> object:
    """`healthcheck.compare/1`: the comparison field by field, every text as code, args and `message_en`."""
    return {"schema": SCHEMA, "line": compared_line(comparison), **_fields(comparison)}


def nothing_message(runs: int, alone: str | None, results: str) -> Message:
    """Why `--last` found no two runs: how many there are, and which one found no other."""
    if not runs:
        return say("compare.nothing.none", results=results)
    if alone is None:
        return say("compare.nothing.unmeasured", n=runs, results=results)
    return say("compare.nothing.alone", n=runs, results=results, run_id=alone)


def nothing_document(why: Message, notes: Sequence[Message], runs: int, exit_code: int) -> object:
    """`healthcheck.compare/1` where nothing was compared: `before` and `after` are null, `runs` were looked at."""
    return {
        "schema": SCHEMA,
        "line": why.english,
        "exit_code": exit_code,
        "before": None,
        "after": None,
        "compared": 0,
        "runs": runs,
        "not_compared": [message_document(why)],
        "notes": [message_document(note) for note in notes],
    }


def _fields(value: Struct) -> dict[str, object]:
    return {name: _plain(field) for name, field in structs.asdict(value).items()}


def _plain(value: object) -> object:
    if isinstance(value, Message):
        return message_document(value)
    if isinstance(value, Struct):
        return _fields(value)
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return round(value, 3) if isinstance(value, float) else value
