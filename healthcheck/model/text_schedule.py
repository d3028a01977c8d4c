"""English templates of what comes back by itself, and of how long its runs are kept."""

from __future__ import annotations

from typing import Final

SCHEDULE_TEXTS: Final[dict[str, str]] = {
    # --- schedule ---
    "schedule.not_installed": "nothing was installed; this does it:",
    "schedule.try_first": "and this tries it once, now: {command}",
    "schedule.comes": "it comes {words}: {when}",
    "schedule.comes_later": "it comes {words}: {when}, up to {delay} later, another time each time",
    "schedule.cluster_minute": "the minute was chosen for this cluster, within {delay}: cron knows no random delay",
    # --- prune ---
    "prune.would_go": "would go: {run_id} ({what})",
    "prune.running": "{run_id} is not over and stays: process {pid} of {user} on {machine}",
    "prune.cut_off": "{run_id} was cut off and stays until healthcheck clean {run_id} has looked at its nodes",
    "prune.not_ours": "passed over: {folder}: {problem}",
}
