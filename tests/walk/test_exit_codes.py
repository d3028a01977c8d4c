"""Every exit code of the contract, each reached the way a user would reach it."""

from __future__ import annotations

import json
import os
import signal
import threading
from pathlib import Path

import pytest

from healthcheck.workflows import run as run_workflow
from healthcheck.workflows import stage as stage_workflow
from tests.walk.cli import Shell


def test_0_a_healthy_cluster(shell: Shell) -> None:
    said = shell("run", "--simulate", "8")
    assert said.code == 0
    assert said.out.startswith("PASS 8/8 ready") and said.out.count("\n") == 1
    assert "simulated" in said.out
    assert shell.record().healthy_hosts == tuple(f"node{n:02d}" for n in range(1, 9))


@pytest.mark.parametrize(
    ("fault", "component"),
    [
        ("node05:hca=mlx5_2,rate=0.5", "node05/hca:mlx5_2"),
        ("node05:hca=mlx5_2,down", "node05/hca:mlx5_2"),
        ("node02:corrupt", "node02"),
        ("node07:hang", "node07"),
        ("node01:gpus=7", "node01"),
        ("node03:nvlink=0.3", "node03"),
    ],
)
def test_1_a_broken_part_is_named_and_left_out(shell: Shell, fault: str, component: str) -> None:
    said = shell("run", "--simulate", "8", "--fault", fault)
    record = shell.record()
    assert said.code == 1, said.err
    assert component in {str(check.component) for check in record.checks if check.verdict.name == "FAIL"}
    sick = component.partition("/")[0]
    assert [host.name for host in record.hosts if host.verdict.name == "FAIL"] == [sick]
    assert sick in record.excluded_hosts and sick not in record.healthy_hosts
    assert len(record.healthy_hosts) == 7


def test_2_bad_input_touches_nothing(shell: Shell) -> None:
    said = shell("run", "--simulate", "8", "--fault", "node99:hang")
    assert said.code == 2
    assert said.err.count("\n") == 1 and "node99" in said.err
    assert not shell.results.exists()


@pytest.mark.parametrize("fault", ["node07:unreachable", "node08:busy"])
def test_3_an_unmeasured_node_makes_the_run_inconclusive(shell: Shell, fault: str) -> None:
    said = shell("run", "--simulate", "8", "--fault", fault)
    record = shell.record()
    assert said.code == 3
    sick = fault.partition(":")[0]
    host = next(host for host in record.hosts if host.name == sick)
    assert host.verdict.name == ("SKIPPED" if "busy" in fault else "INCONCLUSIVE")
    assert host.reasons
    assert not [job for job in record.jobs if sick in job.hosts], "a node set aside must not be loaded"


def test_a_busy_node_is_measured_only_when_asked_for(shell: Shell) -> None:
    shell("run", "--simulate", "4", "--fault", "node02:busy", "--allow-busy")
    assert [job for job in shell.record().jobs if "node02" in job.hosts]


def test_4_a_slow_node_degrades_the_run(shell: Shell) -> None:
    assert shell("run", "--simulate", "4", "--fault", "node03:hca=mlx5_1,rate=0.75").code == 4
    assert shell("run", "--simulate", "4", "--fault", "node03:hca=mlx5_1,rate=0.75", "--allow-degraded").code == 0


