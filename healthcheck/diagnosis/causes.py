"""The catalogue of causes, joined: from the rule that fired, or from a line of NCCL, to what is behind it.

The rows are data and stand in `diagnosis/catalogue/`, one file an area; their order is the urgency within one verdict.
"""

from __future__ import annotations

import re
from functools import cache

from healthcheck.diagnosis.catalogue.fabric import FABRIC_CAUSES
from healthcheck.diagnosis.catalogue.fingerprints import FINGERPRINT_CAUSES
from healthcheck.diagnosis.catalogue.fleet import FLEET_CAUSES
from healthcheck.diagnosis.catalogue.gpus import GPU_CAUSES
from healthcheck.diagnosis.catalogue.jobs import JOB_CAUSES
from healthcheck.diagnosis.catalogue.machine import MACHINE_CAUSES
from healthcheck.diagnosis.catalogue.nccl import NCCL_CAUSES
from healthcheck.diagnosis.catalogue.nccl_net import NCCL_NET_CAUSES
from healthcheck.diagnosis.catalogue.nccl_paths import NCCL_PATH_CAUSES
from healthcheck.diagnosis.catalogue.network import NETWORK_CAUSES
from healthcheck.diagnosis.catalogue.search import SEARCH_CAUSES
from healthcheck.diagnosis.catalogue.system import SYSTEM_CAUSES
from healthcheck.diagnosis.cause import Cause

CAUSES: tuple[Cause, ...] = (
    *GPU_CAUSES,
    *NETWORK_CAUSES,
    *FABRIC_CAUSES,
    *SYSTEM_CAUSES,
    *FLEET_CAUSES,
    *NCCL_PATH_CAUSES,
    *NCCL_CAUSES,
    *NCCL_NET_CAUSES,
    *SEARCH_CAUSES,
    *FINGERPRINT_CAUSES,
    *JOB_CAUSES,
    *MACHINE_CAUSES,
)
"""A part that is named before what NCCL and a job only show, and that before what could not be measured."""

CONSEQUENCES = frozenset({"integrity.not_run", "stage.not_run"})
"""Rules that only repeat what another result on the same component already says."""

_FOUND_SLOW = ("slow_node.", "slow_rail.", "known_good.", "peers.", "history.")
"""Whatever slows a job shows in these, too, as it does in its percentage of peak."""

WARN = "warn."
"""`warn.<code>`: the rule of a line of NCCL that shows the cause of that code."""
UNKNOWN_LINE = "nccl_error"
"""The cause of a line that has none in the catalogue: whatever else is known of a node stands before it."""
_INFO = " NCCL INFO "


def _rows() -> dict[str, Cause]:
    by_code: dict[str, Cause] = {}
    for cause in CAUSES:
        if cause.code in by_code:
            raise ValueError(f"cause defined twice: {cause.code}")
        by_code[cause.code] = cause
    return by_code


def _rules() -> dict[str, Cause]:
    by_rule: dict[str, Cause] = {}
    for cause in CAUSES:
        for rule in (*cause.rules, WARN + cause.code):
            if rule in by_rule:
                raise ValueError(f"rule {rule} leads to {by_rule[rule].code} and to {cause.code}")
            by_rule[rule] = cause
    return by_rule


BY_CODE = _rows()
BY_RULE = _rules()
"""By whole rule, else by the first word of the rule."""

STOPPED = BY_CODE["stopped"]
UNEXPLAINED = BY_CODE["unexplained"]
NOT_MEASURED = BY_CODE["not_measured"]
FOLLOWS = BY_CODE["follows_from"]

_PLACE = {cause.code: place for place, cause in enumerate(CAUSES)}


def cause_of(rule: str) -> Cause:
    """The row of a rule."""
    return BY_RULE.get(rule) or BY_RULE.get(rule.partition(".")[0]) or UNEXPLAINED


def urgency(cause: Cause) -> int:
    """Position in the catalogue; the smaller, the more urgent within one verdict."""
    return _PLACE[cause.code]


def explains(cause: Cause, rule: str) -> bool:
    """Whether a result with that rule, on the same host or in the same job, is only evidence of this cause.

    What slows a job by itself explains whichever rule found it, its node or its rail slow. A line that nobody knows is
    evidence of whatever was measured.
    """
    if rule == WARN + UNKNOWN_LINE:
        return cause.code != UNKNOWN_LINE
    if rule.startswith(_FOUND_SLOW) and "peak" in cause.explains:
        return True
    return rule in cause.explains or rule.partition(".")[0] in cause.explains


@cache
def signatures() -> tuple[tuple[re.Pattern[str], Cause], ...]:
    """The patterns of the lines that show a cause, the most urgent first; to be used with `search`."""
    return tuple((re.compile(cause.signature), cause) for cause in CAUSES if cause.signature)


def cause_of_line(text: str) -> Cause | None:
    """The most urgent cause whose signature a line of NCCL or of a launcher bears; None for any other line."""
    said_as_info = _INFO in text
    return next(
        (cause for pattern, cause in signatures() if (cause.info or not said_as_info) and pattern.search(text)), None
    )
