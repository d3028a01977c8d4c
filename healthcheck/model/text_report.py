"""Texts of reports, findings and progress (diagnosis, reporting, workflows)."""

REPORT_TEXTS: dict[str, str] = {}
