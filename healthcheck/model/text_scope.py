"""Texts of what a run was asked for, where that was less than all of a check-up (reporting)."""

from __future__ import annotations

SCOPE_TEXTS: dict[str, str] = {
    # --- the first sentence ---
    "report.decision.looked_only": "The looks found nothing against {who}. Nothing was measured, so no node is called "
    "fit.",
    "report.decision.looked_degraded": "The looks found what slows jobs down: read below. Nothing was measured, so no "
    "node is called fit.",
    "report.decision.looked_bad": "The looks found something against {who}. Nothing was measured, so no node is called "
    "fit.",
    "report.decision.looked_silent": "No answer came from {who}. Nothing was measured, so no node is called fit.",
    "report.decision.looked_both": "The looks found something against {who}, and no answer came from {silent}. Nothing "
    "was measured, so no node is called fit.",
    "report.decision.alone_only": "{total:The|Each of the} {total} {total:node|nodes} was measured alone; "
    "{total:with others it was|together they were} not measured.",
    "report.decision.alone_bad": "Do not start: something is wrong with {who}. Each was measured alone only; which of "
    "them work together was not measured.",
    # --- title, and what the head says of the playbook ---
    "report.title.looked": "{verdict}: looks at {total} {total:node|nodes}, nothing measured, healthcheck {run_id}",
    "report.title.alone": "{verdict}: {total} {total:node|nodes}, measured alone only, healthcheck {run_id}",
    "report.meta.all": "playbook {playbook}",
    "report.meta.only": "only {stage} of playbook {playbook}",
    "report.meta.localise": "localise, measured as in playbook {playbook}",
    "report.meta.probe": "looks only, for playbook {playbook}",
    # --- what comes next ---
    "report.next.title": "Next, measure {total:this node|these nodes}:",
    "report.next.later": "Once that is settled, measure {total:this node|these nodes}:",
    "report.actions.next": "Measure the nodes that were looked at, or measured alone, until now",
    "report.terminal.next": "next",
    # --- what a part of a check-up has none of ---
    "report.no_search": "No search was needed: together the nodes were fast enough.",
    "report.provenance.looks": "What was asked, and with what.",
    "report.ticket.files_looks": "In report.html: the looks by area, all nodes, their settings. In record.json: all "
    "numbers and texts. In raw/: answers as received.",
    "report.ticket.files_jobs": "In report.html: charts, every size, all nodes, where each limit comes from, exact "
    "command lines. In record.json: all numbers and texts. In raw/: output as received.",
}
