"""The true captures under tests/fixtures, with the exit code and stderr that came with them."""

from __future__ import annotations

import json
from pathlib import Path

from msgspec import Struct

from healthcheck.model.measurement import ParsedOutput
from healthcheck.parsing.nccl_tests import parse_output

FIXTURES = Path(__file__).parents[2] / "fixtures"
NCCL_TESTS = FIXTURES / "nccl_tests"
MPIRUN = FIXTURES / "mpirun"


class Capture(Struct, frozen=True):
    """One run: what it wrote and how it ended."""

    stdout: str
    stderr: str
    exit_code: int

    def parse(self) -> ParsedOutput:
        """With all that is known of it."""
        return parse_output(self.stdout, stderr=self.stderr, exit_code=self.exit_code)


def nccl_capture(name: str) -> Capture:
    """One nccl-tests run by its file name without ending."""
    beside = json.loads((NCCL_TESTS / f"{name}.json").read_text("utf-8"))
    stdout = (NCCL_TESTS / f"{name}.txt").read_bytes().decode("utf-8")
    return Capture(stdout, beside["stderr"], beside["exit_code"])


def nccl_names() -> list[str]:
    """All of them."""
    return sorted(path.stem for path in NCCL_TESTS.glob("*.txt"))


def mpirun_capture(name: str) -> Capture:
    """One failed launch, by `ompi4/segv`. The file names its exit code in the first line."""
    text = (MPIRUN / f"{name}.txt").read_bytes().decode("utf-8")
    first, _, rest = text.partition("\n")
    stdout, _, stderr = rest.removeprefix("--- stdout\n").partition("--- stderr\n")
    return Capture(stdout, stderr, int(first.rpartition("rc=")[2]))
