"""English templates of alerts, and of what became of them."""

from __future__ import annotations

from typing import Final

NOTIFY_TEXTS: Final[dict[str, str]] = {
    "notify.cause": "Cause: {component}: {cause}",
    "notify.do": "Do: {remedy}",
    "notify.next": "Next command:",
    "notify.report": "Report on {machine}: {file}",
    "notify.kept": "What was measured before is kept on {machine}: {folder}",
    "notify.ended": "The check-up ended early, and nobody knows what it had still to find: {problem}",
    "notify.bug": "The check-up ended early by a bug of healthcheck, which says nothing of the nodes. On {machine} its "
    "error output names a log; please send us that.",
    "notify.never_began": "The check-up of {machine} could not begin: {problem}",
    "notify.changed": "Before: {verdict} in run {run_id}.",
    "notify.first": "No earlier complete run of this playbook on these hosts.",
    "notify.test": "A test of healthcheck doctor: alerts of {machine} arrive here. No check-up was run.",
    "notify.sent": "alert {place} ({service}) was sent",
    "notify.not_due": "no alert: {verdict} as before, and --notify-on is {when}",
    "notify.not_due_first": "no alert: {verdict}, and --notify-on is {when}",
    "notify.not_due_stopped": "no alert: somebody stopped this run with Ctrl-C",
    "notify.lost": "alert {place} ({service}) was not delivered: {problem}",
    "notify.problem.status": "the service answered with HTTP status {status}",
    "notify.problem.redirect": "the service sent it elsewhere (HTTP status {status}); give the address it means now",
    "notify.problem.connection": "the service cannot be reached",
    "notify.problem.time": "no answer within {seconds:g} s",
    "notify.problem.refused": "the service did not take it",
    "notify.problem.thread": "this machine has a limit on processes that is too low (ulimit -u)",
    "notify.problem.stopped": "stopped by Ctrl-C",
    "notify.parses": "{n} {n:address|addresses} can be used: {services}; --send sends a test message",
    "notify.delivered": "test message {place} ({service}) was sent",
    "notify.test_lost": "test message {place} ({service}) was not delivered: {problem}",
    "notify.metrics_lost": "the metrics file was not written: {problem}",
    "notify.metrics": "metrics for node_exporter are in {file}",
}
