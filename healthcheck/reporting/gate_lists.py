"""The lists a job is started with after a gate, in three spellings each: hostfile, Slurm list, plain names."""

from __future__ import annotations

from msgspec import Struct

from healthcheck.model.record import RunRecord
from healthcheck.parsing.nodeset import fold_for_slurm
from healthcheck.reporting.decision import excluded
from healthcheck.reporting.hostlists import exclude_hosts, healthy_hosts

SLURM, PLAIN = ".slurm", ".txt"
"""What stands behind the name that was given, for the other two spellings."""


class Lists(Struct, frozen=True):
    """`files` are (name, content); `n` is how many hosts they name."""

    n: int
    files: tuple[tuple[str, str], ...]


def gate_lists(record: RunRecord) -> tuple[Lists, ...]:
    """The lists that were asked for, the healthy first; none where no set of nodes was proven together.

    A Slurm list is one line for `--nodelist` and `--exclude`, empty where nobody is to be excluded.
    """
    if record.gate is None or not record.healthy_hosts:
        return ()
    asked = record.gate.asked
    out = excluded(record)
    found: list[Lists] = []
    if asked.healthy_file:
        found.append(_lists(asked.healthy_file, healthy_hosts(record), record.healthy_hosts))
    if asked.exclude_file:
        found.append(_lists(asked.exclude_file, exclude_hosts(record), out))
    return tuple(found)


def list_to_use(record: RunRecord) -> str:
    """What the line on stdout says of the list to start with; empty where there is none."""
    if record.gate is None or record.gate.unwritten or not record.healthy_hosts:
        return ""
    asked = record.gate.asked
    if asked.healthy_file:
        return f"use {asked.healthy_file}"
    return f"exclude by {asked.exclude_file}" if asked.exclude_file else ""


def names_of(file: str) -> tuple[str, str, str]:
    """The three files behind one name that a user gave."""
    return file, f"{file}{SLURM}", f"{file}{PLAIN}"


def _lists(file: str, hostfile: str, hosts: tuple[str, ...]) -> Lists:
    name, slurm, plain = names_of(file)
    folded = f"{fold_for_slurm(hosts)}\n" if hosts else "\n"
    return Lists(len(hosts), ((name, hostfile), (slurm, folded), (plain, "".join(f"{host}\n" for host in hosts))))
