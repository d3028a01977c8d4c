"""Who ended a run or a job before its end, as far as the signal tells."""

from __future__ import annotations

import signal

from healthcheck.model.message import Message, say

_SENT: dict[int, str] = {
    signal.SIGINT: "job.stopped",
    signal.SIGTERM: "job.ended_by_sigterm",
    signal.SIGHUP: "job.ended_by_sighup",
}


def stopped_by(signum: int | None) -> Message:
    """What to say of an end that came with a signal; None where none is known."""
    return say("job.ended_early" if signum is None else _SENT.get(signum, "job.ended_early"))
