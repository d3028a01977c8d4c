"""What earlier runs in the results folder say of the nodes of this one. Nothing in here stops a run."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

from msgspec.structs import replace

from healthcheck.edge.digests import simulated_fleet
from healthcheck.edge.history_index import DirectoryIndex
from healthcheck.errors import HealthcheckError
from healthcheck.evaluation.baseline_of import settings_of
from healthcheck.evaluation.past_of import Asking, Remembered, comparable, past_of
from healthcheck.model.history import PastRun
from healthcheck.model.message import say
from healthcheck.model.playbook import Playbook
from healthcheck.parsing.playbook import parse_playbook
from healthcheck.workflows.files_only import read_file

PLAYBOOK = "inputs/playbook.yaml"


class FolderMemory:
    """ports.Memory over the run directories below `results`.

    `seed` is that of the cluster this process simulates. Another seed makes other machines of the same names, and a
    planted fault makes no healthy ones: such runs are no past of it.
    """

    def __init__(self, results: Path, playbook: Playbook, playbook_sha256: str, seed: int | None = None) -> None:
        self._results = results
        self._settings = settings_of(playbook)
        self._known = {playbook_sha256: self._settings}
        self._seed = seed

    def usual(self, asking: Asking) -> Remembered:
        """What the nodes used to read; nothing where they have no past, or none that can be read."""
        try:
            past = DirectoryIndex(self._results).past(asking.hosts)
            baseline = past_of(asking, self._comparable(asking, past.runs))
        except (HealthcheckError, OSError, ValueError) as error:
            return Remembered(None, (say("baseline.past_failed", problem=str(error)),))
        notes = [say("baseline.past_note", what=note) for note in past.notes]
        if past.unreadable:
            problem = str(past.unreadable[0])
            notes.append(say("baseline.past_unreadable", n=len(past.unreadable), problem=problem))
        return Remembered(baseline, tuple(notes))

    def _comparable(self, asking: Asking, oldest_first: tuple[PastRun, ...]) -> Iterator[PastRun]:
        """Newest first, each with the stages that were measured as they are now."""
        for run in reversed(oldest_first):
            if not comparable(asking, run) or (asking.simulated and not self._same_fleet(run)):
                continue
            settings = self._settings_of(run)
            jobs = tuple(job for job in run.jobs if settings.get(job.stage) == self._settings.get(job.stage))
            if jobs:
                yield replace(run, jobs=jobs)

    def _same_fleet(self, run: PastRun) -> bool:
        fleet = simulated_fleet(self._results / run.folder)
        return fleet is not None and fleet.seed == self._seed and not fleet.faults

    def _settings_of(self, run: PastRun) -> dict[str, dict[str, str]]:
        """What its playbook set for each stage; nothing where that playbook is gone or was changed since."""
        sha256 = run.playbook_sha256
        if sha256 not in self._known:
            self._known[sha256] = {}
            try:
                text = read_file(self._results / run.folder / PLAYBOOK).decode()
                if hashlib.sha256(text.encode()).hexdigest() == sha256:
                    self._known[sha256] = settings_of(parse_playbook(text, PLAYBOOK))
            except (HealthcheckError, OSError, ValueError):
                pass
        return self._known[sha256]
