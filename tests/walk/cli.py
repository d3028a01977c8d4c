"""Runs the command line inside the test process, as a user would, and keeps what it said."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec import Struct

from healthcheck.__main__ import run
from healthcheck.model.record import RunRecord
from healthcheck.parsing.record_codec import decode_record

_MEASURING = frozenset({"run", "gate", "probe", "localise", "demo"})


class Said(Struct, frozen=True):
    """Exit code, standard output and standard error of one command."""

    code: int
    out: str
    err: str


class Shell:
    """A user in an empty working directory."""

    def __init__(self, capsys: pytest.CaptureFixture[str], results: Path) -> None:
        self._capsys = capsys
        self.results = results

    def __call__(self, *words: str) -> Said:
        """Run `healthcheck WORDS`."""
        self._capsys.readouterr()
        if words and words[0] in _MEASURING:
            self._in_a_second_of_its_own()
        code = run(list(words))
        said = self._capsys.readouterr()
        return Said(code, said.out, said.err)

    def _in_a_second_of_its_own(self) -> None:
        """Of two runs that began in one second nobody can say which came first: a person is not that fast."""
        while any(self.results.glob(f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}*")):
            time.sleep(0.02)

    def folders(self) -> list[Path]:
        """The run directories so far, oldest first."""
        return sorted((path for path in self.results.iterdir() if (path / "inputs").is_dir()), key=_begun_ns)

    def record(self) -> RunRecord:
        """The record of the newest run."""
        path = self.folders()[-1] / "record.json"
        return decode_record(path.read_bytes(), str(path))


def _begun_ns(folder: Path) -> int:
    """Run ids tell seconds, and several short runs fit into one."""
    hostfile = folder / "inputs" / "hostfile"
    return (hostfile if hostfile.exists() else folder).stat().st_mtime_ns
