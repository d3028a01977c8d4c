"""The lines that follow a finding: the search for who is slow, and the run again that proves a repair.

Both keep the options of the run. In a simulation a repair is the planted fault left out; the hosts of `demo` are gone.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from healthcheck.model.playbook import BENCHMARK_STAGES
from healthcheck.model.record import RunRecord
from healthcheck.reporting.again import DEFAULT_RESULTS, run_folder, typed, values_of, without
from healthcheck.reporting.decision import excluded
from healthcheck.reporting.names import folded

_AGAIN = (("run",), ("probe",), ("localise",))
_OF_A_SEARCH = ("max-rounds", "budget", "sensitivity", "playbook")
_LONGER = ("--budget", "2h", "--max-rounds", "64")
"""Well above what a search is given by itself (16 rounds, 30 minutes in the playbooks)."""


def proof_line(record: RunRecord, hosts: Sequence[str] = ()) -> str | None:
    """The run again on these hosts, all where none is named; None where it would not work."""
    arguments = typed(record)
    if arguments[:1] not in _AGAIN:
        return None
    words = without(arguments, None, "resume", lambda _: True)
    if len(words) < len(arguments):
        words.append(f"{run_folder(record)}/inputs/playbook.yaml")
    if record.simulated and not record.provenance.hostfile:
        repaired = set(hosts) if hosts else {"link", "leaf"}
        return _line(without(words, None, "fault", lambda fault: fault.partition(":")[0] in repaired))
    everybody = not hosts or set(hosts) >= {host.name for host in record.hosts}
    target = record.provenance.hostfile if everybody else _named(record, hosts)
    if not target:
        return None
    if words[0] == "localise" and not everybody:
        words = _without_search(words)
    words = without(words, "H", "hosts", lambda _: True)
    if not everybody:
        words = without(words, None, "launch-from", lambda host: host not in ("first", "local", *hosts))
    return _line([*words, "-H", target])


def search_line(record: RunRecord, *, longer: bool = False) -> str | None:
    """The search in this run, which keeps what is measured; None where it was made already, or would not work.

    `longer`: going on with one that was cut short.
    """
    arguments = record.provenance.arguments
    if arguments[:1] not in _AGAIN or (record.search is not None and not longer):
        return None
    default = f"{DEFAULT_RESULTS}/{record.run_id}"
    folder = run_folder(record)
    words = ["localise", "--resume", record.run_id if folder == default else folder]
    return _line([*words, *(_LONGER if longer else ())])


def doctor_line(record: RunRecord) -> str | None:
    """Whether this machine can reach the hosts at all; None where there is no hostfile to look at."""
    if not record.provenance.hostfile:
        return None
    config = list(values_of(record.provenance.arguments, None, "ssh-config"))[-1:]
    return _line(
        ["doctor", "-H", record.provenance.hostfile, *(word for path in config for word in ("--ssh-config", path))]
    )


def partner_of(record: RunRecord, host: str) -> str | None:
    """A proven node to measure a repaired one with, on the same leaf if there is one there."""
    leaves = {known.name: dict(known.labels).get("leaf") for known in record.hosts}
    near = [name for name in record.healthy_hosts if name != host and leaves.get(name) == leaves.get(host)]
    return next(iter((*near, *(name for name in record.healthy_hosts if name != host))), None)


def measures_together(record: RunRecord) -> bool:
    """Whether the run measures anything between nodes."""
    planned = record.provenance.only or "multi_node"
    return planned in BENCHMARK_STAGES and planned != "single_node"


def _named(record: RunRecord, hosts: Sequence[str]) -> str:
    """A node set where a name says all that the run knew of a host, else the file of hosts that it wrote, if there."""
    known = {host.name: host for host in record.inventory}
    count = record.platform.gpu.count if record.platform is not None else None
    plain = all(
        host.address == host.name and host.user is None and host.port is None and host.slots in (None, count)
        for host in (known[name] for name in hosts if name in known)
    )
    if plain:
        return folded(hosts)
    left_out = set(excluded(record))
    written = all(name in left_out or name in record.healthy_hosts for name in hosts)
    return f"{run_folder(record)}/exclude.hosts" if written and left_out else record.provenance.hostfile


def _without_search(words: Sequence[str]) -> list[str]:
    """Too few nodes to search among are measured alone and together as the search did."""
    playbook = next(values_of(words, None, "playbook"), "full")
    kept = list(words[1:])
    for option in _OF_A_SEARCH:
        kept = without(kept, None, option, lambda _: True)
    return ["run", playbook, *kept]


def _line(words: Sequence[str]) -> str:
    return shlex.join(("healthcheck", *words))
