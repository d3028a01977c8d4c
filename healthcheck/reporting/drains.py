"""The drains that a run suggests: their reason, whom they name, and the line that would take them off again."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence

from healthcheck.diagnosis.cause import Cause, Drain
from healthcheck.diagnosis.causes import BY_CODE, UNEXPLAINED
from healthcheck.model.drain import NodeState, Undoing, mark_of
from healthcheck.model.finding import Finding
from healthcheck.model.record import RunRecord
from healthcheck.parsing.slurm import short_name
from healthcheck.reporting.names import slurm_nodes


def cause_of(finding: Finding) -> Cause:
    """The cause of the catalogue; that of nothing known for the code of another version."""
    return BY_CODE.get(finding.cause.code.removeprefix("cause."), UNEXPLAINED)


def drain_line(names: Iterable[str], run_id: str, cause: Cause) -> str:
    """Keep new jobs off these nodes, for a reason by which `slurm resume` knows it again."""
    reason = shlex.quote(f"{mark_of(run_id)}{cause.code}")
    return f"scontrol update nodename={shlex.quote(slurm_nodes(names))} state=drain reason={reason}"


def suggested_drains(record: RunRecord) -> tuple[str, ...]:
    """The nodes whose drain the run suggests, by the names Slurm has for them."""
    found = (one.component.host for one in record.findings if cause_of(one).drain is not Drain.NO)
    return tuple(dict.fromkeys(short_name(host) for host in found if host))


def undoing(record: RunRecord, nodes: Sequence[NodeState]) -> Undoing:
    """Which of the nodes of a Slurm are drained for a reason of this run, and what became of the others it named."""
    mark = mark_of(record.run_id)
    ours = tuple(node for node in nodes if node.drained and node.reason.startswith(mark))
    mine = {node.name for node in ours}
    by_name = {node.name.lower(): node for node in nodes}
    named = [(name, by_name.get(name.lower())) for name in suggested_drains(record)]
    left = [node for _, node in named if node is not None and node.name not in mine]
    return Undoing(
        record.run_id,
        ours,
        tuple(node for node in left if node.drained),
        tuple(node for node in left if not node.drained),
        tuple(name for name, node in named if node is None),
    )


def resume_lines(undo: Undoing) -> tuple[str, ...]:
    """One line for each reason. `undrain`, not `resume`: a node that is down as well stays down."""
    names: dict[str, list[str]] = {}
    for node in undo.ours:
        names.setdefault(node.reason, []).append(node.name)
    return tuple(f"scontrol update nodename={shlex.quote(slurm_nodes(each))} state=undrain" for each in names.values())
