"""`healthy.hosts` and `exclude.hosts`: what the next job is started with."""

from __future__ import annotations

from healthcheck.model.host import Host
from healthcheck.model.record import RunRecord
from healthcheck.reporting.decision import excluded, slots_of


def healthy_hosts(record: RunRecord) -> str:
    """A hostfile of the proven set, in the rank order in which it was proven; without hosts when nothing was.

    Slots are always written out: without them Open MPI counts the cores of the head node.
    """
    if not record.healthy_hosts:
        return _head(record, "no set of nodes is proven") + "\n"
    slots = slots_of(record)
    hydra = record.playbook.launcher == "hydra"
    lines = [_head(record, f"{len(record.healthy_hosts)} proven, in rank order")]
    for name in record.healthy_hosts:
        count = slots.get(name)
        if count is None:
            lines.append(name)
        else:
            lines.append(f"{name}:{count}" if hydra else f"{name} slots={count}")
    return "\n".join(lines) + "\n"


def exclude_hosts(record: RunRecord) -> str:
    """The hosts not to start on, each with everything its hostfile says, so that `-H exclude.hosts` measures them
    again; empty when there are none.

    A host of which only its name is known is a name alone, and real runs have no comment line: not every reader of
    such a list knows comments.
    """
    names = excluded(record)
    head = [_head(record, f"{len(names)} excluded")] if record.simulated and names else []
    known = {host.name: host for host in record.inventory}
    lines = [host_line(known[name]) if name in known else name for name in names]
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


def _head(record: RunRecord, what: str) -> str:
    simulated = "SIMULATED, no real machine was measured: " if record.simulated else ""
    state = "" if record.state == "complete" else f"{record.state} run: "
    return f"# {simulated}{state}{what}, healthcheck {record.run_id}"
