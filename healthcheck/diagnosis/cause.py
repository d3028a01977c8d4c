"""A cause: what may be behind a result, as one row of data."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from healthcheck.model.finding import Confidence


class Severity(StrEnum):
    """What a cause does to a node, whatever the number of this run says."""

    FATAL = "fatal"  # must not run jobs
    WARNING = "warning"  # explains slowness, or will fail soon
    INFO = "info"  # nothing is broken: not measured, left alone, or follows from something else


class Drain(StrEnum):
    """When jobs have to be kept off the node before it is repaired."""

    NO = "no"
    FIRST = "first"  # whatever the looks say
    IF_NEEDED = "if_needed"  # where the looks say so, as the remedy tells


class Cause(Struct, frozen=True):
    """One row of the catalogue.

    `code` names the texts `cause.<code>` (title), `remedy.<code>`, `why.<code>` (the mechanism) and `against.<code>`
    (what would speak against it). The title and the remedy may hold placeholders, which are arguments that *every*
    check message leading here has; the other two hold none.

    `rules`: the rules of check results that lead here, whole (`hca.down`) or by their first word (`connect`); the rule
    `warn.<code>` leads here without being named. `signature`: a pattern (`re.search`) of the line of NCCL or of a
    launcher that shows it, "" if none does; an INFO line shows it only with `info`. `secondary`: it only ever follows
    from something else, which is to be looked for first.

    `explains`: the rules, whole or by first word, of other results that become evidence of this cause instead of
    findings of their own: those on the same host, and those of a joint job it took part in. Only what stands behind a
    row in the catalogue can be explained by it. `contradicted`: check ids or rules whose PASS on the same node speaks
    against it.

    `commands`: looks, which change nothing: argvs whose words may hold `{host}`, `{device}` (behind the colon of a
    component) and `{run_id}`; of `ssh {host} ...` the last word is what the shell over there gets, with `-t` where it
    uses sudo, which asks on a terminal. `drain`: whether jobs are to be kept off the node. `repairs`: like `commands`,
    but they change something, so they come after the drain; ` -i {gpu}` stays only where the component is a GPU.
    `told`: the message of the check brings the command itself, in its argument `command`. `reference`: where the
    mechanism or the remedy is described: an URL, or a page of this repository (`docs/...`).
    """

    code: str
    severity: Severity = Severity.FATAL
    rules: tuple[str, ...] = ()
    signature: str = ""
    info: bool = False
    confidence: Confidence = Confidence.CONFIRMED
    secondary: bool = False
    explains: tuple[str, ...] = ()
    contradicted: tuple[str, ...] = ()
    commands: tuple[tuple[str, ...], ...] = ()
    drain: Drain = Drain.NO
    repairs: tuple[tuple[str, ...], ...] = ()
    told: bool = False
    reference: str = ""