def test_70_a_bug_of_ours_is_no_traceback(shell: Shell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("planted by the test")

    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setattr(run_workflow, "probe_before", broken)
    said = shell("run", "--simulate", "2")
    assert said.code == 70
    assert "Traceback" not in said.err and "bug of healthcheck" in said.err
    log = next(tmp_path.glob("healthcheck-bug-*.log"))
    assert "planted by the test" in log.read_text()
    assert shell.record().state == "incomplete"


@pytest.mark.parametrize(
    ("signum", "code", "who"),
    [
        (signal.SIGINT, 130, "stopped by the user"),
        (signal.SIGTERM, 143, "ended by SIGTERM, as Slurm's time limit, scancel or systemd send it"),
        (signal.SIGHUP, 129, "ended by SIGHUP, as the end of a login sends it"),
    ],
)
def test_130_143_and_129_keep_what_was_measured_and_say_who_ended_it(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, signum: signal.Signals, code: int, who: str
) -> None:
    asked = stage_workflow.run_stage

    def interrupted_before_the_second_stage(*arguments: object) -> None:
        asked(*arguments)  # type: ignore[arg-type] # flags of mixed types
        if threading.current_thread() is threading.main_thread():
            os.kill(os.getpid(), signum)

    monkeypatch.setattr("healthcheck.workflows.run.run_stage", interrupted_before_the_second_stage)
    said = shell("run", "--simulate", "4")
    record = shell.record()
    assert said.code == code
    assert record.state == "interrupted" and record.exit_code == code
    assert len([job for job in record.jobs if job.judged_as.name == "PASS"]) == 4
    assert record.healthy_hosts == ()
    for page in ("report.html", "report.md", "suggested-actions.sh"):
        text = (shell.folders()[-1] / page).read_text().replace("&#39;", "'").replace("\n# ", " ")
        assert f"INTERRUPTED RUN: {who}" in text, page
    assert f"INTERRUPTED RUN: {who}" in " ".join(said.err.split())

    monkeypatch.setattr("healthcheck.workflows.run.run_stage", asked)
    again = shell("run", "--resume", record.run_id)
    resumed = shell.record()
    assert again.code == 0 and resumed.state == "complete"
    before = {job.id: job.started_at for job in record.jobs}
    assert before.items() <= {job.id: job.started_at for job in resumed.jobs}.items(), "measured twice"


def test_json_is_one_document_and_nothing_else(shell: Shell) -> None:
    said = shell("run", "--simulate", "2", "--json")
    document = json.loads(said.out)
    assert document["schema"] == "healthcheck.run/1" and document["simulated"] is True
    assert document["verdict"] == "PASS" and document["state"] == "complete"


def test_plan_and_dry_run_touch_nothing(shell: Shell) -> None:
    planned = shell("plan", "full", "--simulate", "4")
    dry = shell("run", "full", "--simulate", "4", "--dry-run")
    assert planned.code == dry.code == 0
    assert planned.out == dry.out
    assert "single_node: 4 jobs" in planned.out and "mpirun -np 32" in planned.out
    assert not shell.results.exists()


def test_probe_starts_no_benchmark(shell: Shell) -> None:
    said = shell("probe", "--simulate", "4", "--fault", "node02:hca=mlx5_0,down")
    assert said.code == 1
    assert shell.record().jobs == ()


@pytest.mark.parametrize(("broken", "code", "verdict"), [(0.98, 1, "INCONCLUSIVE"), (0.5, 4, "DEGRADED")])
def test_a_slow_fabric_alone_makes_no_node_healthy(
    shell: Shell, tmp_path: Path, broken: float, code: int, verdict: str
) -> None:
    # Limits that no fabric meets: a planted fault would be seen on its node, and this one is between the nodes.
    book = tmp_path / "strict.yaml"
    book.write_text(
        f"name: strict\nthresholds: {{healthy: 0.99, broken: {broken}}}\n"
        "stages: [{name: probe}, {name: multi_node, sizes: {min: 1G, max: 2G}}]\n"
    )
    said = shell("run", str(book), "--simulate", "4")
    record = shell.record()
    assert said.code == code
    assert {host.verdict.name for host in record.hosts} == {verdict}
    assert record.healthy_hosts == () and len(record.excluded_hosts) == 4
    assert all("nothing was measured" not in str(reason) for host in record.hosts for reason in host.reasons)


def test_every_host_stands_in_one_of_the_two_lists(shell: Shell) -> None:
    shell("run", "--simulate", "2", "--fault", "node01:unreachable")
    record = shell.record()
    assert set(record.healthy_hosts) | set(record.excluded_hosts) == {"node01", "node02"}


@pytest.mark.parametrize(
    ("only", "said"), [("probe", "no bandwidth measured"), ("single_node", "measured alone, none together")]
)
def test_what_was_not_asked_for_is_not_claimed(shell: Shell, only: str, said: str) -> None:
    line = shell("run", "--simulate", "4", "--only", only)
    assert line.code == 0 and said in line.out and "ready" not in line.out
    assert "Do not start" not in line.err


def test_numbers_taken_beside_others_say_so(shell: Shell) -> None:
    shell("run", "--simulate", "4", "--fault", "node02:busy", "--allow-busy")
    host = next(host for host in shell.record().hosts if host.name == "node02")
    assert any("beside GPU processes of others" in str(reason) for reason in host.reasons)


def test_every_collective_of_a_healthy_cluster_passes(shell: Shell, tmp_path: Path) -> None:
    book = tmp_path / "all.yaml"
    names = "all_reduce, all_gather, reduce_scatter, alltoall, broadcast, reduce, sendrecv"
    sweep = "sizes: {min: 8, max: 4G, factor: 2}"
    book.write_text(
        f"name: all\nstages:\n- name: single_node\n  collectives: [{names}]\n  {sweep}\n"
        f"- name: multi_node\n  collectives: [{names}]\n  {sweep}\n"
    )
    said = shell("run", str(book), "--simulate", "4")
    assert said.code == 0, said.err
    assert len(shell.record().jobs) == 7 * 4 + 7


def test_an_interrupted_demo_leaves_a_report_too(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = stage_workflow.run_stage

    def interrupted(*arguments: object) -> None:
        asked(*arguments)  # type: ignore[arg-type] # flags of mixed types
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr("healthcheck.workflows.run.run_stage", interrupted)
    said = shell("demo", "--nodes", "2", "--fault", "node02:unreachable", "-q")
    assert said.code == 130
    assert said.out.startswith("INCONCLUSIVE 0/2 ready") and "interrupted" in said.out
    assert (shell.folders()[-1] / "report.html").exists()


@pytest.mark.parametrize(("wanted", "code"), [("2.*", 0), ("1.*", 4)])
def test_a_pinned_nccl_is_held_against_what_the_jobs_loaded(
    shell: Shell, tmp_path: Path, wanted: str, code: int
) -> None:
    playbook = tmp_path / "pinned.yaml"
    quick = Path(__file__).parents[2] / "playbooks" / "quick.yaml"
    playbook.write_text(f'{quick.read_text()}\npins: {{nccl: "{wanted}"}}\n')
    said = shell("run", str(playbook), "--simulate", "2")
    assert said.code == code, said.err
    found = {check.rule for check in shell.record().checks if check.check == "fleet.pin"}
    assert found == {"pin.met" if code == 0 else "pin.differs"}
