"""What a word of a report, or of the kernel log, stands for in the catalogue: a cause, a check, a rule or an Xid."""

from __future__ import annotations

import difflib
import re

from msgspec import Struct

from healthcheck.diagnosis.cause import Cause
from healthcheck.diagnosis.causes import BY_CODE, BY_RULE, CAUSES, UNEXPLAINED, WARN, cause_of
from healthcheck.diagnosis.joint.table import RULES as DIAGNOSES
from healthcheck.model.text_checks import CHECK_TEXTS
from healthcheck.probes.xids import XIDS, Weight

SHORTEST_PREFIX = 2
_RULES = tuple(rule for rule in BY_RULE if not rule.startswith(WARN))


class Meaning(Struct, frozen=True):
    """What a word stands for. `family`: it only begins their names. `xid`: what the number means, a code of a text."""

    causes: tuple[Cause, ...] = ()
    checks: tuple[str, ...] = ()
    family: bool = False
    xid: str = ""


def known_checks() -> tuple[str, ...]:
    """The ids of all checks."""
    return tuple(sorted(code.removeprefix("check.") for code in CHECK_TEXTS))


def meaning_of(word: str) -> Meaning | None:
    """A cause with or without `cause.`, a check id, a rule, the number of an Xid, or what the names begin with."""
    cause = BY_CODE.get(re.sub(r"^(?:cause|remedy|why|against)\.", "", word))
    if cause is not None:
        return Meaning((cause,))
    check = word.removeprefix("check.")
    by_rule = cause_of(word) if "." in word else UNEXPLAINED
    causes = () if by_rule is UNEXPLAINED else (by_rule,)
    if check in known_checks():
        return Meaning(causes, (check,))
    return _xid(word) or (Meaning(causes) if causes else _family(word))


def near(word: str) -> tuple[str, ...]:
    """Up to three names that look like it."""
    names = [*BY_CODE, *known_checks(), *_RULES, *(rule.code for rule in DIAGNOSES)]
    return tuple(difflib.get_close_matches(word.removeprefix("cause."), names, n=3, cutoff=0.5))


def _xid(word: str) -> Meaning | None:
    """`79` and `xid.79`; a number without a cause of its own leads to that of all which weigh as much."""
    match = re.fullmatch(r"(?:xid[. ]?)?(\d{1,5})", word.lower())
    row = XIDS.get(int(match[1])) if match else None
    if row is None:
        return None
    shared = {Weight.FATAL: "xid.fatal", Weight.WARNING: "xid.warning", Weight.APPLICATION: "xid.app"}
    return Meaning((cause_of(row.name if row.own else shared[row.weight]),), xid=row.name)


def _family(word: str) -> Meaning | None:
    """All whose names begin so; one alone is no family."""
    if len(word) < SHORTEST_PREFIX:
        return None
    begins = {BY_RULE[rule].code for rule in _RULES if rule.startswith(word)}
    causes = tuple(cause for cause in CAUSES if cause.code.startswith(word) or cause.code in begins)
    checks = tuple(check for check in known_checks() if check.startswith(word))
    return Meaning(causes, checks, family=len(causes) + len(checks) > 1) if causes or checks else None
