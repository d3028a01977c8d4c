"""What a joint diagnosis is asked with, and the command lines of a rule filled in with it."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping

from msgspec import Struct, field

from healthcheck.diagnosis.joint.rule import REPAIRS, Argv
from healthcheck.diagnosis.joint.thresholds import defaults
from healthcheck.diagnosis.joint.training_signs import TrainingDocuments
from healthcheck.model.finding import Finding
from healthcheck.model.record import RunRecord

_MOST_REPAIRS = 4
_INTO = ">"
_UNNAMED: Mapping[str, str] = {"{hosts}": "cluster.hosts", "{log}": "train.log", "{trace}": "profile.json"}
"""What stands for files that were not given; anything else is its name in capitals."""


class Given(Struct, frozen=True):
    """The documents by name, the record by the words it was named with, the nodes of the training."""

    training: TrainingDocuments
    vitals: tuple[str, ...] = ()
    record: RunRecord | None = None
    record_named: str = ""
    hosts: tuple[str, ...] | None = None
    hosts_named: str = ""
    thresholds: Mapping[str, float] = field(default_factory=defaults)


def lines(argvs: Iterable[Argv], given: Given) -> tuple[str, ...]:
    """The command lines as a person types them, each once."""
    known = _known(given)
    found: list[str] = []
    for argv in argvs:
        if argv == REPAIRS:
            found += _repairs(given.record)
        else:
            found.append(_line(argv, known))
    return tuple(dict.fromkeys(found))


def _line(argv: Argv, known: Mapping[str, tuple[str, ...]]) -> str:
    words: list[str] = []
    for word in argv:
        blank = word.startswith("{")
        words += (known.get(word) or (_UNNAMED.get(word, word.strip("{}").upper()),)) if blank else (word,)
    if _INTO not in words:
        return shlex.join(words)
    at = words.index(_INTO)
    return f"{shlex.join(words[:at])} {_INTO} {shlex.join(words[at + 1 :])}"


def _known(given: Given) -> dict[str, tuple[str, ...]]:
    training, record = given.training, given.record
    log = training.log
    hosts = given.hosts_named or (record.provenance.hostfile if record is not None else "")
    rate = log.rate.tokens_per_s if log is not None and log.rate is not None else None
    shape = training.mfu.shape if training.mfu is not None else None
    facts = log.facts if log is not None else None
    return {
        "{record}": (given.record_named,) if given.record_named else (),
        "{hosts}": (hosts,) if hosts else (),
        "{log}": log.files if log is not None else (),
        "{trace}": training.trace.files if training.trace is not None else (),
        "{params}": _number(shape.params if shape else facts.params if facts else None),
        "{seq_len}": _number(shape.seq_len if shape else facts.seq_len if facts else None),
        "{gpu}": training.printed_gpus[:1],
        "{gpus}": _number(training.gpus),
        "{tokens_per_s}": _number(rate),
        "{step_time}": (f"{log.step_time.median_s:.4g}s",) if log is not None and log.step_time is not None else (),
    }


def _number(value: float | None) -> tuple[str, ...]:
    return () if value is None else (f"{value:.0f}",)


def _repairs(record: RunRecord | None) -> list[str]:
    """The looks of the record's worst finding, and the line that explains its cause."""
    finding = worst_finding(record)
    if finding is None:
        return []
    known = finding.cause.code.startswith("cause.")
    explained = [shlex.join(("healthcheck", "explain", finding.cause.code))] if known else []
    return [*finding.commands[:_MOST_REPAIRS], *explained]


def worst_finding(record: RunRecord | None) -> Finding | None:
    """The first of the worst findings of a record; None without one."""
    found = record.findings if record is not None else ()
    return max(found, key=lambda finding: finding.verdict, default=None)
