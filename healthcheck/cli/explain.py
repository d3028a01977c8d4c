"""`healthcheck explain`: what a cause, a check or a rule of a report means, and what to do about it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from healthcheck.cli import options
from healthcheck.cli.language import on_stdout

if TYPE_CHECKING:
    from healthcheck.diagnosis.cause import Cause
    from healthcheck.diagnosis.joint.rule import Rule
    from healthcheck.diagnosis.lookup import Meaning

_WIDTH = 96
_FIELD = re.compile(r"\{(\w+)(?::([^}|]*\|)?([^}]*))?\}")


def command(
    code: Annotated[
        str | None,
        typer.Argument(
            help="A cause, a check, a rule (of diagnose, too), the number of an Xid, or what names begin with; "
            "without, all causes and checks."
        ),
    ] = None,
    json: options.Json = False,
    lang: options.Lang = None,
) -> None:
    """Explain a code of a report: how it comes about, what to do, what would speak against it.

    Example: healthcheck explain hca_slow
    """
    from healthcheck.cli.document import print_document
    from healthcheck.cli.exits import out
    from healthcheck.diagnosis.causes import CAUSES
    from healthcheck.diagnosis.lookup import Meaning, known_checks
    from healthcheck.reporting.joint_rules import rule_named

    rule = None if code is None else rule_named(code)
    if rule is not None:
        with on_stdout(lang, json):
            if json:
                print_document("healthcheck.explain/1", causes=[], checks=[], diagnosis=_as_diagnosis(rule))
            else:
                out("\n".join(_diagnosis(rule)))
        return
    found = Meaning(CAUSES, known_checks(), family=True) if code is None else _found(code)
    with on_stdout(lang, json):
        if not json:
            out("\n".join(_listed(found) if found.family else _told(found)))
            return
        print_document(
            "healthcheck.explain/1",
            causes=[as_document(cause) for cause in found.causes],
            checks=[*map(_as_check, found.checks)],
            **({"xid": {"code": found.xid, "means": text(found.xid)}} if found.xid else {}),
        )


def _as_diagnosis(rule: Rule) -> dict[str, object]:
    """A rule of `healthcheck diagnose` in the JSON document."""
    from healthcheck.reporting.joint_rules import conditions

    return {
        "rule": rule.code,
        "kind": rule.kind.value,
        "title": text(f"joint.title.{rule.code}"),
        "meaning": _meaning(rule),
        "when": conditions(rule),
        "steps": [text(f"joint.next.{step}") for step in rule.steps],
        "source": text(f"joint.source.{rule.source}"),
    }


def _meaning(rule: Rule) -> str:
    from healthcheck.model.texts import CATALOGUE_EN

    code = f"joint.meaning.{rule.code}"
    return text(code) if code in CATALOGUE_EN else ""


def _diagnosis(rule: Rule) -> Iterator[str]:
    from healthcheck.model.message import say
    from healthcheck.reporting.joint_rules import conditions

    yield str(say("explain.rule", code=rule.code, title=text(f"joint.title.{rule.code}")))
    for at, condition in enumerate(conditions(rule)):
        yield from _paragraph("" if at else text("explain.label.when"), condition)
    yield from _paragraph(text("explain.label.why"), _meaning(rule))
    for at, step in enumerate(rule.steps):
        yield from _paragraph("" if at else text("explain.label.do"), text(f"joint.next.{step}"))
    yield from _paragraph(text("explain.label.whose"), text(f"joint.source.{rule.source}"))
    yield _labelled(text("explain.label.read"), "docs/diagnose.md")


def _found(code: str) -> Meaning:
    """InputError with the nearest names where nothing is called so."""
    from healthcheck.diagnosis.lookup import meaning_of, near
    from healthcheck.errors import InputError

    found = meaning_of(code)
    if found is None:
        alike = near(code)
        hint = f"did you mean {', '.join(alike)}?" if alike else "healthcheck explain lists all"
        raise InputError("healthcheck explain", f"there is no cause, check, rule or Xid {code!a}; {hint}")
    return found


def text(code: str) -> str:
    """The template of a message as a reader sees it without a finding: `<port>` for what a finding fills in."""
    from healthcheck.model.language import spoken
    from healthcheck.model.texts import template_of

    return _FIELD.sub(lambda field: field[3] if field[2] else f"<{field[1]}>", template_of(code, spoken()) or code)


def as_document(cause: Cause) -> dict[str, object]:
    """One cause of the JSON document; the commands and repairs are argvs with `{host}`, `{device}`, `{gpu}` and
    `{run_id}` to fill in."""
    return {
        "code": f"cause.{cause.code}",
        "title": text(f"cause.{cause.code}"),
        "severity": cause.severity,
        "confidence": cause.confidence,
        "secondary": cause.secondary,
        "why": text(f"why.{cause.code}"),
        "remedy": text(f"remedy.{cause.code}"),
        "against": text(f"against.{cause.code}"),
        "rules": cause.rules,
        "signature": cause.signature,
        "explains": cause.explains,
        "commands": cause.commands,
        "drain": cause.drain,
        "repairs": cause.repairs,
        "reference": cause.reference,
    }


def _as_check(check: str) -> dict[str, object]:
    """A check of the JSON document, with the rules it can end with and the cause of each."""
    from healthcheck.diagnosis.check_rules import rules_of

    return {
        "check": check,
        "asks": text(f"check.{check}"),
        "limit": _limit(check),
        "rules": [
            {"rule": rule, "cause": f"cause.{cause.code}", "title": text(f"cause.{cause.code}")}
            for rule, cause in rules_of(check)
        ],
    }


def _limit(check: str) -> str | None:
    from healthcheck.model.texts import CATALOGUE_EN

    return text(f"limit.{check}") if f"limit.{check}" in CATALOGUE_EN else None


def _listed(found: Meaning) -> Iterator[str]:
    width = max(len(name) for name in (*(cause.code for cause in found.causes), *found.checks))
    if found.causes:
        yield text("explain.causes")
        yield from (f"  {cause.code:<{width}}  {text(f'cause.{cause.code}')}" for cause in found.causes)
    if found.causes and found.checks:
        yield ""
    if found.checks:
        yield text("explain.checks")
        yield from (f"  {check:<{width}}  {text(f'check.{check}')}" for check in found.checks)


def _told(found: Meaning) -> Iterator[str]:
    from healthcheck.model.message import say

    for check in found.checks:
        yield from _check(check)
    if found.checks and found.causes:
        yield ""
    if found.xid:
        yield str(say("explain.title", code=found.xid, title=text(found.xid)))
        yield ""
    for cause in found.causes:
        yield from _cause(cause)


def _check(check: str) -> Iterator[str]:
    from healthcheck.diagnosis.check_rules import rules_of
    from healthcheck.model.message import say

    yield str(say("explain.check", check=check))
    yield from _paragraph(text("explain.label.asks"), text(f"check.{check}"))
    yield from _paragraph(text("explain.label.limit"), _limit(check) or "")
    by_cause: dict[str, list[str]] = {}
    for rule, cause in rules_of(check):
        by_cause.setdefault(cause.code, []).append(rule)
    for place, (code, rules) in enumerate(by_cause.items()):
        ends = say("explain.ends_in", code=f"cause.{code}", title=text(f"cause.{code}"), rules=", ".join(rules))
        yield from _paragraph("" if place else text("explain.label.ends_in"), str(ends))


def _cause(cause: Cause) -> Iterator[str]:
    from healthcheck.model.message import say

    severity = say(
        "explain.severity_secondary" if cause.secondary else "explain.severity",
        severity=say(f"explain.severity.{cause.severity}"),
        confidence=say(f"report.confidence.{cause.confidence}"),
    )
    yield str(say("explain.title", code=f"cause.{cause.code}", title=text(f"cause.{cause.code}")))
    yield from _paragraph(text("explain.label.severity"), str(severity))
    yield from _paragraph(text("explain.label.why"), text(f"why.{cause.code}"))
    yield from _paragraph(text("explain.label.do"), text(f"remedy.{cause.code}"))
    yield from _paragraph(text("explain.label.against"), text(f"against.{cause.code}"))
    yield from _paragraph(text("explain.label.rules"), ", ".join(cause.rules))
    yield from _paragraph(text("explain.label.line"), cause.signature)
    for at, line in enumerate(_commands(cause)):
        yield _labelled("" if at else text("explain.label.try"), line)
    yield from _paragraph(text("explain.label.read"), cause.reference)


def _commands(cause: Cause) -> list[str]:
    """As a person types them, with names to be filled in."""
    import shlex

    return [
        shlex.join(re.sub(r"\{(\w+)\}", lambda field: field[1].upper(), word) for word in argv)
        for argv in (*cause.commands, *cause.repairs)
    ]


def _paragraph(name: str, words: str) -> Iterator[str]:
    from healthcheck.reporting.text_width import wrapped

    for at, line in enumerate(wrapped(words, _WIDTH - 12, break_long=False)):
        yield _labelled("" if at else name, line)


def _labelled(name: str, line: str) -> str:
    from healthcheck.reporting.text_width import left

    return f"  {left(name, 9)} {line}"
