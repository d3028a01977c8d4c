"""A path that no file system can hold, or that nobody may look at, is the user's mistake and not a bug of ours."""

from __future__ import annotations

import pytest

from tests.walk.cli import Shell

LONG = "x" * 300
DEEP = "/".join(["y" * 200] * 30)


@pytest.mark.parametrize("path", [LONG, DEEP])
@pytest.mark.parametrize(
    "words",
    [
        ("run", "--simulate", "2", "--platform"),
        ("run", "--simulate", "2", "--push"),
        ("run", "--simulate", "2", "-o"),
        ("run", "-H", "h1", "--ssh-config"),
        ("run", "--resume"),
        ("run", "-H"),
        ("run",),
        ("report",),
        ("clean",),
        ("parse",),
        ("platform", "show"),
        ("playbook", "check"),
    ],
    ids=" ".join,
)
def test_a_path_too_long_is_one_sentence(shell: Shell, words: tuple[str, ...], path: str) -> None:
    extra = ("--simulate", "2") if words == ("run",) else ()
    said = shell(*words, path, *extra)
    assert said.code == 2
    assert said.err.count("\n") == 1


def test_a_folder_on_the_nodes_means_the_same_place_on_each(shell: Shell) -> None:
    assert "must be absolute" in shell("run", "--simulate", "2", "--nccl-tests", "build").err
    assert shell("run", "--simulate", "2", "-q", "--nccl-tests", "/tmp/a b;$(rm)").code == 0


def test_a_second_resume_leaves_the_first_one_alone(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    assert shell("run", "--simulate", "2", "-q").code == 0
    (folder,) = shell.folders()
    text = (folder / "record.json").read_text().replace('"state": "complete"', '"state": "interrupted"')
    (folder / "record.json").write_text(text)
    seen: list[str] = []

    def first_is_at_work(*_: object, **__: object) -> tuple[()]:
        seen.append(shell("run", "--resume", str(folder), "-q").err)
        return ()

    monkeypatch.setattr("healthcheck.workflows.cleanup.sweep_all", first_is_at_work)
    assert shell("run", "--resume", str(folder), "-q").code == 0
    assert len(seen) == 1 and "is still running" in seen[0]
