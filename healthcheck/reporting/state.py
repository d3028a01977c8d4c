"""What is said above everything else of a run that did not come to its end."""

from __future__ import annotations

from healthcheck.model.message import Message, say
from healthcheck.model.record import RunRecord
from healthcheck.model.stopping import stopped_by

_BY_A_SIGNAL = 128
"""What the exit code of an interrupted run lies above its signal."""


def not_ended(record: RunRecord) -> Message | None:
    """The sentence, with who stopped the run where that is known; None of one that is complete."""
    if record.state != "interrupted":
        return None if record.state == "complete" else say("report.state.incomplete")
    return say("report.state.interrupted", how=stopped_by((record.exit_code or _BY_A_SIGNAL) - _BY_A_SIGNAL))
