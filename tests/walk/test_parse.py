"""`healthcheck parse` from the command line: what it prints, and its exit codes."""

from __future__ import annotations

import csv
import io
import json
import sys
from pathlib import Path

import pytest

from healthcheck.__main__ import run
from tests.unit.parsing.captures import NCCL_TESTS, nccl_capture

GOOD = str(NCCL_TESTS / "v2.19.6-mpi-np16-2hosts.txt")
WRONG = str(NCCL_TESTS / "v2.19.6-wrong-g8.txt")
NAN = str(NCCL_TESTS / "v2.10.1-coll-alltoall.txt")


def test_a_complete_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["parse", GOOD]) == 0
    shown = capsys.readouterr().out
    assert f"{GOOD}: complete" in shown
    assert "16 ranks on node[A-B]" in shown or "16 ranks on nodeA,nodeB" in shown
    assert "8G" in shown


def test_a_version_that_counts_no_wrong_values_is_not_made_to(capsys: pytest.CaptureFixture[str]) -> None:
    run(["parse", NAN])
    shown = capsys.readouterr().out
    assert "a collective this version does not name, 8 ranks on" in shown
    rows = [line.split() for line in shown.splitlines() if line.split()[1:2] == ["float"]]
    assert rows
    assert {(row[6], row[10]) for row in rows} == {("n/a", "n/a")}
    assert "this version counts no wrong values" in shown


def test_the_table_for_people_has_every_number_and_the_footer(capsys: pytest.CaptureFixture[str]) -> None:
    run(["parse", GOOD])
    lines = capsys.readouterr().out.splitlines()
    last = next(line for line in lines if line.split()[:1] == ["8G"])
    assert last.split() == ["8G", "float", "sum", "89861.8", "95.59", "179.23", "0", "89613.2", "95.86", "179.73", "0"]
    assert lines[-1].split("(")[0].strip() == "footer: 0 out of bounds, OK; average busbw 72.5078 GB/s"


def test_with_a_platform_each_number_stands_beside_its_share_of_the_peak(capsys: pytest.CaptureFixture[str]) -> None:
    run(["parse", "--platform", A100, GOOD])
    lines = capsys.readouterr().out.splitlines()
    last = next(line for line in lines if line.split()[:1] == ["8G"])
    assert last.split() == [
        "8G",
        "float",
        "sum",
        "89861.8",
        "95.59",
        "179.23",
        "89.6",
        "0",
        "89613.2",
        "95.86",
        "179.73",
        "89.9",
        "0",
    ]


def test_a_table_without_its_footer_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cut = tmp_path / "cut.log"
    text = nccl_capture("v2.19.6-mpi-np16-2hosts").stdout
    cut.write_text(text[: text.index("# Out of bounds")])
    run(["parse", str(cut)])
    assert "no footer" in capsys.readouterr().out


