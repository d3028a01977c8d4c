"""English templates of what comes back by itself, and of how long its runs are kept."""

from __future__ import annotations

from typing import Final

SCHEDULE_TEXTS: Final[dict[str, str]] = {
    # --- prune ---
    "prune.would_go": "would go: {run_id} ({what})",
    "prune.running": "{run_id} is not over and stays: process {pid} of {user} on {machine}",
    "prune.cut_off": "{run_id} was cut off and stays until healthcheck clean {run_id} has looked at its nodes",
    "prune.not_ours": "passed over: {folder}: {problem}",
}
