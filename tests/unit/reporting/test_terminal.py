"""The end of a run on a terminal of any width."""

from __future__ import annotations

import random
import re

import pytest
from msgspec.structs import replace

from healthcheck.model.message import say
from healthcheck.model.record import RunRecord
from healthcheck.model.verdict import Verdict
from healthcheck.reporting.markdown import render_markdown
from healthcheck.reporting.summary import stdout_line, terminal_summary
from healthcheck.reporting.text_width import width_of
from healthcheck.reporting.view import start_lines
from tests.golden.records import healthy, interrupted, multi, names, sick, single
from tests.golden.searched import searched


@pytest.mark.parametrize("width", [60, 72, 80, 96])
@pytest.mark.parametrize("record", [sick(), interrupted(), healthy(4)], ids=["sick", "interrupted", "healthy"])
def test_verdicts_stand_below_each_other_whatever_was_not_measured(record: RunRecord, width: int) -> None:
    table = [
        line for line in terminal_summary(record, width) if line.startswith(("  Inside a node", "  Between nodes"))
    ]
    words = ("PASS", "DEGRADED", "INCONCLUSIVE", "FAIL")
    assert len({max(line.rfind(f"  {word}") for word in words) for line in table}) == 1
    assert max(map(len, table)) <= width


def test_long_names_wrap_in_their_own_column() -> None:
    hosts = names(40)
    left = tuple(name for place, name in enumerate(hosts) if place % 3)
    record = replace(
        healthy(40),
        jobs=(
            multi(hosts, 96.9, Verdict.FAIL, "multi_node.all_reduce.found"),
            multi(left, 191.9, Verdict.PASS, "multi_node.all_reduce.proven"),
        ),
    )
    lines = terminal_summary(record, 80)
    first = next(place for place, line in enumerate(lines) if "without" in line)
    assert lines[first].endswith("PASS")
    assert lines[first + 1].startswith(" " * 15)
    assert all(len(line) <= 80 for line in lines[first : first + 4])


def test_slow_nodes_beyond_the_table_are_counted_and_named() -> None:
    jobs = tuple(single(name, 20.0 + 8 * place, Verdict.FAIL) for place, name in enumerate(names(16)))
    lines = terminal_summary(replace(healthy(16), jobs=jobs), 96)
    assert "  and 4 more jobs that are not PASS: node[13-16]" in lines


def test_with_several_collectives_each_row_names_its_own() -> None:
    hosts = names(2)
    both = tuple(
        replace(multi(hosts, 190.0, Verdict.PASS, f"multi_node.{name}"), collective=name)
        for name in ("all_reduce", "all_gather")
    )
    text = "\n".join(terminal_summary(replace(healthy(2), jobs=both), 96))
    assert "all_reduce" in text
    assert "all_gather" in text
    assert "all_reduce" not in "\n".join(terminal_summary(healthy(2), 96))


def test_a_simulated_run_never_just_says_start_now() -> None:
    lines = [line for line in terminal_summary(sick(), 96) if "start now" in line]
    assert lines
    assert all("start now (simulated)" in line for line in lines)
    assert "(simulated)" not in "\n".join(terminal_summary(healthy(), 96))


def test_an_interrupted_run_says_how_to_go_on() -> None:
    run_id = interrupted().run_id
    assert f"  go on      healthcheck run --resume {run_id}" in terminal_summary(interrupted(), 80, f"reports/{run_id}")
    text = "\n".join(terminal_summary(interrupted(), 80, f"/srv/my runs/{run_id}"))
    assert f"healthcheck run --resume '/srv/my runs/{run_id}'" in text
    assert "--resume" not in "\n".join(terminal_summary(healthy(), 80))


@pytest.mark.parametrize("width", [80, 96])
@pytest.mark.parametrize("verbose", [False, True])
@pytest.mark.parametrize(
    "record", [sick(), interrupted(), healthy(40), searched()], ids=["sick", "interrupted", "healthy", "searched"]
)
def test_no_line_is_wider_than_the_terminal(record: RunRecord, width: int, verbose: bool) -> None:
    assert max(map(width_of, terminal_summary(record, width, verbose=verbose))) <= width


def test_causes_and_remedies_stand_in_one_column_and_below_their_part_where_it_is_narrow() -> None:
    wide, narrow = terminal_summary(sick(), 96), terminal_summary(sick(), 80)
    column = next(line.index("the port runs") for line in wide if "the port runs" in line)
    assert {line.index("-> ") for line in wide if "-> " in line} == {column}
    place = narrow.index("  1 FAIL          node05/hca:mlx5_2")
    assert narrow[place + 1].startswith(" " * 18 + "the port runs")


