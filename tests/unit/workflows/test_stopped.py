"""Who ended a run is said of what was cut off by it: a person with Ctrl-C, or what sends SIGTERM or SIGHUP."""

from __future__ import annotations

import signal
from datetime import UTC, datetime
from pathlib import Path

import pytest

from healthcheck.edge.store import DirectoryStore
from healthcheck.model.command import Command, JobOutcome
from healthcheck.model.playbook import Playbook, Stage
from healthcheck.planning.stages import single_node_jobs
from healthcheck.ports import Event
from healthcheck.simulator.transport import VirtualClock
from healthcheck.workflows.engine import Cancel, Engine
from healthcheck.workflows.fanout import run_short
from healthcheck.workflows.jobs import Launch, run_jobs
from tests.unit.workflows.test_jobs import HOSTS, Place

BY_WHOM = pytest.mark.parametrize(
    ("signum", "who"),
    [
        (signal.SIGINT, "stopped by the user"),
        (signal.SIGTERM, "ended by SIGTERM, as Slurm's time limit, scancel or systemd send it"),
        (signal.SIGHUP, "ended by SIGHUP, as the end of a login sends it"),
    ],
)
COMMAND = Command(("mpirun",), 600, "t")


class _Quiet:
    def event(self, event: Event) -> None:
        pass


@BY_WHOM
def test_a_job_that_was_cut_off_says_by_whom(tmp_path: Path, signum: int, who: str) -> None:
    class Ends(VirtualClock):
        def sleep(self, seconds: float) -> None:
            super().sleep(seconds)
            cancel.set(signum)

    cancel, clock = Cancel(), Ends(datetime(2026, 1, 1, tzinfo=UTC))
    place = Place(clock, [], ends=False)
    engine = Engine(place, place, clock, _Quiet(), DirectoryStore.create(tmp_path, clock), cancel)
    (job,) = single_node_jobs(Playbook("x", ()), Stage("single_node"), HOSTS[:1])
    (ended,) = run_jobs([Launch(job, COMMAND, HOSTS[0], place, HOSTS[:1], 900.0)], lambda _: (), engine)
    assert isinstance(ended, JobOutcome) and str(ended.result.reason) == who


@BY_WHOM
def test_a_look_that_was_cut_off_says_by_whom(signum: int, who: str) -> None:
    clock, cancel = VirtualClock(datetime(2026, 1, 1, tzinfo=UTC)), Cancel()
    cancel.set(signum)
    result, _ = run_short(Place(clock, [], ends=False), HOSTS[0], COMMAND, cancel)
    assert str(result.reason) == who
