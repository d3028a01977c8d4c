"""How a benchmark ends: which bars were missed, and an exit code that says whether any was."""

from __future__ import annotations

from collections.abc import Sequence


def tell_bars(missed: Sequence[str]) -> int:
    """Print the last line; 1 where a bar was missed, else 0."""
    print(f"bars: {'met' if not missed else 'MISSED, ' + '; '.join(missed)}")
    return 1 if missed else 0
