"""What mpirun or mpiexec says when a launch goes wrong -> one kind, the host to blame, one sentence.

Open MPI 4 and 5 and hydra bury the one useful line in boxes of boilerplate. ORTE's second box ("does not know how to
route a message") names a host that is not to blame; Open MPI 5 ends its boxes with NUL bytes and prints some on stdout.
"""

from __future__ import annotations

import re

from msgspec import Struct

from healthcheck.model.message import Message, say
from healthcheck.parsing.launcher_rules import NO_PMI, RULES, Rule

_TEXT_LIMIT = 1 << 20  # a failed launch says little; what it says stands at the start or at the end
_LINE_CHARS = 500
_TAG = re.compile(r"^\[(?:[^\]\s]*\d\](?:\[[^\]\s]*\])?<std(?:out|err)>: ?|\d+\] )", re.MULTILINE)
_NOISE = re.compile(
    r"setpgid\(|more process(?:es)? ha(?:s|ve) sent help message|orte_base_help_aggregate|^-+$|NCCL INFO|"
    r"Abort is in progress|^Warning: Permanently added|^Authorized uses only",
)
# Open MPI 5 names the host whose daemon did not report, next to ssh's reason, which often has no name in it.
_BOX_HOST = re.compile(r"A daemon failed to report back.*?Remote host:\s+(\S+)", re.DOTALL)
_NAMED_BY_BOX = frozenset({"host_key_unknown", "login_refused", "daemon_missing", "daemon_lost", "host_key_changed"})
_BY_EXIT_CODE = {124: "timeout", 137: "killed", 143: "killed", 130: "killed", -9: "killed", -15: "killed"}
# Nearly every launch ends with 0, and to look for every other rule in it would cost more than to read its table.
_RULES_AT_EXIT_0 = tuple(rule for rule in RULES if rule.kind in ("daemon_lost", NO_PMI))


class LaunchFailure(Struct, frozen=True):
    """`kind` is stable (`launch.<kind>` is the message code), `host` the culprit where the text names it.

    `line` is the first useful line as printed, empty when only the exit code speaks.
    """

    kind: str
    host: str | None
    message: Message
    line: str


def classify(stdout: str, stderr: str, exit_code: int | None) -> LaunchFailure | None:
    """Why a launch failed; None where nothing did.

    `exit_code` is mpirun's own, None when it was stopped from outside. With 0 only two things count: the loss of a
    daemon, after which Open MPI 5 has been seen to exit 0, and ranks that found no PMI and ran each by itself.
    """
    text = _clean(stderr) + "\n" + _clean(stdout)
    for rule in _RULES_AT_EXIT_0 if exit_code == 0 else RULES:
        if match := rule.pattern.search(text):
            return _failure(rule, match, text, exit_code)
    if not exit_code:
        return None
    kind = _BY_EXIT_CODE.get(exit_code, "unknown")
    line = _first_useful(_clean(stderr))
    message = say(f"launch.{kind}", exit_code=exit_code, line=line or say("launch.no_text"))
    return LaunchFailure(kind, None, message, line)


def _failure(rule: Rule, match: re.Match[str], text: str, exit_code: int | None) -> LaunchFailure:
    groups = {key: value for key, value in match.groupdict().items() if value is not None}
    host = groups.pop("host", None) or _host_elsewhere(rule, text)
    if host is not None:
        host = host.rpartition("@")[2].rstrip(":,")
    line = _line_at(text, match.start())
    args: dict[str, str | int] = {"exit_code": -1 if exit_code is None else exit_code, "line": line}
    args |= dict.fromkeys(rule.args, "?") | groups
    message = say(f"launch.{rule.kind}", host=host or say("launch.some_host"), **args)
    return LaunchFailure(rule.kind, host, message, line)


def _host_elsewhere(rule: Rule, text: str) -> str | None:
    for pattern in rule.host_patterns:
        if match := pattern.search(text):
            return match[1]
    if rule.kind in _NAMED_BY_BOX and (match := _BOX_HOST.search(text)):
        return match[1]
    return None


def _clean(text: str) -> str:
    if len(text) > 2 * _TEXT_LIMIT:
        text = text[:_TEXT_LIMIT] + "\n" + text[-_TEXT_LIMIT:]
    text = text.replace("\0", "").replace("\r", "")
    return _TAG.sub("", "\n".join(line[:_LINE_CHARS] for line in text.split("\n")))


def _line_at(text: str, position: int) -> str:
    """The line in which a match begins (the first one of it that is not blank)."""
    while position < len(text) and text[position].isspace():
        position += 1
    start = text.rfind("\n", 0, position) + 1
    end = text.find("\n", position)
    return text[start : end if end >= 0 else len(text)].strip()


def _first_useful(text: str) -> str:
    for line in text.splitlines():
        if line.strip() and not _NOISE.search(line):
            return line.strip()
    return ""
