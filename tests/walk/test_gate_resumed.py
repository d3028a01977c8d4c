"""A gate that was interrupted goes on: with what is measured, in what is left of its budget, and says so."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from healthcheck.model.record import RunRecord
from healthcheck.workflows import stage as stage_workflow
from tests.walk.cli import Said, Shell
from tests.walk.test_gate import codes, took_s

SLOW = "node05:hca=mlx5_2,slow=0.5"
Stopped = Callable[..., RunRecord]


@pytest.fixture
def stopped(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> Stopped:
    """A gate over 64 simulated nodes that is stopped once all of them were measured alone."""

    def interrupted(*words: str) -> RunRecord:
        whole = stage_workflow.run_stage

        def then_stop(*arguments: object) -> None:
            whole(*arguments)  # type: ignore[arg-type] # as it was called
            os.kill(os.getpid(), signal.SIGTERM)

        with monkeypatch.context() as patched:
            patched.setattr("healthcheck.workflows.run.run_stage", then_stop)
            assert shell("gate", "--simulate", "64", "-q", *words).code == 143
        return shell.record()

    return interrupted


def goes_on(shell: Shell, record: RunRecord, *words: str) -> tuple[Said, RunRecord]:
    said = shell(*(words or ("run",)), "--resume", record.run_id, "-q")
    return said, shell.record()


def test_the_time_before_counts_and_nothing_is_measured_twice(shell: Shell, stopped: Stopped) -> None:
    before = stopped("--budget", "3m", "--job-seconds", "40")
    said, after = goes_on(shell, before)
    assert said.code == 0 and after.state == "complete" and after.gate is not None
    assert after.gate.used_s == pytest.approx(took_s(before), abs=2) and after.gate.used_s >= 40
    assert took_s(before) + took_s(after) <= 1.1 * 180
    began = {job.id: job.started_at for job in before.jobs}
    assert len(began) == 64
    assert began.items() <= {job.id: job.started_at for job in after.jobs}.items(), "measured twice"
    (told,) = [str(note) for note in after.notes if note.code == "gate.note.resumed"]
    assert told.startswith("taken up again: ") and "of the budget of 3 min were used" in told


def test_what_is_left_decides_what_still_fits(shell: Shell, stopped: Stopped) -> None:
    words = ("--budget", "5m", "--job-seconds", "100", "--fault", SLOW)
    _, after = goes_on(shell, stopped(*words))
    assert after.gate is not None and after.gate.left_out, "a search fits into the whole budget, not into the rest"
    assert "gate.note.left_out" in codes(after)


def test_a_gate_without_time_left_begins_nothing(shell: Shell, stopped: Stopped) -> None:
    before = stopped("--budget", "45s", "--job-seconds", "16")
    said = shell("run", "--resume", before.run_id)
    assert (said.code, said.out, said.err.count("\n")) == (2, "", 1)
    assert "of its budget of 45s when it was interrupted" in said.err and "--fresh-for" in said.err
    assert shell.record() == before


def test_of_a_gate_that_was_killed_the_last_job_tells_how_long_it_ran(shell: Shell, stopped: Stopped) -> None:
    before = stopped("--budget", "3m", "--job-seconds", "40")
    path = shell.folders()[-1] / "record.json"
    record = json.loads(path.read_text())
    record |= {"state": "incomplete", "finished_at": None, "exit_code": None, "gate": None}
    record["owner"] |= {"pid_started": "1"}
    path.write_text(json.dumps(record))
    _, after = goes_on(shell, before)
    assert after.gate is not None and 40 <= after.gate.used_s <= took_s(before) + 2


def test_what_was_shortened_stays_told(shell: Shell, stopped: Stopped) -> None:
    before = stopped("full", "--budget", "1m", "--job-seconds", "2")
    assert before.gate is not None and before.gate.shortened
    _, after = goes_on(shell, before)
    assert after.gate is not None and after.gate.shortened[: len(before.gate.shortened)] == before.gate.shortened


def test_a_search_that_was_left_out_has_the_time_it_is_given(shell: Shell) -> None:
    shell("gate", "--simulate", "64", "--budget", "1m", "--fault", SLOW, "--min-nodes", "60", "--exclude-file", "out")
    before = shell.record()
    assert before.search is None and before.gate is not None and before.gate.left_out
    said, after = goes_on(shell, before, "localise", "--budget", "30m")
    assert said.code == 0 and said.out.startswith("PASS 63/64 ready")
    assert after.gate is not None and not after.gate.left_out and after.gate.asked.budget_s == 1800
    assert shell("localise", "--resume", before.run_id, "--budget", "5s").code == 2


def test_its_lists_are_where_they_were_asked_for_wherever_it_goes_on(
    shell: Shell, stopped: Stopped, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = stopped("--healthy-hosts", "start.hosts")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "start.hosts").write_text("the hostfile of somebody\n")
    monkeypatch.chdir(elsewhere)
    said = shell("run", "--resume", str(shell.results / before.run_id), "-q")
    assert said.code == 0 and f", use {tmp_path / 'start.hosts'}" in said.out
    assert (elsewhere / "start.hosts").read_text() == "the hostfile of somebody\n"
    assert len((tmp_path / "start.hosts.txt").read_text().split()) == 64


def test_what_stands_in_the_way_of_a_list_is_told_before_it_goes_on(shell: Shell, stopped: Stopped) -> None:
    before = stopped("--healthy-hosts", "start.hosts")
    Path("start.hosts").symlink_to("yesterday")
    said = shell("run", "--resume", before.run_id)
    assert (said.code, said.out) == (2, "") and "start.hosts is a symbolic link" in said.err
    assert shell.record() == before


@pytest.mark.parametrize("ago", [timedelta(days=1), timedelta(minutes=64 + 2), timedelta(hours=-1)])
def test_what_was_measured_long_ago_starts_no_job_today(shell: Shell, stopped: Stopped, ago: timedelta) -> None:
    folder = _moved(shell, stopped("--budget", "4m"), ago)
    said = shell("run", "--resume", folder.name)
    assert (said.code, said.out, said.err.count("\n")) == (2, "", 1)
    assert f"{folder.name} began to measure at " in said.err and "begin a new gate" in said.err


def test_a_gate_goes_on_within_the_hour(shell: Shell, stopped: Stopped) -> None:
    folder = _moved(shell, stopped("--budget", "4m"), timedelta(minutes=50))
    assert shell("run", "--resume", folder.name, "-q").code == 0


def test_a_search_is_made_up_for_within_a_day(shell: Shell) -> None:
    shell("gate", "--simulate", "64", "--budget", "1m", "--fault", SLOW, "--min-nodes", "60", "--exclude-file", "out")
    folder = _moved(shell, shell.record(), timedelta(hours=25))
    said = shell("localise", "--resume", folder.name, "--budget", "30m")
    assert (said.code, said.out) == (2, "") and "began to measure at " in said.err
    _moved(shell, shell.record(), timedelta(hours=-2))
    assert shell("localise", "--resume", folder.name, "--budget", "30m", "-q").out.startswith("PASS 63/64 ready")


def test_a_pass_that_a_run_took_over_is_as_old_as_its_measurement(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = stage_workflow.run_stage

    def then_stop(*arguments: object) -> None:
        whole(*arguments)  # type: ignore[arg-type] # as it was called
        os.kill(os.getpid(), signal.SIGTERM)

    with monkeypatch.context() as patched:
        patched.setattr("healthcheck.workflows.run.run_stage", then_stop)
        assert shell("run", "slurm-gate", "--simulate", "4", "-q").code == 143
    folder = _moved(shell, shell.record(), timedelta(hours=25))
    assert shell("run", "--resume", folder.name, "-q").code == 0
    shell("gate", "slurm-gate", "--simulate", "4", "--fresh-for", "26h", "-q")
    assert (gate := shell.record().gate) is not None and len(gate.reused) == 4
    shell("gate", "slurm-gate", "--simulate", "4", "--fresh-for", "24h", "-q")
    assert (gate := shell.record().gate) is not None and gate.reused == ()


def _moved(shell: Shell, record: RunRecord, ago: timedelta) -> Path:
    """As if all of it had happened so much earlier; a second start of a run has a time of its own."""
    folder = shell.results / record.run_id
    for path in (folder / "record.json", *folder.rglob("outcome.json")):
        document = json.loads(path.read_text())
        for key in ("started_at", "finished_at"):
            if document.get(key):
                when = datetime.fromisoformat(document[key]) - ago
                document[key] = when.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        path.write_text(json.dumps(document))
    return folder
