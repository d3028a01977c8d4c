"""The table of commands: what it says is what is there, and nothing is imported that was not named."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import typer
from typer.core import TyperCommand, TyperGroup

import healthcheck.cli
from healthcheck.cli.app import app
from healthcheck.cli.commands import COMMANDS

ROOM = 45
FOR_PAGES = {"jinja2", "matplotlib", "numpy", "pandas"}
# Tells what is imported when the measuring begins, when it has ended, and when the pages are written.
TELLING = """
import sys
from healthcheck.__main__ import run
from healthcheck.workflows import run as workflow

def tell():
    print("imported", *sys.modules, file=sys.stderr)

def check_up(*given, inner=workflow.check_up):
    tell()
    record = inner(*given)
    tell()
    return record

workflow.check_up = check_up
code = run(sys.argv[1:])
tell()
sys.exit(code)
"""


def all_commands() -> TyperGroup:
    group = typer.main.get_command(app)
    assert isinstance(group, TyperGroup)
    return group


def resolved(name: str) -> TyperCommand | TyperGroup:
    group = all_commands()
    _, command, rest = group.resolve_command(typer.Context(group), [name, "--json"])
    assert rest == ["--json"]
    assert isinstance(command, TyperCommand | TyperGroup)
    return command


def imported_by(words: list[str]) -> set[str]:
    """The modules that a process of its own has imported when the command has ended."""
    code = (
        "import sys; from healthcheck.__main__ import run; run(sys.argv[1:]);"
        "print('imported', *sys.modules, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=True)
    return set(done.stderr.splitlines()[-1].split())


@pytest.mark.parametrize("name", COMMANDS)
def test_the_table_says_what_the_command_says(name: str) -> None:
    command = resolved(name)
    assert command.name == name
    assert command.callback is not None or isinstance(command, TyperGroup)
    assert command.get_short_help_str(ROOM) == COMMANDS[name].short_help


@pytest.mark.parametrize("name", [name for name in COMMANDS if not isinstance(resolved(name), TyperGroup)])
def test_every_command_has_its_own_help(name: str) -> None:
    command = resolved(name)
    text = " ".join(command.get_help(typer.Context(command, info_name=f"healthcheck {name}")).split())
    assert text.startswith(f"Usage: healthcheck {name} ")
    assert f"healthcheck {name}" in text.partition("Example: ")[2]


def test_no_command_is_left_out_of_the_table() -> None:
    written = {
        path.stem
        for path in Path(healthcheck.cli.__path__[0]).glob("*.py")
        if any(line.startswith(("def command(", "app = typer.Typer(")) for line in path.read_text().splitlines())
    }
    listed = {place.module for place in COMMANDS.values()}
    # `platform_detect` is the file of one command of `healthcheck platform`.
    parts = {module for module in written if module not in listed and module.partition("_")[0] in listed}
    assert written - parts == listed | {"app"}


@pytest.mark.parametrize(
    ("words", "named"),
    [("--help", set()), ("--version", set()), ("run --help", {"run"}), ("plan --help", {"run"}), ("rum", set())],
)
def test_only_the_module_of_the_command_is_imported(words: str, named: set[str]) -> None:
    imported = {name.rpartition(".")[2] for name in imported_by(words.split()) if name.startswith("healthcheck.cli.")}
    assert imported & {place.module for place in COMMANDS.values()} == named


def test_saved_output_is_read_without_what_reads_platforms(tmp_path: Path) -> None:
    saved = tmp_path / "saved.txt"
    saved.write_text("nothing of nccl-tests\n")
    assert "yaml" not in imported_by(["parse", str(saved)])
    assert "yaml" in imported_by(["parse", str(saved), "--platform", "h100-sxm5-8gpu-8x400"])


def test_a_gate_measures_before_anything_is_imported_that_draws_pages(tmp_path: Path) -> None:
    for earlier_runs in range(2):
        argv = [sys.executable, "-c", TELLING, "gate", "--simulate", "2", "-o", str(tmp_path)]
        done = subprocess.run(argv, capture_output=True, text=True, check=True)
        told = [set(line.split()) for line in done.stderr.splitlines() if line.startswith("imported ")]
        begun, measured, ended = told
        assert not begun & (FOR_PAGES | {"fabric", "paramiko", "rich"})
        assert not measured & FOR_PAGES
        # Only what changed since an earlier run is worked out with pandas.
        assert ("pandas" in ended) is bool(earlier_runs)
