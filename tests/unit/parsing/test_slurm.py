"""What squeue prints: real lines of Slurm 22.05, and what must never be taken for an idle cluster."""

from __future__ import annotations

import pytest

from healthcheck.parsing.slurm import SQUEUE, is_own, is_unconfigured, own_jobs, read_squeue

RECORDED = """\
1|root|COMPLETING|g[1-3]
2|root|SUSPENDED|g6
8_1|mlteam|RUNNING|gpu[001-002,007],login1
9+1|alice@corp.example|CONFIGURING|dgx-a.example.org
10|bob|CONFIGURING|
11|bob|RUNNING|(null)
"""


def test_every_job_with_its_nodes_written_out() -> None:
    answer = read_squeue(RECORDED)
    assert answer.unread == ()
    assert [(job.job, job.user, job.state, job.nodes) for job in answer.jobs] == [
        ("1", "root", "COMPLETING", ("g1", "g2", "g3")),
        ("2", "root", "SUSPENDED", ("g6",)),
        ("8_1", "mlteam", "RUNNING", ("gpu001", "gpu002", "gpu007", "login1")),
        ("9+1", "alice@corp.example", "CONFIGURING", ("dgx-a.example.org",)),
    ]
    assert answer.jobs[0].line == "1|root|COMPLETING|g[1-3]"


def test_nothing_is_an_idle_cluster_and_the_name_of_a_cluster_is_no_job() -> None:
    assert read_squeue("") == read_squeue("\nCLUSTER: lab\n") == read_squeue("\r\n")


@pytest.mark.parametrize(
    "line",
    [
        "slurm_load_jobs error: Unable to contact slurm controller (connect failure)",
        "JOBID PARTITION NAME USER ST TIME NODES NODELIST(REASON)",
        "1|root|RUNNING",
        "1|root|RUNNING|g[1-",
        "1|root|RUNNING|g[1-99999999]",
        "1|root|RUNNING|g1;reboot",
        "1|root|RUNNING|-oProxyCommand=x",
        "one|root|RUNNING|g1",
        "1|a|b|RUNNING|g1",
        "1_[5-|root|RUNNING|g1",
        "1|root|läuft|g1",
        "\x1b[31m1|root|RUNNING|g1\x1b[0m",
        "x" * 100_000,
    ],
)
def test_a_line_nobody_understands_is_kept_and_the_others_still_count(line: str) -> None:
    answer = read_squeue(f"7|alice|RUNNING|g7\n{line}\n")
    assert [job.nodes for job in answer.jobs] == [("g7",)]
    assert len(answer.unread) == 1 and len(answer.unread[0].line) <= 200


@pytest.mark.parametrize(
    ("line", "job", "user", "nodes"),
    [
        ("4711|alice smith|RUNNING|gpu1", "4711", "alice smith", ("gpu1",)),
        ("4711|CORP\\alice smith|RUNNING|gpu1", "4711", "CORP\\alice smith", ("gpu1",)),
        ("4711_3+0|bob|RUNNING|gpu1", "4711_3+0", "bob", ("gpu1",)),
        ("4711_[5-9]|bob|CONFIGURING|gpu001", "4711_[5-9]", "bob", ("gpu001",)),
        ("4711_[1,3-9%2]|bob|CONFIGURING|gpu001", "4711_[1,3-9%2]", "bob", ("gpu001",)),
        ("4711_[1-9:2,...]|bob|CONFIGURING|gpu001", "4711_[1-9:2,...]", "bob", ("gpu001",)),
        ("4711|bob|RUNNING|GPU-01.", "4711", "bob", ("GPU-01",)),
        ("4711|bob|RUNNING|gpu-01.lab.,gpu-02.lab.", "4711", "bob", ("gpu-01.lab", "gpu-02.lab")),
    ],
)
def test_users_with_blanks_arrays_heterogeneous_jobs_and_whole_names(
    line: str, job: str, user: str, nodes: tuple[str, ...]
) -> None:
    answer = read_squeue(line)
    assert answer.unread == ()
    assert [(one.job, one.user, one.nodes) for one in answer.jobs] == [(job, user, nodes)]


@pytest.mark.parametrize(
    ("line", "may_hold", "not_held"),
    [
        ("4711;alice;RUNNING;gpu001", ("gpu001",), ("gpu002", "gpu0011", "gpu00")),
        ("x|y|RUNNING|GPU-01.lab.example.", ("gpu-01", "gpu-01.lab.example"), ("gpu-011", "lab")),
        ("x|y|RUNNING|gpu[001-004],login1", ("gpu001", "gpu004", "login1"), ("gpu005", "login")),
        ("1|root|RUNNING|g[1-", ("g1", "g77"), ("gpu1", "g")),
        ("1|root|RUNNING|g[1-99999999]", ("g1", "g77"), ("gpu1", "g")),
        ("1|root|RUNNING|" + "other," * 200 + "gpu7|", ("gpu7",), ("gpu8",)),
    ],
)
def test_a_line_nobody_understands_may_hold_every_node_that_stands_in_it(
    line: str, may_hold: tuple[str, ...], not_held: tuple[str, ...]
) -> None:
    (unread,) = read_squeue(line).unread
    assert [name for name in (*may_hold, *not_held) if unread.may_hold(name)] == list(may_hold)


def test_megabytes_of_garbage_cost_little_and_are_not_kept() -> None:
    answer = read_squeue("no such thing as a job\n" * 200_000)
    assert answer.jobs == () and 0 < len(answer.unread) <= 20
    many = read_squeue("".join(f"x|y|z|gpu[{n}-{n + 9_000}]\n" for n in range(3_000)))
    assert len(many.unread) <= 3_000 and sum(len(one.names) for one in many.unread) < 100_000


def test_the_job_we_run_in_is_known_by_every_id_squeue_may_print_for_it() -> None:
    assert own_jobs({}) == ()
    assert own_jobs({"SLURM_JOB_ID": "4711"}) == ("4711",)
    array = own_jobs({"SLURM_JOB_ID": "4713", "SLURM_ARRAY_JOB_ID": "4711", "SLURM_ARRAY_TASK_ID": "2"})
    assert is_own("4711_2", array) and is_own("4713", array)
    assert not is_own("4711_1", array) and not is_own("4711", array) and not is_own("471", array)
    assert is_own("4711+1", ("4711",))


def test_only_jobs_that_hold_nodes_are_asked_for_and_all_at_once() -> None:
    assert SQUEUE == (
        "squeue",
        "--noheader",
        "--states=RUNNING,COMPLETING,SUSPENDED,CONFIGURING",
        "--format=%i|%u|%T|%N",
    )


@pytest.mark.parametrize(
    ("stderr", "alone"),
    [
        (
            "squeue: error: s_p_parse_file: cannot stat file /etc/slurm/slurm.conf: No such file or directory, "
            "retrying in 1sec up to 60sec\n",
            True,
        ),
        ("squeue: fatal: Could not establish a configuration source\n", True),
        ("slurm_load_jobs error: Unable to contact slurm controller (connect failure)\n", False),
        ("", False),
    ],
)
def test_a_machine_of_no_cluster_is_told_from_a_scheduler_that_is_down(stderr: str, alone: bool) -> None:
    assert is_unconfigured(stderr) is alone