def test_all_leafs_are_shown_up_to_16_and_above_that_only_what_is_not_well() -> None:
    assert "  l16  ....  4 of 4 PASS" in terminal_summary(healthy(64), 96)
    for nodes, groups in ((68, 17), (260, 65), (4096, 1024)):
        lines = terminal_summary(healthy(nodes), 96)
        assert f"  {groups} groups all PASS, {nodes} nodes" in lines
        assert not any("4 of 4 PASS" in line for line in lines)


def _with(verdicts: dict[int, Verdict], nodes: int) -> RunRecord:
    record = healthy(nodes, per_leaf=8)
    hosts = tuple(
        replace(host, verdict=verdicts.get(place, host.verdict)) for place, host in enumerate(record.hosts, start=1)
    )
    return replace(record, hosts=hosts)


def test_leafs_that_look_the_same_share_a_row_with_all_their_nodes_named() -> None:
    gone = dict.fromkeys(range(161, 1025), Verdict.INCONCLUSIVE)
    lines = terminal_summary(_with({**gone, 13: Verdict.FAIL, 29: Verdict.FAIL}, 1024), 96)
    assert "  l[2,4]     ....F...  7 of 8 PASS each   FAIL node[0013,0029]" in lines
    assert "  l[21-128]  ????????  0 of 8 PASS each   INCONCLUSIVE node[0161-1024]" in lines
    assert "  18 groups all PASS, 144 nodes" in lines


@pytest.mark.parametrize("nodes", [1024, 4096])
@pytest.mark.parametrize("width", [80, 96])
def test_the_map_never_takes_more_than_a_screen_and_counts_what_it_leaves_out(nodes: int, width: int) -> None:
    dice = random.Random(5)
    scattered = {number: dice.choice(list(Verdict)) for number in range(1, nodes + 1)}
    lines = terminal_summary(_with(scattered, nodes), width)
    assert all(len(line) <= width or "sbatch" in line for line in lines)
    rows = [line for line in lines if re.search(r"  [.DF?-]{8}  \d of 8 PASS", line)]
    assert 0 < len(rows) <= 32
    assert any(re.fullmatch(r"  and \d+ more, see the report", line) for line in lines)


def test_the_sentence_of_the_map_folds_the_groups_that_are_affected_as_a_whole() -> None:
    record = _with(dict.fromkeys(range(1, 1025), Verdict.FAIL), 1024)
    assert "128 groups have no node that is PASS: l[1-128]." in render_markdown(record)
    bare = replace(record, hosts=tuple(replace(host, labels=()) for host in record.hosts))
    assert "32 groups have no node that is PASS: node[0001-1024]." in render_markdown(bare)


def test_verbose_adds_looks_limits_and_all_notes_and_leaves_nothing_out() -> None:
    notes = tuple(say("report.verbatim", text=f"note number {number}") for number in range(6))
    record = replace(sick(), notes=notes)
    short, whole = (" ".join(terminal_summary(record, 96, verbose=verbose)) for verbose in (False, True))
    assert "note number 1" in short and "note number 2" not in short and "4 more notes: -v" in short
    assert "may still run on node07" in short, "the most urgent one is never left out"
    assert all(f"note number {number}" in whole for number in range(6))
    assert "Limits and their sources" in whole and "Limits" not in short
    assert "NVLink  HCAs" in whole and "NVLink  HCAs" not in short


def test_the_line_on_stdout_stays_short_whatever_happened() -> None:
    record = replace(sick(), healthy_hosts=(), excluded_hosts=tuple(f"rack{n}-host{n * 7}" for n in range(300)))
    line = stdout_line(record)
    assert len(line) <= 200 and "excluded 300 nodes, cause node05/hca:mlx5_2" in line
    long = replace(sick().findings[0], cause=say("report.verbatim", text="x" * 500))
    assert len(stdout_line(replace(sick(), findings=(long,)))) == 200


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("--launcher", "srun"), "srun --nodes=8 --nodelist='node[01-08]' ..."),
        (("--launcher=srun:pmi2",), "srun --nodes=8 --nodelist='node[01-08]' ..."),
        (("--launcher", "hydra"), "mpirun -f reports/x/healthy.hosts ..."),
        ((), "mpirun --hostfile reports/x/healthy.hosts ..."),
    ],
)
def test_a_job_is_started_as_the_benchmarks_were(words: tuple[str, ...], line: str) -> None:
    run = healthy()
    run = replace(run, provenance=replace(run.provenance, arguments=("run", "quick", *words)))
    assert start_lines(run, "reports/x/healthy.hosts") == (line,)


def test_an_order_that_srun_would_not_keep_is_started_from_the_hostfile() -> None:
    run = healthy()
    asked = replace(run.provenance, arguments=("run", "quick", "--launcher", "srun"))
    run = replace(run, provenance=asked, healthy_hosts=run.healthy_hosts[::-1])
    assert start_lines(run, "healthy.hosts") == ("mpirun --hostfile healthy.hosts ...",)
