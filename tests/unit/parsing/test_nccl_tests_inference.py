"""What is inferred has a basis that the warning names; what two sources contradict is unknown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from healthcheck.model.collective import Collective
from healthcheck.model.measurement import FailureKind, OutputState
from healthcheck.parsing.nccl_json import parse_json
from healthcheck.parsing.nccl_tests import parse_output
from tests.grammar.build import Output, devices
from tests.grammar.remake import FOLDER
from tests.unit.parsing.samples import COLUMNS, FOOTER, GOOD, HEAD, LEFT_1, LEFT_2, ROW_1, ROW_2, kinds, only_table

OLD = Output("E4b").text
TRACE = " .. nodeB pid 5: Test failure all_reduce.cu:77\n"
CRASH = "nodeB: Test CUDA failure common.cu:9 'unknown error'\n"


def told(ranks: int) -> str:
    return f"nodeA:1:1 [0] NCCL INFO comm 0x1 rank 0 nranks {ranks} cudaDev 0 busId 7000 - Init COMPLETE\n"


def test_every_kind_of_failure_is_written_down_once() -> None:
    files = [json.loads(path.read_text("utf-8")) for path in Path(FOLDER).rglob("*.json")]
    shown = {failure["kind"] for file in files for failure in file["failures"]}
    assert shown == {kind.value for kind in FailureKind} - {"unknown"}  # that one needs an exit code


@pytest.mark.parametrize(
    "line",
    [
        "$ ./build/all_reduce_perf -b 8 -e 1G -f 2 -g 8",
        "root@gpu01:~# /opt/nccl-tests/build/all_reduce_perf",
        "+ mpirun -np 16 all_reduce_perf_mpi --minbytes 8",
        "srun nccl_all_reduce_perf -b 8",
    ],
)
def test_a_command_line_above_an_old_table_names_its_collective(line: str) -> None:
    output = parse_output(f"{line}\n{OLD}")
    assert only_table(output).collective == "all_reduce"
    assert [warning.code for warning in output.warnings] == ["collective_inferred"]


@pytest.mark.parametrize(
    "line",
    [
        "I ran all_reduce_perf on two nodes and got this:",
        "for t in all_reduce_perf -x broadcast_perf -x; do",
        "make all_reduce_perf",
        "all_reduce_perf",
    ],
)
def test_a_sentence_about_a_program_names_nothing(line: str) -> None:
    assert only_table(parse_output(f"{line}\n{OLD}")).collective is None


def test_each_command_line_is_that_of_the_table_below_it() -> None:
    text = f"./all_reduce_perf -b 8\n{OLD}./broadcast_perf -b 8\n{OLD}{OLD}"
    assert [table.collective for table in parse_output(text).tables] == ["all_reduce", "broadcast", None]


def test_a_trace_names_the_table_that_it_ended_and_no_other() -> None:
    begun = Output("E4b").head + Output("E4b").rows[0]
    output = parse_output(begun + CRASH + TRACE + Output("E4b", Collective.REDUCE).text)
    assert [table.collective for table in output.tables] == ["all_reduce", None]


def test_a_failure_names_its_collective_where_no_table_does() -> None:
    output = parse_output(CRASH + TRACE)
    assert output.tables == ()
    assert [failure.collective for failure in output.failures] == ["all_reduce"]
    assert [failure.collective for failure in parse_output(HEAD + CRASH + TRACE).failures] == [None]


def test_two_programs_on_one_command_line_name_none() -> None:
    argv = ("bash", "-c", "./all_reduce_perf -b 8; ./broadcast_perf -b 8")
    assert only_table(parse_output(OLD, argv=argv)).collective is None


def test_sources_that_disagree_on_the_ranks_are_no_answer() -> None:
    cut = HEAD.splitlines(keepends=True)
    text = "".join(line for line in cut if "Rank  0" not in line) + told(8) + told(16) + COLUMNS + ROW_1 + FOOTER
    output = parse_output(text)
    assert only_table(output).n_ranks is None
    more = parse_output("".join([*cut, told(4), COLUMNS, ROW_1, FOOTER]))
    assert only_table(more).n_ranks == 4  # two devices are listed: the rest was left out
    assert "the device list has only 2" in more.warnings[0].message
    fewer = parse_output("".join([*cut, told(1), COLUMNS, ROW_1, FOOTER]))
    assert only_table(fewer).n_ranks is None
    assert [warning.code for warning in fewer.warnings] == ["n_ranks_unknown"]


def test_the_ranks_follow_from_the_sizes_where_no_device_is_listed() -> None:
    output = Output("E5d", Collective.REDUCE_SCATTER, devices(12, ("nodeA",)))
    text = "".join(line for line in output.text.splitlines(keepends=True) if " on " not in line)
    read = parse_output(text)
    assert only_table(read).n_ranks == 12
    assert "size / (count x type size)" in read.warnings[0].message


def test_busbw_that_does_not_follow_is_a_warning_and_the_old_factor_is_named() -> None:
    for collective in (Collective.ALL_GATHER, Collective.REDUCE_SCATTER):
        old = Output("E2", collective, factor=1.0).text
        codes = [warning.code for warning in parse_output(old, argv=(collective.binary,)).warnings]
        assert codes == ["collective_inferred", "old_busbw_factor"]
    assert [w.code for w in parse_output(Output("E5d", factor=1.0).text).warnings] == ["busbw_contradicts"]


def test_runs_one_after_the_other_under_open_mpi_5_are_no_mixed_run() -> None:
    runs = ["".join(f"[prterun-n1-{pid}@1,0]<stdout>: {line}" for line in GOOD.splitlines(True)) for pid in (7, 9)]
    assert parse_output("".join(runs)).state is OutputState.COMPLETE
    ranks = ["".join(f"[prterun-n1-7@1,{rank}]<stdout>: {line}" for line in GOOD.splitlines(True)) for rank in (0, 1)]
    assert kinds(parse_output("".join(ranks))) == [FailureKind.NOT_MPI_BUILD]


def test_another_rank_s_tag_inside_a_row_begins_its_own_text() -> None:
    tag = "[1,0]<stdout>:"
    lines = "".join(tag + line for line in (HEAD + COLUMNS + ROW_1).splitlines(True))
    torn = f"{tag}{LEFT_2}[1,1]<stderr>:nodeB:1:1 [0] NCCL WARN hello\n{tag}{ROW_2.removeprefix(LEFT_2)}"
    output = parse_output(lines + torn + "".join(tag + line for line in FOOTER.splitlines(True)))
    assert [row.size_bytes for row in only_table(output).rows] == [1024, 2048]
    assert output.state is OutputState.COMPLETE


def test_halves_of_two_rows_are_not_put_together() -> None:
    first = LEFT_1 + ROW_1.removeprefix(LEFT_1)[:32] + "nodeB: hello\n"
    big = "  1073741824     268435456     float     sum      -1  8177.15  131.31  131.31       0"
    rest = big[-33:] + "\n"
    output = parse_output(HEAD + COLUMNS + first + rest + FOOTER)
    assert only_table(output).rows == ()
    assert [warning.code for warning in output.warnings] == ["row_cut"]


def test_pieces_of_nobody_knows_whose_row_are_left_out() -> None:
    torn = LEFT_1 + "nodeA:1:1 [0] NCCL INFO hello\n" + ROW_1.removeprefix(LEFT_1)
    output = parse_output(HEAD + HEAD + COLUMNS + torn + ROW_2 + FOOTER + FOOTER, argv=("mpirun", "-np", "2"))
    assert kinds(output) == [FailureKind.NOT_MPI_BUILD]
    assert [row.size_bytes for table in output.tables for row in table.rows] == [2048]


def test_failures_stand_in_the_order_of_the_log_and_those_of_stderr_behind() -> None:
    stderr = "nodeC: Test CUDA failure common.cu:1 'unknown error'\n"
    output = parse_output(HEAD + CRASH + CRASH.replace("nodeB", "nodeA"), stderr=stderr, exit_code=2)
    assert [(failure.host, failure.line) for failure in output.failures] == [
        ("nodeB", 9),
        ("nodeA", 10),
        ("nodeC", None),
    ]


def test_a_prefix_nobody_knows_is_learned_from_the_first_head_behind_it() -> None:
    tagged = "".join(f"<<job-{number}>> {line}" for number, line in enumerate(GOOD.splitlines(keepends=True)))
    assert parse_output(tagged) == parse_output(GOOD)


def test_a_j_file_rewritten_by_a_tool_reads_the_same() -> None:
    data = (Path(FOLDER) / "accidents" / "j-version-3.txt").read_bytes()
    rewritten = json.loads(data)
    rewritten["out_of_bounds"]["okay"] = True
    for result in rewritten["results"]:
        result["root"] = -1
    assert parse_json(json.dumps(rewritten, indent=4, sort_keys=False).encode()) == parse_json(data)


def test_a_log_damaged_everywhere_does_not_fill_the_memory_with_warnings() -> None:
    output = parse_output(HEAD + COLUMNS + (LEFT_1 + "\n") * 3000)
    assert len(output.warnings) <= 200
