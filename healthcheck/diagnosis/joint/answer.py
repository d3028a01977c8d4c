"""From signs to the joint diagnosis: the answer to each question, strongest first, and the exit code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

from healthcheck.diagnosis.joint.given import Given, lines, worst_finding
from healthcheck.diagnosis.joint.link_signs import Links, link_signs
from healthcheck.diagnosis.joint.rule import CHECK, Rule
from healthcheck.diagnosis.joint.table import answers
from healthcheck.diagnosis.joint.thresholds import defaults
from healthcheck.diagnosis.joint.together import documents_sign, profile_notes
from healthcheck.diagnosis.joint.training_signs import training_notes, training_signs
from healthcheck.model.joint import Joint, Kind, Level, Match, Question, Seen, Sign
from healthcheck.model.message import Message, distinct, say
from healthcheck.model.verdict import Verdict

EXIT_WELL, EXIT_FAIL, EXIT_UNKNOWN, EXIT_RULE = 0, 1, 3, 4
_STRENGTH = {Kind.FINDING: 0, Kind.GAP: 1, Kind.NOTE: 2, Kind.FINE: 3}
_DOCUMENTS = (
    frozenset({Sign.MFU}),
    frozenset({Sign.GOODPUT, Sign.STEP_SPREAD}),
    frozenset({Sign.EXPOSED, Sign.COLLECTIVE, Sign.IDLE, Sign.DATA_LOADING, Sign.RANK_SPREAD, Sign.EFFECTIVE}),
)
_RECORD = frozenset({Question.RECORD_KIND, Question.RECORD_GPU, Question.RECORD_AGE, Question.RECORD_COVER})


def diagnose(given: Given) -> Joint:
    """The whole answer. Pure."""
    links = Links(given.record, given.hosts, given.training)
    seen = (
        *training_signs(given.training, given.thresholds),
        documents_sign(given.training),
        *link_signs(links, given.thresholds),
    )
    by_sign = {one.sign: one for one in seen}
    rules = answers({sign: one.level for sign, one in by_sign.items()})
    told = [rule for rule in rules if given.record is not None or not _of_a_record(rule)]
    matches = sorted((_match(rule, by_sign, given) for rule in told), key=lambda match: _STRENGTH[match.kind])
    verdict = links.verdict
    usual = defaults()
    return Joint(
        seen=seen,
        matches=tuple(matches),
        missing=distinct(message for match in matches for message in match.missing),
        link_verdict=None if verdict is None else verdict.name,
        run_id=None if given.record is None else given.record.run_id,
        simulated=given.record is not None and given.record.simulated,
        vitals=given.vitals,
        notes=(*_notes(given, links), *training_notes(given.training), *profile_notes(given.training)),
        exit_code=_exit_code(verdict, matches),
        thresholds=dict(given.thresholds),
        changed=tuple(name for name, value in given.thresholds.items() if value != usual[name]),
    )


def _of_a_record(rule: Rule) -> bool:
    """How far a record speaks is no question where there is none."""
    return rule.question in _RECORD


def _exit_code(verdict: Verdict | None, matches: Sequence[Match]) -> int:
    """1 for a FAIL of the links, 4 for a rule to act on, 3 where too little is known to call it well."""
    if verdict is Verdict.FAIL:
        return EXIT_FAIL
    kinds = {match.kind for match in matches}
    if Kind.FINDING in kinds:
        return EXIT_RULE
    return EXIT_UNKNOWN if Kind.GAP in kinds else EXIT_WELL


def _match(rule: Rule, seen: Mapping[Sign, Seen], given: Given) -> Match:
    because = tuple(seen[sign] for sign in (*rule.signs, *rule.shows) if seen[sign].level is not Level.UNKNOWN)
    if seen[Sign.DOCUMENTS].level is Level.LOW and _of_several({one.sign for one in because}):
        because = (*because, seen[Sign.DOCUMENTS])
    missing = [Message(f"joint.missing.{sign.value}") for sign in rule.wants if seen[sign].level is Level.UNKNOWN]
    return Match(
        rule=rule.code,
        title=Message(f"joint.title.{rule.code}"),
        because=because,
        meaning=None if rule.kind in (Kind.FINE, Kind.NOTE) else Message(f"joint.meaning.{rule.code}"),
        next_steps=tuple(Message(f"joint.next.{step}") for step in rule.steps),
        commands=lines(rule.commands, given),
        missing=tuple(missing),
        rule_of_thumb=rule.source != CHECK,
        source=Message(f"joint.source.{rule.source}"),
        question=rule.question,
        kind=rule.kind,
    )


def _of_several(signs: Set[Sign]) -> bool:
    """Whether these stand in more than one document of the training: then it matters that documents contradict."""
    return sum(bool(signs & document) for document in _DOCUMENTS) > 1


def _notes(given: Given, links: Links) -> tuple[Message, ...]:
    record, notes = given.record, []
    if record is not None and record.simulated:
        notes.append(say("joint.note.simulated"))
    finding = worst_finding(record) if links.speaks else None
    if finding is not None and finding.verdict >= Verdict.DEGRADED:
        notes.append(
            say(
                "joint.note.finding",
                component=finding.component.text,
                verdict=finding.verdict.name,
                cause=finding.cause,
                n=len(record.findings) if record is not None else 1,
            )
        )
    if record is not None and given.hosts is None and not record.simulated:
        notes.append(say("joint.note.name_the_nodes"))
    return tuple(notes)
