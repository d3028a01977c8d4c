"""Which NCCL variables does a login on this node bring along?

A leftover of an experiment in a file slows every job of the cluster, and no command line shows it. NCCL takes the
environment first, then `~/.nccl.conf`, then `/etc/nccl.conf`; none of them replaces what was set before. Only names
that begin with NCCL_ are read.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from msgspec import Struct

from healthcheck.model.component import node
from healthcheck.model.finding import CheckResult
from healthcheck.model.message import say
from healthcheck.model.node import NodeFacts
from healthcheck.model.reading import Evidence, Reading, ReadingState
from healthcheck.model.system_facts import NcclSetting, NcclSettings
from healthcheck.model.verdict import Verdict
from healthcheck.probes.batch import Part, PartOutput, one_line
from healthcheck.probes.probe import Needs
from healthcheck.probes.trouble import garbled, quote, usable
from healthcheck.probes.unseen import unseen

NAME = "nccl_settings"
CHECK = "nccl.settings"
ENVIRONMENT = "environment"
_GID_CHOSEN_SINCE = (2, 21)

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


class _Harm(Struct, frozen=True):
    """A setting that slows jobs down. `where`: whether it matters on this node."""

    rule: str
    names: tuple[str, ...]
    values: tuple[str, ...] = ()
    where: Callable[[NodeFacts, Needs], bool] = lambda facts, needs: True


def _has_rdma(facts: NodeFacts, needs: Needs) -> bool:
    return needs.platform is None or needs.platform.nics.link_layer.lower() in ("infiniband", "ethernet")


# Reduction inside the switch came with Hopper; switched off on older boards it changes nothing.
_NVLS = re.compile(r"\bG?(?:H(?:20|100|200|800)|B[123]00)\b")


def _has_nvls(facts: NodeFacts, needs: Needs) -> bool:
    return any(_NVLS.search(gpu.name) for gpu in facts.gpus.value or ())


def _chooses_gid(facts: NodeFacts, needs: Needs) -> bool:
    software = facts.software.value
    numbers = (software.nccl or "").split(".") if software is not None else []
    return len(numbers) > 1 and (int(numbers[0]), int(numbers[1])) >= _GID_CHOSEN_SINCE


# Order: what costs most first. Without `values` any value counts.
_HARMS = (
    _Harm("settings.ib_disable", ("NCCL_IB_DISABLE",), ("1",), _has_rdma),
    _Harm("settings.p2p_disable", ("NCCL_P2P_DISABLE",), ("1",)),
    _Harm("settings.p2p_disable", ("NCCL_P2P_LEVEL",), ("0", "LOC")),
    _Harm("settings.gdr_level", ("NCCL_NET_GDR_LEVEL", "NCCL_IB_GDR_LEVEL"), ("0", "LOC"), _has_rdma),
    _Harm("settings.shm_disable", ("NCCL_SHM_DISABLE",), ("1",)),
    _Harm("settings.nvls_disable", ("NCCL_NVLS_ENABLE",), ("0",), _has_nvls),
    _Harm("settings.algo", ("NCCL_ALGO",)),
    _Harm("settings.proto", ("NCCL_PROTO",)),
    _Harm("settings.channels", ("NCCL_MAX_NCHANNELS", "NCCL_MAX_NRINGS", "NCCL_MAX_CTAS")),
    _Harm("settings.gid_index", ("NCCL_IB_GID_INDEX",), (), _chooses_gid),
)


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
    chosen = effective(settings)
    harmful: list[tuple[str, NcclSetting]] = []
    for harm in _HARMS:
        for setting in (chosen[name] for name in harm.names if name in chosen):
            if (not harm.values or setting.value.upper() in harm.values) and harm.where(facts, needs):
                harmful.append((harm.rule, setting))
    if harmful:
        names = ", ".join(f"{setting.name}={setting.value[:60]}" for _, setting in harmful)
        sources = ", ".join(dict.fromkeys(setting.source for _, setting in harmful))
        evidence = tuple(
            entry for _, setting in harmful for entry in quote(setting.source, (f"{setting.name}={setting.value}",))
        )
        message = say("probe.settings.harmful", names=names, sources=sources)
        verdict, rule = Verdict.DEGRADED, harmful[0][0]
        return (CheckResult(CHECK, node(facts.host), verdict, message, rule, stage="probe", evidence=evidence),)
    if settings.unread:
        refused = Reading[NcclSettings](ReadingState.DENIED, None, (Evidence(settings.unread[0], "may not be read"),))
        return (unseen(CHECK, facts.host, refused, say("probe.settings.hides"), needed=False),)
    message = say("probe.settings.harmless")
    return (CheckResult(CHECK, node(facts.host), Verdict.PASS, message, "settings.harmless", stage="probe"),)
