"""Texts of report.md that its shorter form needs."""

from __future__ import annotations

TICKET_TEXTS: dict[str, str] = {
    "report.ticket.more_for": "and {n} more in report.html",
    "report.ticket.more": "{n} more in report.html.",
    "report.ticket.agree": "Among them: {what}.",
    "report.ticket.limit": "{what}: peak {peak}, PASS from {healthy}, FAIL below {broken}",
    "report.ticket.again": "Judge it again by other limits",
    "report.ticket.files": "In report.html: charts, every size, every job of the search, all nodes, where each limit "
    "comes from, exact command lines. In record.json: all numbers and texts. In raw/: output as received.",
}
