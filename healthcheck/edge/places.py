"""Is there something at a path that a user gave? What nobody may look at, or no file system can hold, is not there."""

from __future__ import annotations

from pathlib import Path


def is_file(path: Path) -> bool:
    """`Path.is_file` that answers where that raises: a folder without permission, a name of 300 letters."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def is_folder(path: Path) -> bool:
    """`Path.is_dir`, likewise."""
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def exists(path: Path) -> bool:
    """`Path.exists`, likewise."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False
