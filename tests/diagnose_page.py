"""The tables of docs/diagnose.md, made of the data: `python -m tests.diagnose_page` writes them again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from healthcheck.diagnosis.joint.rule import BROKEN_PART, CHECK, FAILED, HEALTHY, SLOW, UNMEASURED, Cell, Rule
from healthcheck.diagnosis.joint.table import QUESTIONS, RULES
from healthcheck.diagnosis.joint.thresholds import THRESHOLDS
from healthcheck.model.joint import Level, Question, Sign
from healthcheck.model.texts import CATALOGUE_EN

PAGE = Path(__file__).parents[1] / "docs" / "diagnose.md"
ASKED = {
    Question.STEP: "Where does the time of a step go, and are the links why?",
    Question.WALL: "What of the wall clock was worth it?",
    Question.LINKS: "What does the check-up say by itself?",
    Question.EVENNESS: "Are steps and ranks even?",
    Question.WAITING: "Does the GPU wait for the host?",
    Question.EFFECTIVE: "Do the collectives get what the links can do?",
    Question.DOCUMENTS: "Are the documents of one training?",
    Question.RECORD_KIND: "Can the record speak at all?",
    Question.RECORD_GPU: "Is it of the same GPU?",
    Question.RECORD_AGE: "Is it of the same time?",
    Question.RECORD_COVER: "Is it of the same nodes?",
}
_NAMES = {
    Sign.EXPOSED: "exposed",
    Sign.IDLE: "idle",
    Sign.DATA_LOADING: "data loading",
    Sign.BUSBW: "busbw",
    Sign.LINK_VERDICT: "links",
    Sign.STEP_SPREAD: "step spread",
    Sign.RANK_SPREAD: "rank spread",
    Sign.EFFECTIVE: "busbw in the training",
    Sign.DOCUMENTS: "documents",
    Sign.RECORD_KIND: "record",
    Sign.RECORD_GPU: "GPU",
    Sign.RECORD_AGE: "apart",
    Sign.RECORD_COVER: "covered",
    Sign.MFU: "MFU",
}
_WORDS: dict[Sign, dict[Level, str]] = {
    Sign.LINK_VERDICT: {Level.LOW: "FAIL", Level.MIDDLE: "DEGRADED", Level.HIGH: "PASS", Level.UNKNOWN: "open"},
    Sign.DOCUMENTS: {Level.LOW: "contradict", Level.HIGH: "agree"},
    Sign.RECORD_KIND: {Level.LOW: "simulated", Level.MIDDLE: "incomplete", Level.HIGH: "complete"},
    Sign.RECORD_GPU: {Level.LOW: "another", Level.HIGH: "the same"},
}
_LINKS = (Sign.LINK_VERDICT, Sign.BUSBW)
_STATES: dict[str, tuple[Cell, ...]] = {
    "*failed*": FAILED,
    "*broken part*": BROKEN_PART,
    "*slow*": SLOW,
    "*healthy*": HEALTHY,
    "*unmeasured*": UNMEASURED,
}
_SOURCES = {"article": "article", "thumb": "rule of thumb", CHECK: "check-up"}


def thresholds() -> str:
    """Every threshold with its value and what stands behind it."""
    rows = [f"| `{one.name}` | {one.value:g} | {one.source} |" for one in THRESHOLDS]
    return "\n".join(["| name | default | where it comes from |", "|---|---:|---|", *rows])


def rules() -> str:
    """The whole table, one part a question, in the order in which the answers are told."""
    parts = ["\n".join(f"- links {name}: {' **or** '.join(map(_cell, state))}" for name, state in _STATES.items())]
    for question in QUESTIONS:
        rows = [_row(rule) for rule in RULES if rule.question is question]
        head = ["| rule | is | when | means | whose |", "|---|---|---|---|---|"]
        parts.append("\n".join([f"### {ASKED[question]}", "", *head, *rows]))
    return "\n\n".join(parts)


def _row(rule: Rule) -> str:
    when = " **or** ".join(_when(rule.when))
    title = CATALOGUE_EN[f"joint.title.{rule.code}"]
    return f"| `{rule.code}` | {rule.kind.value} | {when} | {title} | {_SOURCES[rule.source]} |"


def _when(cells: tuple[Cell, ...]) -> Iterator[str]:
    """One phrase a case of the training: what of the links goes with it by its name, where it has one."""
    by_training: dict[Cell, list[Cell]] = {}
    for cell in cells:
        of_links = tuple(part for part in cell if part[0] in _LINKS)
        by_training.setdefault(tuple(part for part in cell if part[0] not in _LINKS), []).append(of_links)
    for training, links in by_training.items():
        name = _named(links)
        told = [_cell(training)] if training else []
        if name is not None:
            yield ", ".join([*told, name] if name else told)
        else:
            yield from (", ".join([*told, _cell(one)]) for one in links)


def _named(links: list[Cell]) -> str | None:
    """`links slow or healthy`; empty where anything of the links goes; None where no names say it."""
    if links == [()]:
        return ""
    names = [name for name, state in _STATES.items() if set(state) <= set(links)]
    covered = {cell for name in names for cell in _STATES[name]}
    return f"links {' or '.join(names)}" if covered == set(links) else None


def _cell(cell: Cell) -> str:
    told = [f"{_NAMES.get(sign, sign.value)} {_levels(sign, levels)}" for sign, levels in cell]
    return ", ".join(told) or "anything else"


def _levels(sign: Sign, levels: tuple[Level, ...]) -> str:
    words = _WORDS.get(sign, {})
    return "/".join(words.get(level, level.value) for level in levels)


def written(page: str) -> str:
    """The page with its tables made again."""
    for name, text in (("thresholds", thresholds()), ("rules", rules())):
        begin, end = f"<!-- {name} -->\n", f"\n<!-- end of {name} -->"
        before, _, rest = page.partition(begin)
        page = before + begin + text + end + rest.partition(end)[2]
    return page


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
