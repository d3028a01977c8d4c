"""Every exception this package raises, as one drawn tree.

HealthcheckError
├── InputError          something the user wrote is wrong: exit 2, nothing was touched
│   └── ...             names the file, line or key, and what would be right
├── Interrupted         SIGINT or SIGTERM reached us: exit 130 or 143, what was measured is kept
└── StoreError          the results folder failed on the way (full, read-only): exit 3, what was measured is kept

A sick host is never an exception: it is a result (see `healthcheck.model.command.ExitKind`).
"""

from __future__ import annotations


class HealthcheckError(Exception):
    """Base of all of ours. Anything else that reaches `__main__` is a bug of ours (exit 70)."""


class InputError(HealthcheckError):
    """One clear sentence about something the user wrote.

    `where` names the file with line or the option (`cluster.hosts:7`, `--min-nodes`), `problem` says what is
    wrong and what would be right.
    """

    def __init__(self, where: str, problem: str) -> None:
        self.where = where
        self.problem = problem
        super().__init__(f"{where}: {problem}" if where else problem)


class StoreError(HealthcheckError):
    """The results folder, or another place we write to, fails after the start; one sentence says which and why."""


class Interrupted(HealthcheckError):
    """A signal asked us to stop; `signum` decides the exit code (130 or 143)."""

    def __init__(self, signum: int) -> None:
        self.signum = signum
        super().__init__(f"interrupted by signal {signum}")
