"""What the notes of a record say of a gate."""

from __future__ import annotations

from healthcheck.evaluation.gate import unwritten_note
from healthcheck.model.durations import span
from healthcheck.model.gate import GateRecord
from healthcheck.model.message import Message, listed, say
from healthcheck.model.verdict import Verdict
from healthcheck.parsing.nodeset import fold


def gate_notes(gate: GateRecord, ready: int, verdict: Verdict) -> tuple[Message, ...]:
    """What a reader has to know of a gate: whether it passes with fewer nodes, what it left out, what it did not
    measure. `verdict` is that of all nodes that were named."""
    notes: list[Message] = []
    wanted, budget = gate.asked.min_nodes, span(gate.asked.budget_s)
    if wanted is not None and gate.met and verdict is not Verdict.PASS:
        notes.append(say("gate.note.met", ready=ready, wanted=wanted, verdict=verdict.name))
    elif wanted is not None and not gate.met:
        notes.append(say("gate.note.unmet", ready=ready, wanted=wanted))
    if gate.used_s:
        left = span(gate.asked.budget_s - gate.used_s)
        notes.append(say("gate.note.resumed", used=span(gate.used_s), budget=budget, left=left))
    if gate.left_out:
        notes.append(say("gate.note.left_out", budget=budget, what=listed(gate.left_out, "text.semicolon")))
    if gate.shortened:
        notes.append(say("gate.note.shortened", budget=budget, what=listed(gate.shortened)))
    if gate.unwritten:
        notes.append(unwritten_note(gate.unwritten))
    by_run: dict[tuple[str, str], list[str]] = {}
    for one in gate.reused:
        by_run.setdefault((one.run_id, one.measured_at), []).append(one.host)
    for (run_id, when), hosts in by_run.items():
        notes.append(say("gate.note.reused", n=len(hosts), when=when, run_id=run_id, hosts=fold(hosts)))
    return tuple(notes)
