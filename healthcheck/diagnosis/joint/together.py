"""Whether the documents are of one training: what stands in two of them is held side by side.

An MFU that was calculated for another pace, another model or another GPU is right by itself and is not that of the
log beside it: nothing that follows from both of them holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from healthcheck.diagnosis.joint.training_signs import TrainingDocuments, said
from healthcheck.model.joint import Level, Seen, Sign
from healthcheck.model.message import Message, listed, say
from healthcheck.model.vitals_trace import SLOWED

_MODEL = re.compile(r"(?<![A-Z0-9])(?:GB|GH|MI|[ABHLV])\d{2,4}[SX]?(?![A-Z0-9])")
"""What a GPU is called without its board and memory: H100, GB200, MI300X, L40S."""
_SAME = 0.10
"""How far two numbers of one thing may lie apart, of the larger one: a rule of thumb."""
_OTHER_STEPS = 1.5
"""A profiled step so many times longer or shorter than the logged one tells of other steps: a profiler costs a quarter
of a step, seldom more, and gives no time back. A rule of thumb."""
_WHOLE = 1000.0
"""From here on digits behind the point say nothing."""

Told = dict[str, float]
"""What a number is in each of the documents that have it, by the name of the document."""


def models_of(names: Iterable[str]) -> set[str]:
    """The models of these GPUs, without board and memory."""
    return {model for name in names for model in _MODEL.findall(name.upper())}


def documents_sign(training: TrainingDocuments) -> Seen:
    """Low where two of them contradict each other, high where they agree, unknown where they share no number."""
    compared = list(_compared(training))
    against = [message for message in compared if message is not None]
    if against:
        return said(Sign.DOCUMENTS, Level.LOW, say("joint.basis.documents_differ", what=listed(against)), "contradict")
    if compared:
        return said(Sign.DOCUMENTS, Level.HIGH, say("joint.basis.documents_agree", n=len(compared)), "agree")
    return said(Sign.DOCUMENTS, Level.UNKNOWN, say("joint.basis.documents_alone"))


def _compared(training: TrainingDocuments) -> Iterator[Message | None]:
    """For everything that stands in two documents: None where it is the same, else what differs."""
    for code, told, exact in _numbers(training):
        if len(told) > 1:
            apart = max(told.values()) - min(told.values())
            yield None if apart <= (0 if exact else _SAME * max(told.values())) else say(code, told=_words(told))
    yield from _profiled_step(training)
    yield from _gpus(training)


def _numbers(training: TrainingDocuments) -> Iterator[tuple[str, Told, bool]]:
    """(what is said where it differs, the number by document, whether it has to be the very same)."""
    log, answer, trace = training.log, training.mfu, training.trace
    gpus = (log.facts.gpus if log else None, answer.gpus if answer else None, trace.world_size if trace else None)
    yield "joint.documents.gpus", _known(log=gpus[0], mfu=gpus[1], trace=gpus[2]), True
    if log is None or answer is None:
        return
    facts, shape = log.facts, answer.shape
    rate = log.rate.tokens_per_s if log.rate else None
    step_s = log.step_time.median_s if log.step_time else None
    yield "joint.documents.rate", _known(log=rate, mfu=answer.tokens_per_s), False
    yield "joint.documents.step", _known(log=step_s, mfu=answer.step_time_s), False
    if shape.params and facts.params and shape.params >= facts.params:  # fewer may be the active ones of a mixture
        yield "joint.documents.params", _known(log=facts.params, mfu=shape.params), False
    yield "joint.documents.layers", _known(log=facts.layers, mfu=shape.layers), True
    yield "joint.documents.hidden", _known(log=facts.hidden, mfu=shape.hidden), True
    yield "joint.documents.seq_len", _known(log=facts.seq_len, mfu=shape.seq_len), True


def _profiled_step(training: TrainingDocuments) -> Iterator[Message | None]:
    """The step of the profile beside the logged one; what a profiler may cost is neither same nor contradiction."""
    steps = _steps(training)
    if steps is None:
        return
    apart = max(steps.values()) / min(steps.values())
    if apart >= _OTHER_STEPS:
        yield say("joint.documents.profiled", told=_words(steps))
    elif apart <= SLOWED:
        yield None


def _steps(training: TrainingDocuments) -> Told | None:
    """Seconds of a step by log and trace; None where one of them does not say."""
    log, trace = training.log, training.trace
    logged = log.step_time.median_s if log is not None and log.step_time is not None else None
    told = _known(log=logged, trace=None if trace is None else trace.marked_step_s)
    return told if len(told) == 2 else None


def profile_notes(training: TrainingDocuments) -> Iterator[Message]:
    """A profile whose steps are not as long as the logged ones, where that is no contradiction yet."""
    steps = _steps(training)
    if steps is None:
        return
    logged, profiled = steps["log"], steps["trace"]
    if max(logged, profiled) >= _OTHER_STEPS * min(logged, profiled):
        return
    percent = round(100 * abs(profiled / logged - 1), 1)
    if profiled > SLOWED * logged:
        yield say("joint.note.profile_slows", profiled=profiled, logged=logged, percent=percent)
    elif logged > SLOWED * profiled:
        yield say("joint.note.profile_faster", profiled=profiled, logged=logged, percent=percent)


def _known(**told: float | None) -> Told:
    return {name: number for name, number in told.items() if number}


def _gpus(training: TrainingDocuments) -> Iterator[Message | None]:
    """The models of GPU that two documents name."""
    log, answer, trace = training.log, training.mfu, training.trace
    named = {
        "log": [log.facts.gpu] if log else [],
        "mfu": [answer.gpu] if answer else [],
        "trace": [rank.gpu for rank in trace.ranks] if trace else [],
    }
    models = {name: models_of(gpu for gpu in gpus if gpu) for name, gpus in named.items()}
    known = {name: found for name, found in models.items() if found}
    if len(known) > 1:
        words = ", ".join(f"{name} {'/'.join(sorted(found))}" for name, found in known.items())
        yield None if set.intersection(*known.values()) else say("joint.documents.gpu", told=words)


def _words(told: Told) -> str:
    return ", ".join(
        f"{name} {number:,.0f}" if number >= _WHOLE else f"{name} {number:.4g}" for name, number in told.items()
    )
