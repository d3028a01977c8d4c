"""What a user sees of a run on a terminal, and of the same run without one."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from healthcheck.reporting.text_width import width_of
from tests.walk.cli import Shell
from tests.walk.on_a_terminal import on_a_terminal

SICK = (
    "run",
    "full",
    "--simulate",
    "12",
    "--fault",
    "node03:hca=mlx5_2,slow=0.5",
    "--fault",
    "node07:unreachable",
    "--no-history",
)


@pytest.mark.parametrize("columns", [96, 80])
def test_on_a_terminal_finished_stages_stay_and_the_end_follows(tmp_path: Path, columns: int) -> None:
    shown = on_a_terminal(SICK, tmp_path, columns)
    lines = shown.screen.text.splitlines()
    assert shown.code == 1 and shown.out.startswith("FAIL 10/12 ready, simulated, excluded node[03,07]")
    assert lines[0].endswith("12 SIMULATED nodes   playbook full") and lines[1].startswith("writing reports/")
    stages = [line.split()[0] for line in lines[3 : lines.index("", 3)] if not line.startswith(" " * 10)]
    assert stages == ["probe", "single_node", "multi_node", "localise", "probe"]
    assert any("suspects 11 > " in line and line.endswith(("node03", "mlx5_2")) for line in lines)
    assert any(line.startswith("  FAIL   Do not start on all 12 nodes.") for line in lines)
    assert shown.screen.most_up <= 2 and shown.screen.cursor_shown and shown.screen.overflowed == 0
    assert max(map(width_of, lines)) <= columns
    assert not any("Ctrl-C" in line for line in lines)


@pytest.mark.parametrize("environ", [{"NO_COLOR": "1"}, {"TERM": "dumb"}], ids=["NO_COLOR", "dumb"])
def test_without_colour_a_terminal_gets_plain_lines(tmp_path: Path, environ: dict[str, str]) -> None:
    shown = on_a_terminal(SICK, tmp_path, environ=environ)
    assert "\x1b" not in shown.raw
    assert "Z probe       node07 INCONCLUSIVE no answer" in shown.raw


def test_in_ci_nothing_is_drawn_again(tmp_path: Path) -> None:
    shown = on_a_terminal(SICK, tmp_path, environ={"CI": "true"})
    assert shown.screen.most_up == 0 and "\x1b[31mFAIL\x1b[0m" in shown.raw
    assert "Z single_node done 11 of 11, median " in shown.raw


def test_quiet_prints_the_line_on_stdout_and_nothing_else(tmp_path: Path) -> None:
    shown = on_a_terminal((*SICK, "--quiet"), tmp_path)
    assert shown.raw == "" and shown.out.count("\n") == 1


@pytest.mark.parametrize("times", [1, 2])
def test_ctrl_c_leaves_a_clean_terminal(tmp_path: Path, times: int) -> None:
    words = ("demo", "--nodes", "4", "--fault", "node03:hang")
    shown = on_a_terminal(words, tmp_path, 80, interrupt_at="single_node    3 of 4", times=times)
    assert shown.code == 130
    lines = shown.screen.text.splitlines()
    assert shown.screen.cursor_shown and shown.screen.overflowed == 0
    assert not any("Ctrl-C stops" in line or "stopping the jobs" in line for line in lines)
    if times == 1:  # the second one ends it at once, whatever it was about to say
        assert shown.out.startswith("INCONCLUSIVE 0/4 ready, simulated, interrupted")
        assert any("INTERRUPTED RUN: " in line for line in lines)


def test_rich_is_imported_only_where_there_is_a_terminal(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom healthcheck.__main__ import run\n"
        "run(['run', '--simulate', '2'])\n"
        "print('rich.console' in sys.modules, 'rich.live' in sys.modules)"
    )
    said = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert said.stdout.splitlines()[-1] == "False False"


def test_healthy_nodes_are_counted_and_listed_only_with_verbose(shell: Shell) -> None:
    short, whole = shell("run", "--simulate", "20"), shell("run", "--simulate", "20", "-v")
    assert (short.code, whole.code) == (0, 0)
    assert "node13 PASS" not in short.err and "done 20 of 20, median " in short.err and "20 PASS" in short.err
    assert all(f"node{number:02d} PASS busbw" in whole.err for number in range(1, 21))
    assert "Limits and their sources" in whole.err and "Limits and their sources" not in short.err
    assert "NVLink  HCAs" in whole.err
    assert short.out == whole.out


@pytest.mark.parametrize("command", ["run", "probe", "localise"])
def test_quiet_and_verbose_exclude_each_other(shell: Shell, command: str) -> None:
    said = shell(command, "--simulate", "2", "-q", "-v")
    assert said.code == 2 and said.err.startswith("error: --quiet: ") and said.err.count("\n") == 1
    assert not shell.results.exists()


def test_rejudge_is_quiet_or_tells_the_end_again(shell: Shell) -> None:
    shell("run", "--simulate", "2", "-q")
    run_id = shell.folders()[-1].name
    assert shell("rejudge", run_id, "-q").err == ""
    assert "Limits and their sources" in shell("rejudge", run_id, "-v").err


def test_json_on_a_terminal_is_one_document(tmp_path: Path) -> None:
    shown = on_a_terminal(("probe", "--simulate", "2", "--json"), tmp_path)
    assert json.loads(shown.out)["verdict"] == "PASS" and "writing reports/" in shown.raw
