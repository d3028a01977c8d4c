"""What did the kernel log about GPUs, links and memory?

The node filters its own log, so that a few lines travel and not megabytes. Before the benchmarks only what takes a GPU
out of service counts, for a day, and as DEGRADED: it is history, and the other looks say what is left of it. After
them, what was logged since they began counts in full.
"""

from __future__ import annotations

import re

from healthcheck.model.component import node
from healthcheck.model.finding import CheckResult
from healthcheck.model.message import say
from healthcheck.model.node import NodeFacts
from healthcheck.model.reading import Reading, ReadingState
from healthcheck.model.system_facts import EventKind, KernelEvent, KernelLog, NodeClock
from healthcheck.model.verdict import Verdict
from healthcheck.parsing.kernel_log import LIMITED, LINE_LIMIT, WANTED, read_events, stamp_of
from healthcheck.probes.batch import Part, PartOutput, one_line
from healthcheck.probes.clock import offset_s
from healthcheck.probes.kernel_signs import logged_before, logged_meanwhile, results
from healthcheck.probes.probe import Needs
from healthcheck.probes.trouble import garbled, usable
from healthcheck.probes.unseen import unseen

NAME = "kernel_log"
CHECK = "kernel.log"
HISTORY_S = 24 * 3600.0
_EARLY_S = 1.0
# The stamps of the kernel come from a counter that no time server corrects: within a long uptime they drift.
_DRIFT = 1e-4

# A log without any line is one we were not shown: every kernel says something while it boots.
_TEXT = one_line(f"""
    read -r up rest </proc/uptime; echo "now $(date +%s.%N) $up";
    if [ -n "$(dmesg 2>/dev/null | head -n 1)" ]; then log="dmesg";
    elif journalctl -k -b -n 1 -o short-monotonic --no-pager 2>/dev/null | grep -q "^\\[ *[0-9]";
        then log="journalctl -k -b -n 20000 -o short-monotonic --no-pager";
    elif command -v dmesg >/dev/null || command -v journalctl >/dev/null;
        then dmesg 2>&1 | tail -n 2 >&2; echo "kernel log: permission denied, or empty" >&2; exit 126;
    else echo "dmesg: not found; journalctl: not found" >&2; exit 127; fi;
    echo "source $log"; echo "last $($log 2>/dev/null | tail -n 1 | cut -c 1-60)";
    $log 2>/dev/null | grep -F "{LIMITED}" | tail -n 64 | cut -c 1-{LINE_LIMIT};
    $log 2>/dev/null | grep -E "{WANTED}" | tail -n 300 | cut -c 1-{LINE_LIMIT};
    exit 0
""")
_NOW = re.compile(r"now (\d{1,12}(?:\.\d{1,9})?)(?:\.|\.?%N)? (\d{1,10}(?:\.\d{1,4})?)", re.ASCII)


def part() -> Part:
    """`now <epoch> <uptime>`, `source <command>`, `last <newest line of all>`, then the lines of interest."""
    return Part(NAME, 10, _TEXT)


def read(output: PartOutput | None) -> Reading[KernelLog]:
    """Observed only with times: what cannot be placed in time cannot be held against a run."""
    answer = usable(NAME, output)
    if isinstance(answer, Reading):
        return answer
    lines = answer.stdout.splitlines()
    now = _NOW.fullmatch(lines[0].strip()) if lines else None
    if now is None or answer.rc != 0 or len(lines) < 3 or not lines[1].startswith("source "):
        return garbled(NAME, answer)
    last = stamp_of(lines[2].removeprefix("last "))
    if last is None or not lines[2].startswith("last "):
        return garbled(NAME, answer)
    when, uptime = float(now[1]), float(now[2])
    events = read_events(lines[3:], when - uptime)
    return Reading(
        ReadingState.OBSERVED, KernelLog(lines[1].removeprefix("source ").split(" -n ")[0], when, uptime, last, events)
    )


def judge(facts: NodeFacts, needs: Needs) -> tuple[CheckResult, ...]:
    """What was logged in the last day by the node's own clock, which needs no comparison with ours."""
    log = facts.kernel_log.value
    if log is None:
        return (unseen(CHECK, facts.host, facts.kernel_log, say("probe.kernel.hides"), needed=False),)
    recent = [
        event
        for event in log.events
        if event.kind is EventKind.PCIE_LIMITED or (event.at is not None and event.at >= log.now - HISTORY_S)
    ]
    found = results(CHECK, log.source, logged_before(recent, facts, needs))
    return found or (_quiet(facts.host),)


def judge_after(before: NodeFacts, after: NodeFacts, needs: Needs) -> tuple[CheckResult, ...]:
    """What was logged since the first benchmark began and was not there at the look before."""
    log = after.kernel_log.value
    if log is None:
        if before.kernel_log.value is None:
            return ()  # said once already
        return (unseen(CHECK, after.host, after.kernel_log, say("probe.kernel.hides"), needed=False),)
    offset = offset_s(after)
    if needs.began_at is None:
        return ()
    if offset is None:  # before and during cannot be told apart
        clock = after.clock if after.clock.value is None else Reading[NodeClock](ReadingState.UNPARSABLE)
        return (unseen(CHECK, after.host, clock, say("probe.kernel.after_hides"), needed=False),)
    known = before.kernel_log.value
    same_boot = known is not None and known.uptime_s <= log.uptime_s
    seen = known if same_boot else None
    # What the look before showed is known to be old, so the clocks need not be trusted to the second.
    early = _EARLY_S + (_DRIFT * log.uptime_s if seen is not None else 0.0)
    since = needs.began_at + offset - early
    meanwhile = [event for event in log.events if event.at is not None and event.at >= since and _is_new(event, seen)]
    found = results(CHECK, log.source, logged_meanwhile(meanwhile, before, needs))
    return found or (_quiet(after.host),)


def _is_new(event: KernelEvent, seen: KernelLog | None) -> bool:
    if seen is None or event.stamp_s is None:
        return True
    newer = seen.last_s is None or event.stamp_s >= seen.last_s
    return newer and all(event.text != old.text for old in seen.events)


def _quiet(host: str) -> CheckResult:
    return CheckResult(CHECK, node(host), Verdict.PASS, say("probe.kernel.quiet"), "kernel.quiet", stage="probe")
