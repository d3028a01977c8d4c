"""Which NCCL variables does a login on this node bring along?

A leftover of an experiment in a file slows every job of the cluster, and no command line shows it. NCCL takes the
environment first, then `~/.nccl.conf`, then `/etc/nccl.conf`; none of them replaces what was set before. Only names
that begin with NCCL_ are read.
"""

from __future__ import annotations

import re

from healthcheck.evaluation.harmful_settings import HARMS, Machine, harm_of
from healthcheck.model.component import node
from healthcheck.model.finding import CheckResult
from healthcheck.model.gpu_models import has_nvls
from healthcheck.model.message import Arg, listed, say
from healthcheck.model.node import NodeFacts
from healthcheck.model.reading import Reading, ReadingState, noted
from healthcheck.model.system_facts import NcclSetting, NcclSettings
from healthcheck.model.verdict import Verdict
from healthcheck.probes.batch import Part, PartOutput, one_line
from healthcheck.probes.probe import Needs
from healthcheck.probes.trouble import garbled, quote, usable
from healthcheck.probes.unseen import unseen

NAME = "nccl_settings"
CHECK = "nccl.settings"
ENVIRONMENT = "environment"

_TEXT = one_line("""
    echo "settings";
    env | grep "^NCCL_[A-Z0-9_]*=" | sort | head -n 100 | cut -c 1-300 | sed "s/^/env /";
    for file in "$HOME/.nccl.conf" /etc/nccl.conf; do
        if [ -r "$file" ]; then
            echo "file $file"; grep -n "^NCCL_[A-Z0-9_]*=" "$file" | head -n 100 | cut -c 1-300 | sed "s/^/line /";
        elif [ -e "$file" ]; then echo "unread $file"; fi;
    done;
    exit 0
""")
_LINE = re.compile(r"(?:env |line (?P<number>\d{1,6}):)(?P<name>NCCL_[A-Z0-9_]{1,60})=(?P<value>.{0,280})", re.ASCII)


def part() -> Part:
    """A line `settings`; then `env NAME=value`, `file PATH` with its `line N:NAME=value`, and `unread PATH`."""
    return Part(NAME, 5, _TEXT)


def read(output: PartOutput | None) -> Reading[NcclSettings]:
    """Observed and empty: nothing is set, which is what most nodes should say."""
    answer = usable(NAME, output)
    if isinstance(answer, Reading):
        return answer
    lines = answer.stdout.splitlines()
    if answer.rc != 0 or lines[:1] != ["settings"]:
        return garbled(NAME, answer)
    found: list[NcclSetting] = []
    unread: list[str] = []
    file = ""
    for line in lines[1:]:
        match = _LINE.fullmatch(line)
        if match is not None:
            source = f"{file}:{match['number']}" if match["number"] else ENVIRONMENT
            found.append(NcclSetting(match["name"], match["value"].strip(), source))
        elif line.startswith("file "):
            file = line.removeprefix("file ")
        elif line.startswith("unread "):
            unread.append(line.removeprefix("unread "))
        elif not line.startswith(("env NCCL_", "line ")):
            return garbled(NAME, answer)
    return Reading(ReadingState.OBSERVED, NcclSettings(tuple(found), tuple(unread)))


def effective(settings: NcclSettings) -> dict[str, NcclSetting]:
    """What NCCL would take: the first of each name."""
    chosen: dict[str, NcclSetting] = {}
    for setting in settings.found:
        chosen.setdefault(setting.name, setting)
    return chosen


def judge(facts: NodeFacts, needs: Needs) -> tuple[CheckResult, ...]:
    """DEGRADED for what is known to slow jobs down; all other settings are only compared across the fleet."""
    settings = facts.nccl_settings.value
    if settings is None:
        return (unseen(CHECK, facts.host, facts.nccl_settings, say("probe.settings.hides"), needed=False),)
    machine = _machine(facts, needs)
    harmful = sorted(
        (
            (place, setting)
            for setting in effective(settings).values()
            if (place := harm_of(setting.name, setting.value, machine)) is not None
        ),
        key=lambda entry: entry[0],
    )
    if harmful:
        names = ", ".join(f"{setting.name}={setting.value[:60]}" for _, setting in harmful)
        sources = listed(map(_where, dict.fromkeys(setting.source for _, setting in harmful)))
        evidence = tuple(
            entry for _, setting in harmful for entry in quote(setting.source, (f"{setting.name}={setting.value}",))
        )
        message = say("probe.settings.harmful", names=names, sources=sources)
        verdict, rule = Verdict.DEGRADED, HARMS[harmful[0][0]].rule
        return (CheckResult(CHECK, node(facts.host), verdict, message, rule, stage="probe", evidence=evidence),)
    if settings.unread:
        said = noted(settings.unread[0], say("evidence.may_not_read"))
        refused = Reading[NcclSettings](ReadingState.DENIED, None, (said,))
        return (unseen(CHECK, facts.host, refused, say("probe.settings.hides"), needed=False),)
    message = say("probe.settings.harmless")
    return (CheckResult(CHECK, node(facts.host), Verdict.PASS, message, "settings.harmless", stage="probe"),)


def _machine(facts: NodeFacts, needs: Needs) -> Machine:
    """GPUs that were seen count before what the platform promises."""
    platform, software = needs.platform, facts.software.value
    gpus, hcas = facts.gpus.value or (), facts.hcas.value
    rdma = None if hcas is None else any(not port.efa for port in hcas)
    nvls = any(has_nvls(gpu.name, len(gpus)) for gpu in gpus) if gpus else None
    if platform is not None:
        rdma, nvls = platform.has_verbs, platform.has_nvls if nvls is None else nvls
    return Machine(rdma, nvls, software.nccl if software is not None else None)


def _where(source: str) -> Arg:
    """Where to remove it: a variable of the environment stands in a file that the login reads."""
    return say("probe.settings.environment") if source == ENVIRONMENT else source
