"""A command line that cannot be read: one sentence, exit 2, like every other bad input."""

from __future__ import annotations

import pytest

from healthcheck.__main__ import run


@pytest.mark.parametrize(
    ("words", "names", "says"),
    [
        ("run --simulate 0", "--simulate", "greater than or equal to 1"),
        ("run --parallel many -H a", "--parallel", "a whole number"),
        ("simulate 0", "simulate N", "greater than or equal to 1"),
        ("run --jsn", "run --jsn", "did you mean --json?"),
        ("run --nothing-like-it", "--nothing-like-it", "no such option"),
        ("run -H", "-H", "requires a value"),
        ("run --json=1", "--json", "does not take a value"),
        ("parse", "FILE...", "is missing: Files or folders"),
        ("platform show", "NAME|FILE", "is missing"),
        ("rum", "'rum'", "did you mean run?"),
        ("frobnicate", "'frobnicate'", "there are demo, run, plan"),
        ("platform shw x", "'shw'", "did you mean show?"),
        ("run quick full", "healthcheck run", "extra argument"),
        ("run --\x1b[31m", "--\\x1b[31m", "no such option"),
    ],
)
def test_a_mistake_on_the_command_line_is_one_sentence(
    words: str, names: str, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(words.split(" ")) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("error: ")
    assert printed.err.count("\n") == 1
    assert printed.err.rstrip("\n").isprintable()
    assert names in printed.err
    assert says in printed.err


@pytest.mark.parametrize("words", [[], ["platform"]])
def test_without_a_command_the_help_is_shown(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(words) == 2
    assert "Commands:" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["--help"], ["run", "--help"], ["--version"]])
def test_help_and_version_are_no_mistakes(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(words) == 0
    assert capsys.readouterr().out
