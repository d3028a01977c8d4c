"""`healthcheck explain`: what a cause, a check or a rule of a report means, and what to do about it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from healthcheck.cli import options

if TYPE_CHECKING:
    from healthcheck.diagnosis.cause import Cause

_WIDTH = 96
_FIELD = re.compile(r"\{(\w+)(?::([^}|]*\|)?([^}]*))?\}")


def command(
    code: Annotated[str | None, typer.Argument(help="A cause, a check or a rule; without one all are listed.")] = None,
    json: options.Json = False,
) -> None:
    """Explain a code of a report: how it comes about, what to do, what would speak against it.

    Example: healthcheck explain hca_slow
    """
    from healthcheck.cli.document import print_document
    from healthcheck.cli.exits import out

    causes, checks = found(code) if code is not None else (known_causes(), known_checks())
    if json:
        print_document(
            "healthcheck.explain/1", causes=[as_document(cause) for cause in causes], checks=[*map(_as_check, checks)]
        )
        return
    lines = _listed(causes, checks) if code is None else _told(causes, checks)
    out("\n".join(lines))


def known_causes() -> tuple[Cause, ...]:
    """All of the catalogue, most urgent first."""
    from healthcheck.diagnosis.causes import CAUSES

    return CAUSES


def known_checks() -> tuple[str, ...]:
    """The ids of all checks."""
    from healthcheck.model.text_checks import CHECK_TEXTS

    return tuple(sorted(code.removeprefix("check.") for code in CHECK_TEXTS))


def found(code: str) -> tuple[tuple[Cause, ...], tuple[str, ...]]:
    """(causes, check ids) of that name: a cause with or without `cause.`, a check id, or a rule.

    InputError with the nearest names for any other.
    """
    from healthcheck.diagnosis.causes import BY_CODE, UNEXPLAINED, cause_of
    from healthcheck.errors import InputError

    cause = BY_CODE.get(re.sub(r"^(?:cause|remedy|why|against)\.", "", code))
    if cause is not None:
        return (cause,), ()
    check = code.removeprefix("check.")
    checks = (check,) if check in known_checks() else ()
    by_rule = cause_of(code) if "." in code else UNEXPLAINED
    causes = (by_rule,) if by_rule is not UNEXPLAINED else ()
    if not causes and not checks:
        raise InputError("healthcheck explain", f"there is no cause, check or rule {code!a}{_near(code)}")
    return causes, checks


def _near(code: str) -> str:
    import difflib

    from healthcheck.diagnosis.causes import BY_CODE, BY_RULE

    names = [*BY_CODE, *known_checks(), *(rule for rule in BY_RULE if not rule.startswith("warn."))]
    near = difflib.get_close_matches(code.removeprefix("cause."), names, n=3, cutoff=0.5)
    return f"; did you mean {', '.join(near)}?" if near else "; healthcheck explain lists all"


def text(code: str) -> str:
    """The template of a message as a reader sees it without a finding: `<port>` for what a finding fills in."""
    from healthcheck.model.texts import CATALOGUE_EN

    return _FIELD.sub(lambda field: field[3] if field[2] else f"<{field[1]}>", CATALOGUE_EN[code])


def as_document(cause: Cause) -> dict[str, object]:
    """One cause of the JSON document; the commands are argvs with `{host}`, `{device}` and `{run_id}` to fill in."""
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
        "reference": cause.reference,
    }


def _as_check(check: str) -> dict[str, str]:
    return {"check": check, "asks": text(f"check.{check}")}


def _listed(causes: tuple[Cause, ...], checks: tuple[str, ...]) -> Iterator[str]:
    width = max(len(name) for name in (*(cause.code for cause in causes), *checks))
    yield "Causes, most urgent first:"
    yield from (f"  {cause.code:<{width}}  {text(f'cause.{cause.code}')}" for cause in causes)
    yield ""
    yield "Checks:"
    yield from (f"  {check:<{width}}  {text(f'check.{check}')}" for check in checks)


def _told(causes: tuple[Cause, ...], checks: tuple[str, ...]) -> Iterator[str]:
    for check in checks:
        yield f"check {check}"
        yield from _paragraph("asks", text(f"check.{check}"))
    if checks and causes:
        yield ""
    for cause in causes:
        told = as_document(cause)
        follows = ", only follows from something else" if cause.secondary else ""
        yield f"cause.{cause.code}: {told['title']}"
        yield from _paragraph("severity", f"{cause.severity}, {cause.confidence} when found{follows}")
        yield from _paragraph("why", str(told["why"]))
        yield from _paragraph("do", str(told["remedy"]))
        yield from _paragraph("against", str(told["against"]))
        yield from _paragraph("rules", ", ".join(cause.rules))
        yield from _paragraph("line", cause.signature)
        yield from (f"  {'try' if not at else '':<9} {line}" for at, line in enumerate(_commands(cause)))
        yield from _paragraph("read", cause.reference)


def _commands(cause: Cause) -> list[str]:
    """As a person types them, with names to be filled in."""
    import shlex

    return [
        shlex.join(re.sub(r"\{(\w+)\}", lambda field: field[1].upper(), word) for word in argv)
        for argv in cause.commands
    ]


def _paragraph(name: str, words: str) -> Iterator[str]:
    import textwrap

    lines = textwrap.wrap(words, _WIDTH - 12, break_long_words=False, break_on_hyphens=False)
    yield from (f"  {name if not at else '':<9} {line}" for at, line in enumerate(lines))