def test_a_cut_device_list_is_not_held_against_the_peak_of_the_hosts_it_names(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = "nodeA:1:1 [0] NCCL INFO ncclCommInitRank comm 0x1 rank 0 nranks 16 cudaDev 0 busId 7000 - Init COMPLETE\n"
    lines = nccl_capture("v2.19.6-mpi-np16-2hosts").stdout.splitlines(keepends=True)
    kept = [line for line in lines if " on      nodeB" not in line]
    header = next(index for index, line in enumerate(kept) if "out-of-place" in line)
    cut = tmp_path / "cut.log"
    cut.write_text("".join([*kept[:header], told, *kept[header:]]))
    assert run(["parse", "--json", "--platform", A100, str(cut)]) == 3
    (table,) = json.loads(capsys.readouterr().out)["files"][0]["tables"]
    assert (table["n_ranks"], table["hosts"], table["verdict"]) == (16, ["nodeA"], "INCONCLUSIVE")


def test_a_failed_file_says_why_and_where(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["parse", GOOD, WRONG]) == 1
    assert "24 wrong values at size 1048576 (out of place) [line 18]" in capsys.readouterr().out


def test_a_cut_file(tmp_path: Path) -> None:
    text = nccl_capture("v2.19.6-mpi-np16-2hosts").stdout
    cut = tmp_path / "cut.log"
    cut.write_text(text[: text.index("# Out of bounds")])
    assert run(["parse", str(cut)]) == 3
    assert run(["parse", GOOD, str(cut)]) == 3
    assert run(["parse", WRONG, str(cut)]) == 1


def test_nothing_recognised(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = tmp_path / "notes.txt"
    other.write_text("nothing of interest\n")
    assert run(["parse", str(other)]) == 2
    assert "recognised" in capsys.readouterr().err
    assert run(["parse", str(tmp_path)]) == 2


def test_a_missing_file_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["parse", "/nope/run.log"]) == 2
    assert capsys.readouterr().err.startswith("error: /nope/run.log: no such file")


def test_a_folder_is_walked_and_other_files_in_it_do_not_count(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / "deep" / "er" / "run.log").write_text(nccl_capture("v2.19.6-sweep-g8").stdout)
    (tmp_path / "notes.txt").write_text("nothing\n")
    assert run(["parse", str(tmp_path), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [Path(file["path"]).name for file in document["files"]] == ["run.log"]


def test_what_this_program_wrote_is_no_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(["parse", "--json", WRONG])
    (tmp_path / "parsed.json").write_text(capsys.readouterr().out)
    (tmp_path / "report.html").write_text("<pre>node: Test CUDA failure common.cu:1 'unknown error'</pre>\n")
    (tmp_path / "run.log").write_text(nccl_capture("v2.19.6-sweep-g8").stdout)
    assert run(["parse", "--json", str(tmp_path)]) == 0
    assert [Path(file["path"]).name for file in json.loads(capsys.readouterr().out)["files"]] == ["run.log"]


def test_standard_input(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    text = nccl_capture("v2.19.6-sweep-g8").stdout
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    assert run(["parse", "-", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["files"][0]["path"] == "-"


def test_the_document_has_the_keys_of_the_contract(capsys: pytest.CaptureFixture[str]) -> None:
    run(["parse", "--json", WRONG])
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == "healthcheck.parse/1"
    (file,) = document["files"]
    assert list(file) == ["path", "state", "verified", "wrong_values", "failures", "warnings", "tables"]
    assert (file["state"], file["verified"], file["wrong_values"]) == ("failed", True, 192)
    assert list(file["failures"][0]) == ["kind", "message", "host", "line", "secondary"]
    (table,) = file["tables"]
    assert list(table) == [
        *("collective", "tool", "tool_version", "n_ranks", "hosts", "gpu_models", "ranks", "rows"),
        *("avg_busbw_gbyte_s", "out_of_bounds_count", "out_of_bounds_ok", "complete", "verdict", "percent_of_peak"),
    ]
    assert list(table["ranks"][0]) == ["rank", "group", "pid", "host", "device", "bus_id", "model"]
    row = table["rows"][0]
    assert list(row) == ["size_bytes", "count", "dtype", "redop", "root", "out_of_place", "in_place"]
    assert row["in_place"] == {
        "time_us": 19.99,
        "algbw_gbyte_s": 52.46,
        "busbw_gbyte_s": 91.81,
        "wrong": 24,
        "max_delta": None,
    }
    assert (table["verdict"], table["percent_of_peak"]) == (None, None)


def test_a_printed_nan_is_null_in_the_document(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["parse", "--json", NAN]) == 0
    text = capsys.readouterr().out
    assert "NaN" not in text
    assert json.loads(text)["files"][0]["tables"][0]["avg_busbw_gbyte_s"] is None


def test_csv_has_one_line_a_size_and_placement(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["parse", "--csv", GOOD]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert len(rows) == 31 * 2
    last = rows[-2]
    assert (last["size_bytes"], last["placement"], last["n_ranks"]) == ("8589934592", "out_of_place", "16")
    assert last["busbw_gbyte_s"] == "179.23"
    assert last["max_delta"] == ""


def test_json_and_csv_together_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["parse", "--json", "--csv", GOOD]) == 2
    assert "choose one" in capsys.readouterr().err


def test_a_json_file_of_nccl_tests_is_input_like_any_other(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = nccl_capture("v2.19.6-json-J-mpi-2hosts").stdout
    file = tmp_path / "out.json"
    file.write_text(text[text.index('{"version"') :])
    assert run(["parse", "--json", str(file)]) == 0
    shown = capsys.readouterr().out
    assert len(json.loads(shown)["files"][0]["tables"][0]["rows"]) == 4
    assert "OMPI_COMM_WORLD_RANK" not in shown


A100 = "a100-sxm4-8gpu-8x200"


@pytest.mark.parametrize(
    ("name", "exit_code", "verdict", "percent"),
    [
        ("v2.19.6-mpi-np16-2hosts", 0, "PASS", 90.1),  # of 200 GB/s
        ("v2.19.6-sweep-g8", 0, "PASS", 76.7),  # of 300 GB/s
        ("v2.19.6-mpi-slow-host", 4, "DEGRADED", 56.3),
        ("v2.13.10-sweep-g8", 0, "PASS", 76.7),  # old: does not name its collective, which only one fits
        ("v2.19.6-mpi-split-div2", 3, "INCONCLUSIVE", None),  # ends at 16 MiB
    ],
)
def test_a_verdict_with_a_platform(
    name: str, exit_code: int, verdict: str, percent: float | None, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(NCCL_TESTS / f"{name}.txt")
    assert run(["parse", "--json", "--platform", A100, path]) == exit_code
    (table,) = json.loads(capsys.readouterr().out)["files"][0]["tables"]
    assert table["verdict"] == verdict
    assert table["percent_of_peak"] == (None if percent is None else pytest.approx(percent, abs=0.1))
    assert run(["parse", "--platform", A100, path]) == exit_code
    assert verdict in capsys.readouterr().out


def test_a_broken_run_fails_and_one_that_did_not_run_is_inconclusive() -> None:
    assert run(["parse", "--platform", A100, WRONG]) == 1
    assert run(["parse", "--platform", A100, str(NCCL_TESTS / "v2.19.6-nompi-under-mpirun.txt")]) == 3
    assert run(["parse", "--platform", A100, str(NCCL_TESTS / "v2.19.6-help.txt")]) == 3


def test_results_that_were_not_checked_are_no_pass(tmp_path: Path) -> None:
    unchecked = tmp_path / "c0.log"
    text = nccl_capture("v2.19.6-sweep-g8").stdout
    unchecked.write_text(text.replace("       0\n", "     N/A\n").replace("       0  ", "     N/A  "))
    assert run(["parse", str(unchecked)]) == 0
    assert run(["parse", "--platform", A100, str(unchecked)]) == 3


def test_auto_is_not_a_platform_of_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["parse", "--platform", "auto", GOOD]) == 2
    assert "healthcheck platform list" in capsys.readouterr().err


def _first_table(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict[str, object], str]:
    """Exit code, the first table, and what a person is told, of `parse --platform`."""
    code = run(["parse", "--json", "--platform", A100, *words])
    table: dict[str, object] = json.loads(capsys.readouterr().out)["files"][0]["tables"][0]
    assert run(["parse", "--platform", A100, *words]) == code
    return code, table, capsys.readouterr().out


def test_a_table_with_wrong_values_is_a_fail_itself(capsys: pytest.CaptureFixture[str]) -> None:
    code, table, shown = _first_table(capsys, WRONG)
    assert (code, table["verdict"]) == (1, "FAIL")
    assert "FAIL: " in shown and "so no speed counts" in shown
    assert "PASS" not in shown


def test_a_table_of_another_machine_is_not_judged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = nccl_capture("v2.19.6-mpi-np16-2hosts").stdout
    file = tmp_path / "saved.log"
    file.write_text(text.replace("NVIDIA A100-SXM4-80GB", "NVIDIA H100 80GB HBM3"))
    code, table, shown = _first_table(capsys, str(file))
    assert (code, table["verdict"]) == (3, "INCONCLUSIVE")
    assert f"measured on NVIDIA H100 80GB HBM3, judged as {A100}" in shown
    file.write_text(text.replace("nodeB", "nodeA"))
    code, table, shown = _first_table(capsys, str(file))
    assert (code, table["verdict"]) == (3, "INCONCLUSIVE")
    assert f"16 ranks on one host, where {A100} has 8 GPUs" in shown


OLD = str(NCCL_TESTS / "v2.13.10-sweep-g8.txt")
"""Of before 2.16.7, so it does not say that it ran all_reduce."""


def test_what_an_old_table_ran_is_told_by_its_numbers_or_its_reader(capsys: pytest.CaptureFixture[str]) -> None:
    run(["parse", "--json", OLD])
    assert json.loads(capsys.readouterr().out)["files"][0]["tables"][0]["collective"] is None
    run(["parse", "--json", "--collective", "all_reduce", OLD])
    given = json.loads(capsys.readouterr().out)["files"][0]
    assert given["tables"][0]["collective"] == "all_reduce"
    assert given["warnings"][-1]["message"] == "collective all_reduce taken from --collective"
    run(["parse", "--json", "--platform", A100, OLD])
    inferred = json.loads(capsys.readouterr().out)["files"][0]
    assert inferred["tables"][0]["collective"] == "all_reduce"
    assert inferred["warnings"][-1]["code"] == "collective_inferred"
    code, table, shown = _first_table(capsys, "--collective", "all_gather", OLD)
    assert (code, table["verdict"]) == (3, "INCONCLUSIVE")
    assert "busbw does not follow from algbw" in shown


def test_where_two_collectives_fit_nobody_guesses(capsys: pytest.CaptureFixture[str]) -> None:
    code, table, shown = _first_table(capsys, NAN)
    assert (code, table["collective"], table["verdict"]) == (3, None, "INCONCLUSIVE")
    assert "name it with --collective" in shown
