"""`healthy.hosts` and `exclude.hosts`: what the next job is started with."""

from __future__ import annotations

import re

from healthcheck.model.host import Host
from healthcheck.model.message import Message, say
from healthcheck.model.record import RunRecord
from healthcheck.reporting.decision import excluded, left_out, left_out_told, slots_of
from healthcheck.reporting.figures import one_line

_WORD = re.compile(r"(?!-)[A-Za-z0-9_.:/%@+-]{1,253}")
"""What a name, address, user or label of a hostfile may look like at most; a record may hold anything."""


def healthy_hosts(record: RunRecord) -> str:
    """A hostfile of the proven set, in the rank order in which it was proven; without hosts when nothing was.

    Slots are always written out: without them Open MPI counts the cores of the head node.
    """
    if not record.healthy_hosts:
        return _head(record, say("hosts.none_proven")) + "\n"
    slots = slots_of(record)
    hydra = record.playbook.launcher == "hydra"
    ready, left = len(record.healthy_hosts), left_out(record)
    told = say("hosts.proven", n=ready)
    if left:
        told = say("hosts.proven_of", n=ready, together=len(record.proven_together), left=left_out_told(left))
    lines = [_head(record, told)]
    for name in record.healthy_hosts:
        count = slots.get(name)
        given = "" if count is None else f":{count}" if hydra else f" slots={count}"
        lines.append(f"{name}{given}" if _WORD.fullmatch(name) else _no_host(name))
    return "\n".join(lines) + "\n"


def exclude_hosts(record: RunRecord) -> str:
    """The hosts not to start on, each with everything its hostfile says, so that `-H exclude.hosts` measures them
    again; empty when there are none.

    A host of which only its name is known is a name alone, and real runs have no comment line: not every reader of
    such a list knows comments.
    """
    names = excluded(record)
    head = [_head(record, say("hosts.excluded", n=len(names)))] if record.simulated and names else []
    known = {host.name: host for host in record.inventory}
    lines = [_excluded_line(known.get(name) or Host(name=name, address=name)) for name in names]
    return "".join(f"{line}\n" for line in (*head, *lines))


def host_line(host: Host) -> str:
    """One host in the words of a hostfile; `parse_hostfile` reads the same host again."""
    words = [host.name]
    if host.address != host.name:
        words.append(f"address={host.address}")
    for key, value in (("port", host.port), ("user", host.user), ("slots", host.slots)):
        if value is not None:
            words.append(f"{key}={value}")
    return " ".join((*words, *(f"{key}={value}" for key, value in host.labels)))


def _excluded_line(host: Host) -> str:
    words = (host.name, host.address, host.user or "_", *(part for label in host.labels for part in label))
    return host_line(host) if all(map(_WORD.fullmatch, words)) else _no_host(host.name)


def _no_host(name: str) -> str:
    """A comment where a record holds a name that no hostfile may hold: as a line it would be another host."""
    return f"# {say('hosts.no_name', name=one_line(name))}"


def _head(record: RunRecord, what: Message) -> str:
    told = what if record.state == "complete" else say(f"hosts.state.{record.state}", what=what)
    told = say("hosts.simulated", what=told) if record.simulated else told
    return f"# {say('hosts.head', what=told, run_id=one_line(record.run_id))}"
