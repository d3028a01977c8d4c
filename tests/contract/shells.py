"""The shells a node may have as its `sh`, as far as this machine has them."""

from __future__ import annotations

import shutil
from pathlib import Path

SHELLS = [shell for shell in ("dash", "bash", "busybox") if shutil.which(shell)]


def program(shell: str) -> str:
    """Where one of `SHELLS` is."""
    found = shutil.which(shell)
    assert found is not None
    return found


def words(shell: str) -> list[str]:
    """What starts it as `sh`."""
    return [program(shell), "sh"] if shell == "busybox" else [program(shell)]


def folder_with_sh(folder: Path, shell: str) -> Path:
    """A new folder for PATH, whose `sh` is that shell; tools may be put beside it."""
    folder.mkdir()
    (folder / "sh").symlink_to(program(shell))
    return folder
