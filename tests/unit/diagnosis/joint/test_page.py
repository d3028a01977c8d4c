"""docs/diagnose.md holds the table of rules and the thresholds as they are."""

from __future__ import annotations

from tests.diagnose_page import PAGE, written


def test_the_page_has_the_rules_and_thresholds_of_the_data() -> None:
    """If not: `python -m tests.diagnose_page`."""
    page = PAGE.read_text(encoding="utf-8")
    assert written(page) == page
