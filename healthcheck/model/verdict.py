"""The five answers, and their order."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum


class Verdict(IntEnum):
    """How a check ended. The order is the meaning: the worst of many is the maximum.

    INCONCLUSIVE stands above DEGRADED on purpose: what was not measured must never look milder than what was
    measured and found a little slow.
    """

    SKIPPED = 0
    PASS = 1
    DEGRADED = 2
    INCONCLUSIVE = 3
    FAIL = 4

    @property
    def exit_code(self) -> int:
        """The process exit code of a command that ends with this verdict (README, exit codes)."""
        return {Verdict.PASS: 0, Verdict.FAIL: 1, Verdict.DEGRADED: 4}.get(self, 3)


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """The verdict of a whole from its parts; of no parts at all, INCONCLUSIVE: nothing was measured.

    A whole whose parts were all SKIPPED was not measured either, so it is INCONCLUSIVE too.
    """
    result = max(verdicts, default=Verdict.INCONCLUSIVE)
    return Verdict.INCONCLUSIVE if result is Verdict.SKIPPED else result
