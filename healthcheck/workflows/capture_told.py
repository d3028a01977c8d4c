"""Why a capture brought nothing, or not everything: each thing that can go wrong, by what was seen of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from healthcheck.launchers.nsys import PLACE
from healthcheck.model.command import NEVER_STARTED, ExitKind
from healthcheck.model.message import Message, say
from healthcheck.model.vitals_capture import CaptureAsked, CaptureFile
from healthcheck.parsing.nsys_output import NsysEvent, NsysTrouble
from healthcheck.workflows.capture_watch import StartedTraining
from healthcheck.workflows.look import why_silent

_TROUBLES: Final = {
    NsysTrouble.PERMISSION: "capture.permission",
    NsysTrouble.SUBSCRIBED: "capture.subscribed",
    NsysTrouble.CUPTI: "capture.cupti",
    NsysTrouble.OPTION: "capture.option",
    NsysTrouble.NO_ROOM: "capture.no_room",
    NsysTrouble.UNWRITABLE: "capture.unwritable",
    NsysTrouble.NO_RANK: "capture.no_rank",
}
_LONGEST: Final = 200


def reasons(
    asked: CaptureAsked,
    trainings: Sequence[StartedTraining],
    files: Sequence[CaptureFile],
    troubles: Sequence[Message],
    *,
    stopped: bool,
) -> tuple[Message, ...]:
    """What kept files from being there, the most telling first; of a capture that has them, only what went wrong."""
    main = next(training for training in trainings if training.profiled)
    hung = (say("capture.hung", host=main.host.name, seconds=asked.grace_s),) if main.hung else ()
    missing = _missing_ranks(asked, files)
    if files:
        return (*troubles, *hung, *missing)
    if stopped:
        return (say("capture.stopped"), *troubles)
    named = heard(trainings)
    # Somebody else's end comes first: the profiled host only followed.
    others = tuple(_failed(training) for training in trainings if not training.profiled and _failed_itself(training))
    return (*named, *others[:1], *hung, *troubles) if named or others or hung or troubles else (_range(asked, main),)


def heard(trainings: Sequence[StartedTraining]) -> tuple[Message, ...]:
    """What the profiler complained of."""
    main = next(training for training in trainings if training.profiled)
    return tuple(say(_TROUBLES[trouble], text=text) for trouble, text in main.said.troubles.items())


def _range(asked: CaptureAsked, main: StartedTraining) -> Message:
    """Without anything else to blame, it is about the range."""
    result, host = main.result, main.host.name
    assert result is not None
    if result.kind in NEVER_STARTED or result.kind is ExitKind.CONNECTION_LOST:
        return say("capture.no_answer", host=host, why=why_silent(result))
    if main.said.at(NsysEvent.RANGE_BEGUN) is None:
        # What it says may have been lost in a buffer when it was ended.
        if result.kind is ExitKind.TIMED_OUT:
            return say("capture.range_not_reached", host=host, seconds=asked.timeout_s, why=_caller(asked))
        if not result.ok:
            return _failed(main)
        return say("capture.ended_before_range", host=host, seconds=result.duration_s, why=_caller(asked))
    if main.said.at(NsysEvent.RANGE_ENDED) is None:
        if result.kind is ExitKind.TIMED_OUT:
            return say("capture.range_not_left", host=host, seconds=asked.timeout_s)
        if not result.ok:
            return _failed(main)
    if result.kind is ExitKind.TIMED_OUT:
        return say("capture.no_report_in_time", host=host, seconds=asked.timeout_s)
    return say("capture.no_report", host=host)


def _caller(asked: CaptureAsked) -> Message:
    """Who has to call the profiler."""
    if asked.megatron:
        return say("capture.who.megatron", first=asked.first, end=asked.first + asked.steps)
    return say("capture.who.script")


def _failed_itself(training: StartedTraining) -> bool:
    return training.result is not None and not training.result.ok and not training.stopped


def _failed(training: StartedTraining) -> Message:
    result = training.result
    assert result is not None
    last = training.said.last_line[:_LONGEST].rstrip(".")
    if result.exit_code is None:
        return say("capture.no_answer", host=training.host.name, why=why_silent(result))
    code = "capture.failed" if last else "capture.failed_silently"
    return say(code, host=training.host.name, code=result.exit_code, last=last)


def _missing_ranks(asked: CaptureAsked, files: Sequence[CaptureFile]) -> tuple[Message, ...]:
    """Of the ranks that were to have reports of their own, those whose is not here."""
    if PLACE not in asked.words:
        return ()
    names = {file.export.rpartition("/")[2].partition(".")[0] for file in files}
    gone = [str(rank) for rank in asked.ranks if f"rank{rank}" not in names]
    return (say("capture.ranks_missing", ranks=", ".join(gone)),) if gone and files else ()
