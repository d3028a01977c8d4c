"""What time is it on the node?

Two stamps are taken, one at the beginning of the look and one at its end. Our own clock, read right before and right
after the command, encloses both: the node's clock is ahead by at most `first - before`, and at least `last - after`.
What is left between the two is the time the network took, not the time the probes took.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from statistics import median

from healthcheck.model.component import node
from healthcheck.model.finding import CheckResult
from healthcheck.model.message import Message, say
from healthcheck.model.node import NodeFacts
from healthcheck.model.reading import Evidence, Reading, ReadingState
from healthcheck.model.system_facts import NodeClock
from healthcheck.model.verdict import Verdict
from healthcheck.probes.batch import Part, PartOutput, one_line
from healthcheck.probes.trouble import garbled, usable
from healthcheck.probes.unseen import unseen

NAME = "clock"
END_NAME = "clock_end"
NOT_COMPARED = "unseen.not_compared"
CHECK = "node.clock"
_OUTVOTING = 3
ALLOWED_S = 1.0
"""Further off, lines of two nodes can no longer be put in order."""

# Neither tool is asked to change anything. Where both are there, systemd's answer counts first: it asks the kernel.
_TEXT = one_line("""
    echo "now $(date +%s.%N)";
    if state=$(timedatectl show -p NTPSynchronized --value 2>/dev/null) && [ -n "$state" ];
        then echo "synchronised $state";
    elif state=$(chronyc -n tracking 2>/dev/null | sed -n "s/^Leap status *: *//p") && [ -n "$state" ];
        then echo "leap $state";
    fi
""")
_NOW = re.compile(r"now (?P<whole>\d{1,12})(?P<fraction>\.\d{1,9})?(?:\.|\.?%N)?", re.ASCII)
_SYNCHRONISED = {"synchronised yes": True, "synchronised no": False, "leap Not synchronised": False}


def part() -> Part:
    """A line `now` (seconds since 1970), and `synchronised yes|no` or `leap` and chrony's word where known."""
    return Part(NAME, 5, _TEXT)


def end_part() -> Part:
    """The line `now` once more, as the last question of a look."""
    return Part(END_NAME, 5, 'echo "now $(date +%s.%N)"')


def read(output: PartOutput | None, end: PartOutput | None = None) -> Reading[NodeClock]:
    """Observed with one stamp too: then the end of the look is taken to be its beginning."""
    answer = usable(NAME, output)
    if isinstance(answer, Reading):
        return answer
    lines = answer.stdout.splitlines()
    stamp = _stamp(answer.stdout)
    if answer.rc != 0 or stamp is None:
        return garbled(NAME, answer)
    first, step = stamp
    closing = _stamp(end.stdout) if end is not None and end.rc == 0 else None
    synchronised = next((state for text, state in _SYNCHRONISED.items() if text in lines), None)
    if synchronised is None and any(line.startswith("leap ") for line in lines):
        synchronised = True
    # A last stamp before the first one is a clock that was set back under our eyes: only the first is of use.
    last = closing[0] if closing is not None and closing[0] >= first else first
    return Reading(ReadingState.OBSERVED, NodeClock(first, last, step, synchronised), (Evidence("date", lines[0]),))


def _stamp(text: str) -> tuple[float, float] | None:
    """(seconds since 1970, seconds between two stamps) of the line `now`."""
    match = next((found for line in text.split("\n", 5)[:5] if (found := _NOW.fullmatch(line.strip()))), None)
    if match is None:
        return None
    return float(match["whole"] + (match["fraction"] or "")), 0.0 if match["fraction"] else 1.0


def offset_s(facts: NodeFacts) -> float | None:
    """By how much the node's clock is ahead of ours, in seconds; None where it cannot be told."""
    bounds = _bounds(facts)
    return None if bounds is None else (bounds[0] + bounds[1]) / 2


def _bounds(facts: NodeFacts) -> tuple[float, float] | None:
    """What the clock is ahead at least and at most."""
    clock, asked = facts.clock.value, facts.asked_at
    if clock is None or asked is None:
        return None
    before, after = asked
    return clock.last - after, clock.first + clock.step_s - before


def fleet_offset_s(fleet: Iterable[NodeFacts]) -> float:
    """By how much most clocks are ahead of ours; 0 for fewer than three nodes, which cannot outvote us."""
    offsets = [offset for facts in fleet if (offset := offset_s(facts)) is not None]
    return median(offsets) if len(offsets) >= _OUTVOTING else 0.0


def judge(facts: NodeFacts, fleet_ahead_s: float = 0.0) -> CheckResult:
    """Only a clock that is wrong beyond any delay of the network is held against the node.

    `fleet_ahead_s`: how far most clocks are ahead of ours; when all agree but us, it is our clock that is wrong.
    """
    if facts.clock.value is None:
        hides = say("probe.clock.hides")
        return unseen(CHECK, facts.host, facts.clock, hides, needed=False)
    bounds = _bounds(facts)
    if bounds is None:
        message = say("probe.clock.not_compared", hides=say("probe.clock.hides"))
        return _result(facts, Verdict.SKIPPED, NOT_COMPARED, message)
    low, high = min(bounds) - fleet_ahead_s, max(bounds) - fleet_ahead_s
    off = low if low > ALLOWED_S else high if high < -ALLOWED_S else None
    if off is not None:
        seconds = round(abs(off), 1)
        message = say("probe.clock.ahead", seconds=seconds) if off > 0 else say("probe.clock.behind", seconds=seconds)
        return _result(facts, Verdict.DEGRADED, "clock.off", message, round(off, 3))
    if facts.clock.value.synchronised is False:
        return _result(facts, Verdict.PASS, "clock.unsynchronised", say("probe.clock.unsynchronised"))
    return _result(facts, Verdict.PASS, "clock.right", say("probe.clock.right"))


def _result(
    facts: NodeFacts, verdict: Verdict, rule: str, message: Message, observed: float | None = None
) -> CheckResult:
    bad = verdict > Verdict.PASS
    return CheckResult(
        CHECK,
        node(facts.host),
        verdict,
        message,
        rule,
        stage="probe",
        observed=observed,
        expected=0.0 if bad else None,
        unit="s" if bad else "",
        evidence=facts.clock.evidence if bad else (),
    )
