"""Do the processors run at full speed when they are asked to, and how is their memory laid out?"""

from __future__ import annotations

import re

from healthcheck.model.component import node
from healthcheck.model.finding import CheckResult
from healthcheck.model.message import say
from healthcheck.model.node import NodeFacts
from healthcheck.model.reading import Reading, ReadingState
from healthcheck.model.system_facts import Cpu
from healthcheck.model.verdict import Verdict
from healthcheck.probes.batch import Part, PartOutput, one_line
from healthcheck.probes.trouble import garbled, quote, usable
from healthcheck.probes.unseen import unseen

NAME = "cpu"
CHECK = "cpu.governor"
SLOW = frozenset({"powersave", "ondemand", "conservative"})
# These choose the speed in hardware; their `powersave` is the ordinary setting and slows nothing down, on all CPUs or
# on some.
SELF_GOVERNED = frozenset({"intel_pstate", "amd-pstate", "amd-pstate-epp", "amd_pstate", "amd_pstate_epp"})
_SOURCE = "/sys/devices/system/cpu/cpu*/cpufreq"

_TEXT = one_line("""
    base=/sys/devices/system; if [ -r "$base/cpu/online" ]; then echo "online $(cat $base/cpu/online)"; fi;
    cat $base/cpu/cpu[0-9]*/cpufreq/scaling_governor 2>/dev/null | sort | uniq -c | sort -rn | head -n 20 |
        sed "s/^ */governor /";
    cat $base/cpu/cpu[0-9]*/cpufreq/scaling_driver 2>/dev/null | head -n 1 | sed "s/^/driver /";
    echo "numa $(ls -d $base/node/node[0-9]* 2>/dev/null | grep -c node)";
    line=$(cat /proc/sys/kernel/numa_balancing 2>/dev/null); if [ -n "$line" ]; then echo "balancing $line"; fi;
    sed -n "s/^model name[^:]*: */model /p" /proc/cpuinfo 2>/dev/null | head -n 1;
    exit 0
""")
_GOVERNOR = re.compile(r"governor (?P<count>\d{1,6}) (?P<name>[a-z_]{1,32})", re.ASCII)
_ONLINE = re.compile(r"online [0-9][0-9,-]{0,200}")


def part() -> Part:
    """Lines `online`, `governor <CPUs> <name>`, `driver`, `numa <nodes>`, `balancing`, `model`, where the node has
    them; `numa` it always prints."""
    return Part(NAME, 5, _TEXT)


def read(output: PartOutput | None) -> Reading[Cpu]:
    """Observed without governors too: a virtual machine has none."""
    answer = usable(NAME, output)
    if isinstance(answer, Reading):
        return answer
    lines = answer.stdout.splitlines()
    words = dict(line.partition(" ")[::2] for line in lines if not line.startswith("governor "))
    numa = words.get("numa", "")
    if answer.rc != 0 or not re.fullmatch(r"[0-9]{1,5}", numa) or not any(map(_ONLINE.fullmatch, lines)):
        return garbled(NAME, answer)
    governors = tuple((match["name"], int(match["count"])) for line in lines if (match := _GOVERNOR.fullmatch(line)))
    cpu = Cpu(
        governors=governors,
        driver=words.get("driver") or None,
        numa_nodes=int(numa) or None,
        numa_balancing=words.get("balancing") or None,
        model=(words.get("model") or "").strip() or None,
    )
    shown = quote(_SOURCE, (line for line in lines if line.startswith(("governor ", "driver "))))
    return Reading(ReadingState.OBSERVED, cpu, shown)


def judge(facts: NodeFacts) -> CheckResult:
    """DEGRADED where some CPUs are held back, or not all are governed alike."""
    cpu = facts.cpu.value
    if cpu is None:
        return unseen(CHECK, facts.host, facts.cpu, say("probe.cpu.hides"), needed=False)
    if not cpu.governors:
        message = say("probe.cpu.no_governor")
        return CheckResult(CHECK, node(facts.host), Verdict.SKIPPED, message, "cpu.does_not_apply", stage="probe")
    names = ", ".join(f"{name} ({count})" for name, count in cpu.governors)
    if cpu.driver in SELF_GOVERNED:
        verdict, rule, message = Verdict.PASS, "cpu.governor_fast", say("probe.cpu.governor_fast")
    elif len(cpu.governors) > 1:
        verdict, rule, message = (
            Verdict.DEGRADED,
            "cpu.governors_differ",
            say("probe.cpu.governors_differ", names=names),
        )
    elif cpu.governors[0][0] in SLOW:
        name, driver = cpu.governors[0][0], cpu.driver or "?"
        verdict, rule = Verdict.DEGRADED, "cpu.governor_slow"
        message = say("probe.cpu.governor_slow", name=name, driver=driver)
    else:
        verdict, rule, message = Verdict.PASS, "cpu.governor_fast", say("probe.cpu.governor_fast")
    evidence = facts.cpu.evidence if verdict is not Verdict.PASS else ()
    return CheckResult(CHECK, node(facts.host), verdict, message, rule, stage="probe", evidence=evidence)
