"""How `clean` reaches the nodes of a dead run: by the ssh configuration of that run, and by none a stranger wrote."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from healthcheck.cli import clean_reach
from healthcheck.cli.asked import OPTIONS, Asked, encode_asked
from healthcheck.cli.clean_reach import reach
from healthcheck.wiring import Outside, real_outside
from tests.golden.records import healthy


@pytest.fixture
def used(monkeypatch: pytest.MonkeyPatch) -> list[Path | None]:
    """The ssh configurations that were used, while the real outside world is made of them."""
    seen: list[Path | None] = []

    def noted(ssh_config: Path | None, accept_new: bool, n_hosts: int) -> Outside:
        seen.append(ssh_config)
        return real_outside(ssh_config, accept_new, n_hosts)

    monkeypatch.setattr(clean_reach, "real_outside", noted)
    return seen


def _run(folder: Path, ssh_config: Path | None) -> Asked:
    """A run that was begun with that file, and what `clean` is asked with when nobody names one."""
    (folder / "inputs").mkdir()
    asked = Asked(hosts="cluster.hosts", results=folder.parent, ssh_config=ssh_config)
    (folder / OPTIONS).write_text(encode_asked(asked))
    return Asked(hosts=None, results=folder.parent)


def test_the_configuration_of_the_run_is_used(used: list[Path | None], tmp_path: Path) -> None:
    config = tmp_path / "ssh_config"
    config.write_text("Host *\n")
    reach(healthy(2), tmp_path, _run(tmp_path, config)).outside.close()
    assert used == [config]


def test_one_that_is_named_or_gone_is_not_taken_from_the_run(used: list[Path | None], tmp_path: Path) -> None:
    config, other = tmp_path / "ssh_config", tmp_path / "other"
    other.write_text("Host *\n")
    asked = _run(tmp_path, config)
    reach(healthy(2), tmp_path, asked).outside.close()
    reach(healthy(2), tmp_path, Asked(hosts=None, results=tmp_path, ssh_config=other)).outside.close()
    assert used == [None, other]


def test_a_folder_of_somebody_else_names_no_configuration(
    used: list[Path | None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "ssh_config"
    config.write_text("Host *\n  ProxyCommand touch owned\n")
    asked = _run(tmp_path, config)
    mine = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: mine + 1)
    reach(healthy(2), tmp_path, asked).outside.close()
    assert used == [None]
