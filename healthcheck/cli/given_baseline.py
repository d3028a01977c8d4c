"""`--baseline FILE`, or the key of a playbook: read, and refused where it cannot speak of the nodes of this run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from healthcheck.edge.baselines import load_baseline
from healthcheck.edge.shipped import shipped_playbooks
from healthcheck.errors import InputError
from healthcheck.model.baseline import Baseline
from healthcheck.model.host import Host
from healthcheck.model.platform import Platform
from healthcheck.model.playbook import Playbook
from healthcheck.workflows.baseline import KnownPast


def given_baseline(
    option: Path | None,
    playbook: Playbook,
    playbook_name: str,
    hosts: Sequence[Host],
    platform: Platform | None,
    *,
    simulated: bool,
    fleet: str = "",
) -> Baseline | None:
    """What was named with --baseline, else by the playbook, whose path begins at its own folder; None without either.

    InputError where it is of other machines. `platform` None: not known before the nodes were looked at. `fleet`: which
    simulated machines these are, as a baseline calls them; empty where nobody can tell. A playbook is
    rehearsed as it is: what it names for real machines is only noted by a simulated run.
    """
    named = named_baseline(option, playbook, playbook_name)
    if named is None:
        return None
    where, file = named
    baseline = replace(load_baseline(file), source=f"baseline {file}")
    if simulated and not baseline.simulated and option is None:
        return baseline
    if baseline.simulated is not simulated:
        made, asked = ("simulated", "these are real") if baseline.simulated else ("real", "these are simulated")
        raise InputError(where, f"{file} is of {made} machines and {asked}; make a baseline of their own runs")
    if fleet and baseline.fleet and baseline.fleet != fleet:
        raise InputError(
            where,
            f"{file} was made of {baseline.fleet} and these nodes are {fleet}: another seed simulates other machines; "
            f"make a baseline of their own runs, or simulate with --{baseline.fleet}",
        )
    if platform is not None and baseline.platform != platform.name:
        raise InputError(
            where,
            f"{file} was made of {baseline.platform} and these nodes are judged as {platform.name}; "
            "make a baseline of their own runs",
        )
    known = KnownPast(baseline).hosts()
    if hosts and not any(host.name in known for host in hosts):
        raise InputError(
            where, f"{file} says nothing of any of these nodes; it knows {len(known)} such as {min(known)}"
        )
    return baseline


def named_baseline(option: Path | None, playbook: Playbook, playbook_name: str) -> tuple[str, Path] | None:
    """(where it was named, its file); None where neither names one."""
    if option is not None:
        return "--baseline", option
    if playbook.baseline is None:
        return None
    folder = Path() if playbook_name in shipped_playbooks() else Path(playbook_name).parent
    return f"playbook {playbook.name}, baseline", folder / playbook.baseline
