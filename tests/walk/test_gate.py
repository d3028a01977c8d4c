"""The pre-flight before a large job: within its budget, honest about what it left out, and with lists that hold."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest

from healthcheck.model.record import RunRecord
from healthcheck.model.verdict import Verdict
from healthcheck.reporting.summary import stdout_line
from healthcheck.simulator import nodes
from healthcheck.simulator.cluster import SimCluster, SimNode
from healthcheck.workflows import probing
from healthcheck.workflows import run as run_workflow
from healthcheck.workflows.engine import Engine
from healthcheck.workflows.ledger import Ledger
from tests.walk.cli import Shell

SLOW = "node05:hca=mlx5_2,slow=0.5"


def took_s(record: RunRecord) -> float:
    began, ended = (datetime.fromisoformat(text or "") for text in (record.started_at, record.finished_at))
    return (ended - began).total_seconds()


def codes(record: RunRecord) -> set[str]:
    return {note.code for note in record.notes}


@pytest.mark.parametrize("budget_s", [60, 300, 1800])
@pytest.mark.parametrize(
    ("fault", "job_s"),
    [
        ("node05:hang", 15),
        (SLOW, 15),
        (SLOW, 100),
        ("node05:unreachable", 15),
        ("node05:hca=mlx5_2,down", 40),
        ("leaf:l1-l2=0.5", 20),
        ("node05:intermittent=0.5", 25),
        ("noise=0.01", 1000),
    ],
)
def test_the_budget_holds_and_nothing_that_did_not_fit_is_green(
    shell: Shell, budget_s: int, fault: str, job_s: int
) -> None:
    words = ("--budget", f"{budget_s}s", "--fault", fault, "--job-seconds", str(job_s), "--simulate", "64", "-q")
    said = shell("gate", *words)
    record = shell.record()
    assert took_s(record) <= 1.1 * budget_s
    assert said.out.count("\n") == 1 and said.code in (0, 1, 3, 4)
    cut = [job for job in record.jobs if any(reason.code == "gate.job_cut" for reason in job.reasons)]
    assert all(job.verdict in (Verdict.INCONCLUSIVE, None) for job in cut)
    assert record.gate is not None
    for what in record.gate.left_out:
        assert what.english in said.out and what.english in (shell.folders()[-1] / "report.md").read_text()
    if record.verdict is Verdict.PASS:
        assert len(record.healthy_hosts) == 64 and not record.gate.left_out
    multi = [job for job in record.jobs if job.stage == "multi_node"]
    slow_together = any(job.judged_as in (Verdict.DEGRADED, Verdict.FAIL) for job in multi)
    if slow_together and record.search is None:
        assert any(what.code == "gate.left_out.search" for what in record.gate.left_out)


def test_a_budget_without_room_for_a_search_names_it(shell: Shell) -> None:
    said = shell("gate", "--simulate", "64", "--budget", "1m", "--fault", SLOW, "--job-seconds", "15")
    assert said.code == 1
    assert "left out: search, would need about" in said.out
    assert "left out for the budget of 1 min: search" in said.err


def test_a_stage_that_does_not_fit_is_left_out_and_inconclusive(shell: Shell) -> None:
    said = shell("gate", "--simulate", "64", "--budget", "30s", "--job-seconds", "2", "-q")
    record = shell.record()
    assert said.code == 3 and "left out: multi_node, would need about" in said.out
    assert not record.healthy_hosts
    assert any(check.rule == "stage.no_time" for check in record.checks)


def lists(name: str) -> tuple[str, str, str]:
    hostfile = "".join(line for line in Path(name).read_text().splitlines(True) if not line.startswith("#"))
    return hostfile, Path(f"{name}.slurm").read_text(), Path(f"{name}.txt").read_text()


def test_min_nodes_passes_on_the_proven_set_and_names_its_list(shell: Shell) -> None:
    words = ("--healthy-hosts", "ok.hosts", "--exclude-file", "out.hosts", "--min-nodes", "7")
    said = shell("gate", "--simulate", "8", "--fault", "node05:hca=mlx5_2,down", *words)
    record = shell.record()
    assert said.code == 0 and said.out.startswith("PASS 7/8 ready, use ok.hosts")
    assert {host.name for host in record.hosts if host.verdict is Verdict.FAIL} == {"node05"}
    assert record.gate is not None and record.gate.met is True and "gate.note.met" in codes(record)
    good = [f"node{n:02d}" for n in range(1, 9) if n != 5]
    hostfile, slurm, plain = lists("ok.hosts")
    assert hostfile.split("\n")[:-1] == [f"{name} slots=8" for name in record.healthy_hosts]
    assert slurm == "node[01-04,06-08]\n" and sorted(plain.split()) == good
    hostfile, slurm, plain = lists("out.hosts")
    assert (slurm, plain) == ("node05\n", "node05\n") and hostfile.startswith("node05")


def test_with_one_file_of_the_two_the_line_names_that(shell: Shell) -> None:
    said = shell("gate", "--simulate", "4", "--exclude-file", "out.hosts", "--min-nodes", "4", "-q")
    assert said.out.startswith("PASS 4/4 ready, exclude by out.hosts")
    assert lists("out.hosts") == ("", "\n", "")


def test_too_few_nodes_do_not_pass_even_where_degraded_is_allowed(shell: Shell) -> None:
    words = ("--healthy-hosts", "ok.hosts", "--min-nodes", "8", "--allow-degraded", "-q")
    said = shell("gate", "--simulate", "8", "--fault", "node05:nvlink=0.75", *words)
    assert said.code != 0 and "gate.note.unmet" in codes(shell.record())


@pytest.mark.parametrize("option", ["--healthy-hosts", "--exclude-file"])
def test_where_no_set_is_proven_and_so_no_list_is_there_nothing_passes(shell: Shell, option: str) -> None:
    words = ("gate", "slurm-gate", "--simulate", "16", "--budget", "40s", "--fault", "leaf:l1-l2=0.65", "-q")
    said = shell(*words, option, "list")
    assert said.out.startswith("DEGRADED 0/16 ready") and not list(Path().glob("list*"))
    assert said.code == shell.record().exit_code == 4, "the script that reads the list must not go on"
    assert shell("rejudge", str(shell.folders()[-1]), "-q").code == 4
    assert shell(*words).code == 0, "slurm-gate allows DEGRADED to whoever starts on all nodes"


def test_an_old_list_never_outlives_the_start_of_the_next_gate(shell: Shell) -> None:
    assert shell("gate", "--simulate", "4", "--healthy-hosts", "ok.hosts").code == 0
    assert Path("ok.hosts").exists()
    said = shell("gate", "--simulate", "4", "--healthy-hosts", "ok.hosts", "--fault", "node02:hca=mlx5_0,slow=0.5",
                 "--budget", "31s", "--job-seconds", "1")  # fmt: skip
    assert said.code != 0 and "use ok.hosts" not in said.out
    assert not list(Path().glob("ok.hosts*"))
    assert "removed lists of an earlier gate" in said.err and "ok.hosts was not written" in said.err


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("--min-nodes", "3"), "--healthy-hosts FILE or --exclude-file FILE"),
        (("--min-nodes", "9", "--exclude-file", "x"), "asks for 9 nodes, and 4 are named"),
        (("--budget", "5"), "--budget"),
        (("--budget", "10s"), "30s"),
        (("--fresh-for", "yesterday"), "--fresh-for"),
        (("--healthy-hosts", "none/x"), "there is no folder none"),
        (("--healthy-hosts", "."), "is no file"),
        (("--healthy-hosts", "reports"), "is a place of the results folder"),
        (("--exclude-file", "x.prom", "--metrics-file", "x.prom"), "would write x.prom over x.prom"),
        (("--healthy-hosts", "x", "--exclude-file", "x.txt"), "--exclude-file"),
    ],
)
def test_bad_wishes_are_one_sentence_and_touch_nothing(shell: Shell, words: tuple[str, ...], named: str) -> None:
    said = shell("gate", "--simulate", "4", *words)
    assert said.code == 2 and said.err.count("\n") == 1 and named in said.err and not said.out
    assert not shell.results.exists()


def test_a_hostfile_is_never_written_over(shell: Shell) -> None:
    Path("my.hosts").write_text("gpu-01\n")
    said = shell("gate", "-H", "my.hosts", "--healthy-hosts", "my.hosts")
    assert said.code == 2 and Path("my.hosts").read_text() == "gpu-01\n"


def test_a_node_that_booted_while_it_was_measured_is_on_no_list(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    def booted(ledger: Ledger, engine: Engine) -> None:
        def other(cluster: SimCluster, node: SimNode, text: str) -> str:
            told = nodes.identity(cluster, node, text)
            return told.replace("boot_id ", "boot_id 9") if node.name == "node02" else told

        monkeypatch.setitem(nodes.PARTS, "identity", other)
        real(ledger, engine)

    real = probing.probe_after
    monkeypatch.setattr(run_workflow, "probe_after", booted)
    said = shell("gate", "--simulate", "4", "--healthy-hosts", "ok", "-q")
    record = shell.record()
    assert (said.code, record.hosts[1].verdict) == (3, Verdict.INCONCLUSIVE)
    assert "node02 it booted while it was measured" in said.out
    assert "node02" not in record.healthy_hosts and lists("ok")[2].split() == ["node01", "node03", "node04"]
    again = shell("rejudge", str(shell.folders()[-1]), "-q")
    assert again.code == 3


def test_json_is_the_record_and_the_playbook_of_a_slurm_job_is_its_own(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(os.environ, "SLURM_JOB_ID", "12")
    said = shell("gate", "--simulate", "4", "--json")
    document = json.loads(said.out)
    assert document["playbook"]["name"] == "slurm-gate" and document["gate"]["asked"]["budget_s"] == 300
    monkeypatch.delitem(os.environ, "SLURM_JOB_ID")
    shell("gate", "--simulate", "4", "-q")
    assert shell.record().playbook.name == "preflight"


def _gone(folder: Path) -> None:
    shutil.rmtree(folder)


def _in_its_place(folder: Path) -> None:
    (folder / "ok.hosts").mkdir()


@pytest.mark.parametrize("becomes", [_gone, _in_its_place])
@pytest.mark.parametrize("more", [(), ("--min-nodes", "3"), ("--allow-degraded",)])
def test_lists_that_cannot_be_written_are_no_pass_anywhere(
    shell: Shell,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    becomes: Callable[[Path], None],
    more: tuple[str, ...],
) -> None:
    folder = tmp_path / "lists"
    folder.mkdir()

    def meanwhile(ledger: Ledger, engine: Engine) -> None:
        becomes(folder)
        real(ledger, engine)

    real = probing.probe_after
    monkeypatch.setattr(run_workflow, "probe_after", meanwhile)
    healthy = str(folder / "ok.hosts")
    fault = ("--fault", "node02:driver=535.54.03") if "--allow-degraded" in more else ()
    said = shell("gate", "--simulate", "4", "--healthy-hosts", healthy, *more, *fault, "-q", "--json")
    record = shell.record()
    document = json.loads(said.out)
    assert said.code == document["exit_code"] == record.exit_code == 3
    assert document["verdict"] == record.verdict.name == "INCONCLUSIVE"
    assert said.err.startswith(f"error: {healthy} not written: ") and said.err.count("\n") == 1
    assert stdout_line(record).startswith("INCONCLUSIVE ") and f"{healthy} not written: " in stdout_line(record)
    assert ", use " not in stdout_line(record), "nobody is sent to a list that is not there"
    assert len(record.proven_together) == 4 and record.gate is not None, "what was measured is kept"
    assert "a list to start with is missing" in (shell.folders()[-1] / "report.md").read_text()
    assert not [path for path in folder.rglob("*") if path.is_file()], "half a list is none"
    again = shell("rejudge", str(shell.folders()[-1]), "-q")
    assert (again.code, again.out.split()[0]) == (3, "INCONCLUSIVE")


def test_a_gate_that_fails_is_no_milder_without_its_lists(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "lists"
    folder.mkdir()

    def meanwhile(ledger: Ledger, engine: Engine) -> None:
        shutil.rmtree(folder)
        real(ledger, engine)

    real = probing.probe_after
    monkeypatch.setattr(run_workflow, "probe_after", meanwhile)
    words = ("--exclude-file", str(folder / "out"), "--fault", "node02:hca=mlx5_2,down")
    said = shell("gate", "--simulate", "4", *words, "-q")
    assert said.code == shell.record().exit_code == 1
    assert said.out.startswith("FAIL 3/4 ready, ") and "out not written: " in said.out
