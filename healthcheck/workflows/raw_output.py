"""What a job printed, read from the files it was kept in: when it ends, and again by `rejudge`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from healthcheck.errors import StoreError
from healthcheck.model.command import CommandResult, ExitKind
from healthcheck.model.measurement import ParsedOutput
from healthcheck.model.message import Message
from healthcheck.parsing.launcher_output import classify
from healthcheck.parsing.launcher_rules import NO_PMI
from healthcheck.parsing.nccl_tests import parse_output
from healthcheck.workflows.files_only import open_lines

LAUNCHER_TEXT_BYTES = 256 << 10


def exit_code_of(result: CommandResult) -> int | None:
    """The exit code where it says something about the ranks: one that we caused does not."""
    return result.exit_code if result.kind is ExitKind.EXITED else None


def read_output(raw: tuple[Path, Path], argv: Sequence[str], code: int | None) -> ParsedOutput:
    """What was printed so far; `raw` are stdout and stderr. StoreError when somebody took the files away."""
    out_path, err_path = raw
    try:
        with (
            open_lines(out_path) as out,
            open_lines(err_path) as err,
        ):
            return parse_output(out, stderr=err, exit_code=code, argv=argv)
    except OSError as error:
        raise StoreError(f"cannot read {error.filename}: {error.strerror}") from error


def launch_error(raw: tuple[Path, Path], result: CommandResult) -> Message | None:
    """What the launcher says went wrong; of a command that ended well only that its ranks never found each other."""
    out_path, err_path = raw
    error = classify(_beginning(out_path), _beginning(err_path), exit_code_of(result))
    return None if error is None or (result.ok and error.kind != NO_PMI) else error.message


def sizes(raw: tuple[Path, Path]) -> tuple[int, int]:
    """Bytes of stdout and stderr; StoreError when somebody took the files away."""
    try:
        return raw[0].stat().st_size, raw[1].stat().st_size
    except OSError as error:
        raise StoreError(f"cannot read {error.filename}: {error.strerror}") from error


def _beginning(path: Path) -> str:
    """A launcher says what went wrong before anything else, or there is little."""
    with open_lines(path) as file:
        return file.read(LAUNCHER_TEXT_BYTES)
