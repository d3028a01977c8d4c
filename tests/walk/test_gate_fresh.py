"""Passes of yesterday: a gate measures a node alone again unless nothing that decides about its pass has changed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from healthcheck.simulator.gpu_names import gpu_uuid
from tests.walk.cli import Said, Shell

EVERYBODY = [f"node{n:02d}" for n in range(1, 9)]


def again(shell: Shell, *words: str) -> tuple[Said, list[str]]:
    """A gate that may reuse, and the nodes it measured alone."""
    said = shell("gate", "--simulate", "8", "--fresh-for", "24h", "-v", *words)
    return said, sorted(job.hosts[0] for job in shell.record().jobs if job.stage == "single_node")


def test_fresh_passes_are_reused_told_and_never_those_of_many_nodes(shell: Shell) -> None:
    assert shell("gate", "--simulate", "8", "-q").code == 0
    first = shell.record().run_id
    said, alone = again(shell)
    record = shell.record()
    assert said.code == 0 and alone == []
    assert [len(job.hosts) for job in record.jobs] == [8]
    reused = [check for check in record.checks if check.rule == "gate.reused"]
    assert sorted(check.component.text for check in reused) == EVERYBODY
    assert all(first in check.message.english for check in reused)
    folder = shell.folders()[-1]
    for page in ("report.md", "report.html", "junit.xml", "record.json"):
        assert first in (folder / page).read_text(), page
    assert first in said.err
    third, alone = again(shell)
    assert alone == [] and first in third.err, "age counts from the measurement, not from where it was reused"
    assert shell("rejudge", folder.name, "-q").code == 0


def test_what_differs_is_measured_again_with_the_reason(shell: Shell) -> None:
    shell("gate", "--simulate", "8", "-q")
    said, alone = again(shell, "--fault", "node03:driver=535.54.03")
    assert alone == ["node03"] and "measured again" in said.err
    said, alone = again(shell, "--healthy", "0.6")
    assert alone == EVERYBODY and "the limit of --healthy or --broken" in said.err
    said, alone = again(shell, "full")
    assert alone == EVERYBODY and "the playbook is not the same as then" in said.err
    said, alone = again(shell, "--seed", "9")
    assert alone == EVERYBODY and "no pass is as young as --fresh-for asks" in said.err


def test_what_a_short_gate_did_not_measure_is_no_pass_for_a_long_one(shell: Shell) -> None:
    shell("gate", "monthly", "--simulate", "8", "--budget", "1m", "-q")
    short = shell.record()
    assert {job.collective for job in short.jobs} == {"all_reduce"}
    _, alone = again(shell, "monthly", "--budget", "1m")
    assert alone == [], "as much as there is time for"
    said, alone = again(shell, "monthly", "--budget", "1h")
    assert sorted(set(alone)) == EVERYBODY and f"run {short.run_id} measured less of it" in said.err
    assert {job.collective for job in shell.record().jobs} == {"all_reduce", "all_gather"}
    _, alone = again(shell, "monthly", "--budget", "1m")
    assert alone == [], "the longer one serves the shorter one"


def test_other_gpus_of_the_same_node_are_measured(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    shell("gate", "--simulate", "8", "-q")

    def swapped(host: str, index: int) -> str:
        return gpu_uuid(host, index + 8 if (host, index) == ("node06", 3) else index)

    monkeypatch.setattr("healthcheck.simulator.nodes.gpu_uuid", swapped)
    said, alone = again(shell)
    assert alone == ["node06"] and "the set of GPUs was 8 (" in said.err


def test_a_pass_that_was_not_held_against_the_same_baseline_is_none(shell: Shell) -> None:
    for seed in ("1", "2", "3"):
        shell("run", "preflight", "--simulate", "8", "--run-seed", seed, "-o", "known", "-q")
    assert shell("baseline", "known", "-o", "first.json").code == 0
    shell("gate", "--simulate", "8", "-q", "--baseline", "first.json")
    Path("first.json").rename("other-name.json")
    said, alone = again(shell, "--baseline", "other-name.json")
    assert said.code == 0 and alone == [], "its numbers count, not its name"
    said, alone = again(shell)
    assert alone == EVERYBODY and "the baseline is not the same as then" in said.err


def test_a_pass_from_before_a_node_was_found_sick_holds_no_more(shell: Shell) -> None:
    shell("gate", "--simulate", "8", "-q")
    shell("gate", "--simulate", "8", "-q", "--fault", "node02:nvlink=0.75")
    said, alone = again(shell)
    assert alone == ["node02"]
    assert f"run {shell.folders()[1].name} found it" in said.err


def test_of_two_runs_of_one_second_the_one_that_speaks_against_a_node_counts(shell: Shell) -> None:
    shell("gate", "--simulate", "8", "-q")
    shell("gate", "--simulate", "8", "-q", "--fault", "node02:nvlink=0.75")
    healthy, sick = shell.folders()
    if json.loads((healthy / "record.json").read_text())["exit_code"] != 0:
        healthy, sick = sick, healthy
    began = json.loads((sick / "record.json").read_text())["started_at"]
    for folder, letters in ((healthy, "zzzz"), (sick, "aaaa")):
        record = json.loads((folder / "record.json").read_text())
        name = f"{sick.name[:-4]}{letters}"
        text = (folder / "record.json").read_text().replace(record["run_id"], name)
        (folder / "record.json").write_text(text.replace(record["started_at"], began))
        folder.rename(folder.with_name(name))
    (healthy.parent / "history.index").unlink()
    said, alone = again(shell)
    assert alone == ["node02"] and "-aaaa found it" in said.err


def test_an_old_pass_is_none_and_a_single_node_is_always_measured(shell: Shell) -> None:
    shell("gate", "--simulate", "8", "-q")
    shell("gate", "--simulate", "8", "--fresh-for", "0.001s", "-q")
    assert len([job for job in shell.record().jobs if job.stage == "single_node"]) == 8
    shell("gate", "--simulate", "1", "-q")
    said = shell("gate", "--simulate", "1", "--fresh-for", "1h", "--healthy-hosts", "one", "-q")
    assert said.code == 0 and [len(job.hosts) for job in shell.record().jobs] == [1]
    assert Path("one").read_text().endswith("\nnode01 slots=8\n")


def test_a_node_that_is_sick_today_is_never_passed_for_yesterday(shell: Shell) -> None:
    shell("gate", "--simulate", "8", "-q")
    said, alone = again(shell, "--fault", "node04:hca=mlx5_1,down")
    assert alone == ["node04"] and said.code == 1
    assert "the fresh look is not PASS" in said.err
