"""How `clean` reaches the nodes of what was killed, a run or a capture: by the ssh configuration that was given to it,
and by none a stranger wrote."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from healthcheck.cli import clean_reach
from healthcheck.cli.asked import OPTIONS, Asked, encode_asked
from healthcheck.cli.clean_reach import reach, reach_capture
from healthcheck.model.vitals_capture import CaptureBegun
from healthcheck.wiring import Outside, real_outside
from tests.golden.records import healthy

Reached = Callable[[Path, Path, Asked], None]
"""By the folder of what was killed, the configuration it was begun with, and what `clean` is asked with."""


@pytest.fixture
def used(monkeypatch: pytest.MonkeyPatch) -> list[Path | None]:
    """The ssh configurations that were used, while the real outside world is made of them."""
    seen: list[Path | None] = []

    def noted(ssh_config: Path | None, accept_new: bool, n_hosts: int) -> Outside:
        seen.append(ssh_config)
        return real_outside(ssh_config, accept_new, n_hosts)

    monkeypatch.setattr(clean_reach, "real_outside", noted)
    return seen


def _run(folder: Path, config: Path, asked: Asked) -> None:
    (folder / "inputs").mkdir(exist_ok=True)
    begun = Asked(hosts="cluster.hosts", results=folder.parent, ssh_config=config)
    (folder / OPTIONS).write_text(encode_asked(begun))
    reach(healthy(2), folder, asked).outside.close()


def _capture(folder: Path, config: Path, asked: Asked) -> None:
    record = healthy(2)
    begun = CaptureBegun(record.owner, record.inventory, record.inventory[0].name, None, str(config))
    reach_capture(begun, folder, asked).close()


KILLED = pytest.mark.parametrize("reached", [_run, _capture], ids=["run", "capture"])


@KILLED
def test_the_configuration_it_was_given_is_used(reached: Reached, used: list[Path | None], tmp_path: Path) -> None:
    config = tmp_path / "ssh_config"
    config.write_text("Host *\n")
    reached(tmp_path, config, Asked(hosts=None, results=tmp_path))
    assert used == [config]


@KILLED
def test_where_one_is_named_or_it_is_gone_its_own_is_not_taken(
    reached: Reached, used: list[Path | None], tmp_path: Path
) -> None:
    config, other = tmp_path / "ssh_config", tmp_path / "other"
    other.write_text("Host *\n")
    reached(tmp_path, config, Asked(hosts=None, results=tmp_path))
    reached(tmp_path, config, Asked(hosts=None, results=tmp_path, ssh_config=other))
    assert used == [None, other]


@KILLED
def test_a_folder_of_somebody_else_names_no_configuration(
    reached: Reached, used: list[Path | None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "ssh_config"
    config.write_text("Host *\n  ProxyCommand touch owned\n")
    mine = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: mine + 1)
    reached(tmp_path, config, Asked(hosts=None, results=tmp_path))
    assert used == [None]
