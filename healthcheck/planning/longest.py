"""How long a playbook may take at most: what a job that runs it has to be allowed."""

from __future__ import annotations

from healthcheck.model.playbook import Playbook

# A search without a budget of its own.
_SEARCH_S = 3600.0
# Connecting, copying, probing twice, retests of doubtful nodes, pages.
_AROUND_S = 900.0


def longest_s(playbook: Playbook) -> float:
    """Seconds: every job to its deadline, one after the other where they run so, and what lies around them."""
    total = _AROUND_S
    for stage in playbook.stages:
        if stage.name == "localise":
            total += stage.budget or _SEARCH_S
        elif stage.name == "probe":
            total += stage.timeout
        else:
            total += stage.timeout * stage.repeats * len(stage.collectives)
    return total
