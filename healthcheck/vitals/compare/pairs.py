"""Two documents to one comparison."""

from __future__ import annotations

from collections.abc import Iterable

from healthcheck.model.message import Message, distinct, say
from healthcheck.model.vitals_compare import Metric, Side, VitalsComparison
from healthcheck.model.vitals_document import VitalsDocument, kind_of
from healthcheck.model.vitals_log import LogVitals
from healthcheck.model.vitals_mfu import MfuAnswer
from healthcheck.model.vitals_trace import TraceVitals
from healthcheck.vitals.compare import answers, logs, traces
from healthcheck.vitals.compare.judging import answer, exit_code
from healthcheck.vitals.compare.noise import FLOOR


def compare(
    before: VitalsDocument, after: VitalsDocument, files: tuple[str, str], floor: float = FLOOR
) -> VitalsComparison:
    """AFTER beside BEFORE; ValueError where they are of two kinds. `floor`: what counts at the least, a fraction."""
    if isinstance(before, LogVitals) and isinstance(after, LogVitals):
        pair = logs.LogPair(before, after)
        differs, found = tuple(logs.differences(pair)), tuple(logs.metrics(pair, floor))
    elif isinstance(before, TraceVitals) and isinstance(after, TraceVitals):
        differs = tuple(traces.differences(before, after))
        found = tuple(traces.metrics(before, after, floor))
    elif isinstance(before, MfuAnswer) and isinstance(after, MfuAnswer):
        differs = tuple(answers.differences(before, after))
        found = tuple(answers.metrics(before, after, floor))
    else:
        raise ValueError("the documents are of two kinds")
    metrics = tuple(one for one in found if isinstance(one, Metric))
    told = answer(metrics)
    return VitalsComparison(
        line="",
        answer=told,
        exit_code=exit_code(told),
        kind=kind_of(before),
        before=Side(files[0], _what(before)),
        after=Side(files[1], _what(after)),
        metrics=metrics,
        differs=differs,
        not_compared=distinct(one for one in found if isinstance(one, Message)),
        notes=tuple(_notes(before, after)),
        floor=floor,
    )


def _what(document: VitalsDocument) -> Message:
    if isinstance(document, LogVitals):
        names = {"framework": document.framework.value, "first": document.first_step, "last": document.last_step}
        return say("vcompare.side.log", **names)
    if isinstance(document, TraceVitals):
        return say("vcompare.side.trace", source=document.source, n=len(document.ranks))
    formula = document.formula.value if document.formula is not None else ""
    return say("vcompare.side.mfu", formula=formula) if formula else say("vcompare.side.mfu_given")


def _notes(before: VitalsDocument, after: VitalsDocument) -> Iterable[Message]:
    if before == after:
        yield say("vcompare.note.same")
    if isinstance(before, LogVitals) and isinstance(after, LogVitals) and before.goodput and after.goodput:
        begun, other = before.goodput.begins_s, after.goodput.begins_s
        if begun is not None and other is not None and begun > other:
            yield say("vcompare.note.turned")
