"""Are the addresses of DMA translated on the way?

On bare metal the IOMMU is to be off or to let addresses pass; translation sends what a NIC reads from a GPU through
the processor. In a virtual machine it keeps machines apart and has to stay. The domain a GPU is in says it exactly;
kernels before 5.11 do not show it to users, so there the command line of the kernel decides, where it says anything.
"""

from __future__ import annotations

import re

from healthcheck.model.component import node
from healthcheck.model.fabric_facts import Iommu
from healthcheck.model.finding import CheckResult
from healthcheck.model.fleet import Settings
from healthcheck.model.message import Message, say
from healthcheck.model.node import NodeFacts
from healthcheck.model.reading import Reading, ReadingState, noted
from healthcheck.model.verdict import Verdict
from healthcheck.probes.batch import Part, PartOutput, one_line
from healthcheck.probes.trouble import garbled, usable
from healthcheck.probes.unseen import unseen

NAME = "iommu"
CHECK = "pcie.iommu"
GROUPS = "/sys/kernel/iommu_groups"

# The flag stands in the first block of cpuinfo; reading on would make the kernel ask every core for its clock.
_TEXT = one_line(f"""
    set -f;
    read -r cmdline 2>/dev/null </proc/cmdline;
    for word in $cmdline; do case "$word" in *iommu*) echo "word $word" ;; esac; done;
    set +f;
    machine=$(systemd-detect-virt --vm 2>/dev/null);
    flag=none;
    while read -r key colon rest; do
        case "$key" in
            Features) break ;;
            flags) case " $rest " in *" hypervisor "*) flag=unnamed ;; esac; break ;;
            power) break ;;
        esac;
    done 2>/dev/null </proc/cpuinfo;
    case "$machine" in ""|none) machine=$flag ;; esac;
    echo "machine $machine";
    for dir in /sys/class/iommu/*; do if [ -d "$dir" ]; then echo "unit ${{dir##*/}}"; fi; done;
    for dir in /sys/bus/pci/devices/*; do
        vendor=; class=; kind=;
        read -r vendor 2>/dev/null <"$dir/vendor";
        if [ "$vendor" = 0x10de ]; then read -r class 2>/dev/null <"$dir/class"; fi;
        case "$class" in 0x0300*|0x0302*)
            if read -r kind 2>/dev/null <"$dir/iommu_group/type"; then echo "domain $kind"; fi ;;
        esac;
    done;
    set -- {GROUPS}/*;
    if [ -d "$1" ]; then echo "groups $#"; elif [ -d /sys/kernel ]; then echo "groups 0";
    else echo "{GROUPS}: not found" >&2; exit 127; fi
""")
_LINE = re.compile(r"(word|machine|unit|domain|groups) (\S{1,200})")
_X86 = ("dmar", "ivhd")
"""Names of the IOMMU units of Intel and of AMD."""


def part() -> Part:
    """Lines `word` (of the kernel's command line), `machine`, `unit`, `domain` (a GPU's), and last `groups N`."""
    return Part(NAME, 5, _TEXT)


def read(output: PartOutput | None) -> Reading[Iommu]:
    """Observed when the number of groups was told."""
    answer = usable(GROUPS, output)
    if isinstance(answer, Reading):
        return answer
    values: dict[str, list[str]] = {}
    for line in answer.stdout.splitlines():
        match = _LINE.fullmatch(line.rstrip())
        if match is None:
            return garbled(GROUPS, answer)
        values.setdefault(match[1], []).append(match[2])
    groups = "".join(values.get("groups", ()))
    if answer.rc != 0 or "machine" not in values or not (groups.isascii() and groups.isdigit() and len(groups) < 7):
        return garbled(GROUPS, answer)
    found = Iommu(
        int(groups),
        units=tuple(values.get("unit", ())),
        words=tuple(values.get("word", ())),
        domains=tuple(values.get("domain", ())),
        machine=values["machine"][0],
    )
    return Reading(ReadingState.OBSERVED, found)


def judge(host: str, reading: Reading[Iommu]) -> tuple[CheckResult, ...]:
    """One result for the node."""
    found = reading.value
    if found is None:
        return (unseen(CHECK, host, reading, say("probe.iommu.hides"), needed=False),)
    if found.virtual:
        return (_result(host, Verdict.SKIPPED, "iommu.does_not_apply", say("probe.iommu.virtual")),)
    if found.mode == "off":
        return (_result(host, Verdict.PASS, "iommu.off", say("probe.iommu.off")),)
    if found.mode == "passthrough":
        return (_result(host, Verdict.PASS, "iommu.passthrough", say("probe.iommu.passthrough")),)
    if not any(unit.startswith(_X86) for unit in found.units):
        return (_result(host, Verdict.SKIPPED, "iommu.does_not_apply", say("probe.iommu.other")),)
    if found.mode == "unknown":
        hidden = noted(say("evidence.gpu_group"), say("evidence.not_shown"))
        silent = Reading[Iommu](ReadingState.DENIED, evidence=(hidden,))
        return (unseen(CHECK, host, silent, say("probe.iommu.hides"), needed=False),)
    evidence = (
        noted(GROUPS, say("evidence.iommu_groups", groups=found.groups)),
        *(noted(say("evidence.gpu_group"), domain) for domain in found.domains[:1]),
        noted("/proc/cmdline", " ".join(found.words) or say("evidence.no_iommu_words")),
    )
    message = say("probe.iommu.on")
    return (
        CheckResult(CHECK, node(host), Verdict.DEGRADED, message, "pcie.iommu_on", stage="probe", evidence=evidence),
    )


def _result(host: str, verdict: Verdict, rule: str, message: Message) -> CheckResult:
    return CheckResult(CHECK, node(host), verdict, message, rule, stage="probe")


def settings(facts: NodeFacts) -> Settings:
    """`iommu`: off, passthrough or translating."""
    found = facts.iommu.value
    return () if found is None or found.mode == "unknown" else (("iommu", found.mode),)
