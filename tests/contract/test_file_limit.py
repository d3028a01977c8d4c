"""Open files: raised where the system lets us, told where it does not. In processes of their own: limits stick."""

from __future__ import annotations

import subprocess
import sys

import pytest

ASK = "import sys; from healthcheck.edge.file_limit import raise_file_limit; print(raise_file_limit(int(sys.argv[1])))"


@pytest.mark.parametrize(
    ("hosts", "soft", "hard", "told"),
    [
        (10, 200, 200, "None"),
        (100, 200, 1000, "None"),
        (100, 200, 300, "364 open files are needed for 100 hosts, 300 are allowed"),
    ],
)
def test_the_limit_is_raised_or_named(hosts: int, soft: int, hard: int, told: str) -> None:
    script = f'ulimit -Sn {soft}; ulimit -Hn {hard}; exec "$@"; '
    argv = ["sh", "-c", script, "sh", sys.executable, "-c", ASK, str(hosts)]
    assert subprocess.run(argv, check=True, capture_output=True, text=True).stdout.startswith(told)
