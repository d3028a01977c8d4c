"""Places on disk: what is at a path that a user gave, and files that only their owner may read.

What nobody may look at, or no file system can hold, is not there.
"""

from __future__ import annotations

import errno
import os
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


def is_link(path: Path) -> bool:
    """`Path.is_symlink`, likewise."""
    try:
        return path.is_symlink()
    except (OSError, ValueError):
        return False


def home_folder() -> Path:
    """The home folder of this user; OSError where nobody knows one: HOME unset, and a user without an entry."""
    try:
        return Path.home()
    except RuntimeError:
        raise FileNotFoundError(errno.ENOENT, "HOME is not set and this user has no home folder") from None


def at_home(path: Path) -> Path:
    """`~/x` and `~user/x` written out; unchanged, and so the name of nothing, where nobody knows that home folder."""
    try:
        return path.expanduser()
    except RuntimeError:
        return path


def owners_only(path: str, flags: int) -> int:
    """An `opener` that makes files of mode 0600: a run folder may be copied or moved out of what keeps it private.

    A pipe that lies under that name is an error and not waited for.
    """
    return os.open(path, flags | os.O_NONBLOCK, 0o600)
