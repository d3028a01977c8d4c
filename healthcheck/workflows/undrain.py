"""Which drains of a run still stand in Slurm. Asks on this machine, and changes nothing."""

from __future__ import annotations

from healthcheck.model.drain import Undoing
from healthcheck.model.message import Message, say
from healthcheck.model.record import RunRecord
from healthcheck.parsing.slurm_nodes import SCONTROL, read_nodes
from healthcheck.ports import Transport
from healthcheck.reporting.drains import undoing
from healthcheck.workflows.asking_slurm import ask
from healthcheck.workflows.request import LOCALHOST

# A node is a line of 700 bytes, and as many nodes are read as a hostfile may have.
_BOUND_BYTES = 64 << 20


def drains_of(record: RunRecord, local: Transport) -> Undoing | Message:
    """What would undo them; or why nobody knows."""
    answer = ask(local, LOCALHOST, SCONTROL, f"slurm-{record.owner.token}", lambda: False, _BOUND_BYTES)
    if answer.absent:
        return say("slurm.no_client")
    if answer.text is None:
        return say("slurm.silent", detail=answer.detail)
    if not answer.whole:
        return say("slurm.cut")
    return undoing(record, read_nodes(answer.text))
