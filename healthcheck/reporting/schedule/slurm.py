"""Scripts for Slurm: a check-up as a job, a job behind a gate, and examples of a prolog and a health check. Pure.

Paths and names are data: whatever goes into a script is quoted by shlex, and nothing of it stands in an #SBATCH line,
which has rules of its own.
"""

from __future__ import annotations

import math
import shlex

from healthcheck.model.schedule import Schedule
from healthcheck.model.schedule_cluster import UnderSlurm
from healthcheck.reporting.figures import one_line
from healthcheck.reporting.templating import environment

GATE_PLAYBOOK = "slurm-gate"


def checkup_script(schedule: Schedule, place: UnderSlurm, file: str) -> str:
    """A check-up of the nodes of its own allocation; `file` is where it will lie."""
    return _rendered(
        "checkup",
        head=_head(schedule, place, place.nodes, minutes=math.ceil(place.limit_s / 60)),
        every=one_line(schedule.every.words),
        cron=schedule.every.cron,
        file=one_line(shlex.quote(file)),
        run=shlex.join(schedule.run()),
        prune=shlex.join(schedule.prune()),
    )


def gate_script(schedule: Schedule, place: UnderSlurm) -> str:
    """A job that starts only on nodes which a gate has proven together."""
    words = (*schedule.command, "gate", GATE_PLAYBOOK, "--budget", place.budget, "-o", schedule.results, "--quiet")
    return _rendered(
        "gate",
        head=_head(schedule, place, place.nodes + place.spare),
        need=place.nodes,
        spare=place.spare,
        budget=place.budget,
        results=shlex.quote(schedule.results),
        gate=shlex.join((*words, *schedule.options, *place.gate, *schedule.notify)),
        playbook=GATE_PLAYBOOK,
    )


def prolog_script(schedule: Schedule) -> str:
    """Refuses a job on a node that FAILed its last run. Asks Slurm for nothing and takes 6 s at most."""
    return _rendered("prolog", last_word=_last_word(schedule))


def health_script(schedule: Schedule) -> str:
    """Drains a node that FAILed its last run, once a run."""
    return _rendered("health", last_word=_last_word(schedule))


def _last_word(schedule: Schedule) -> str:
    return _rendered("last_word", results=shlex.quote(schedule.results))


def _head(schedule: Schedule, place: UnderSlurm, nodes: int, minutes: int | None = None) -> str:
    """The directives; without `minutes` the time limit is left to whoever takes the script over."""
    asked = {
        "job-name": schedule.name,
        "nodes": str(nodes),
        "ntasks-per-node": "1",
        "time": "" if minutes is None else str(minutes),
        "gres": f"gpu:{place.gpus}" if place.gpus else "",
        "partition": place.partition,
        "account": place.account,
        "reservation": place.reservation,
    }
    # Without --no-kill Slurm ends the job as soon as one node is down, and nobody hears which.
    lines = [
        "#SBATCH --exclusive",
        "#SBATCH --no-kill",
        *(f"#SBATCH --{name}={value}" for name, value in asked.items() if value),
    ]
    return "\n".join(lines)


def _rendered(name: str, **fields: object) -> str:
    return environment(autoescape=False).get_template(f"slurm_{name}.sh.j2").render(**fields)
