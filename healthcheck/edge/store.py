"""Run directories: `reports/<run_id>/`. Files outside `raw/` appear whole or not at all."""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import shutil
import string
import urllib.parse
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from healthcheck.edge.places import is_file, is_folder, owners_only
from healthcheck.edge.sink import DEFAULT_BOUND_BYTES, FileJobSink
from healthcheck.errors import InputError, StoreError
from healthcheck.model.circumstances import Circumstances
from healthcheck.model.command import JobOutcome
from healthcheck.model.playbook import PROBE_STAGE
from healthcheck.model.record import RunRecord
from healthcheck.parsing.circumstances import decode_circumstances, encode_circumstances
from healthcheck.parsing.record_codec import decode_outcome, decode_record, encode_outcome, encode_record
from healthcheck.ports import Clock, JobSink
from healthcheck.workflows.files_only import read_file

RECORD = "record.json"
OUTCOME = "outcome.json"
NCCL = "nccl"
UNDER_LOAD = "under_load"
CIRCUMSTANCES = "raw/circumstances.json"
LONGEST_NAME = 200


def new_run_id(now: datetime) -> str:
    """UTC start time and four random letters."""
    letters = "".join(secrets.choice(string.ascii_lowercase) for _ in range(4))
    return f"{now:%Y%m%dT%H%M%SZ}-{letters}"


def write_atomically(path: Path, content: bytes, *, survive_power_loss: bool = True, mode: int | None = None) -> None:
    """Write to a temporary name in the same folder, rename; only the owner may read it, unless `mode` says who.

    The name is new and cannot be guessed: lists and metrics may go to a folder in which others lay links. Flushing to
    the platter costs ten milliseconds.
    """
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        with open(temporary, "xb", opener=owners_only) as file:
            if mode is not None:
                os.fchmod(file.fileno(), mode)
            file.write(content)
            if survive_power_loss:
                file.flush()
                os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException as error:  # a second Ctrl-C, too, leaves no half of a file
        with contextlib.suppress(OSError):
            temporary.unlink()
        if not isinstance(error, OSError):
            raise
        raise StoreError(f"cannot write {path}: {error.strerror}") from error


class DirectoryStore:
    """ports.RunStore in a folder of mode 0700."""

    def __init__(self, folder: Path, clock: Clock, bound_bytes: int = DEFAULT_BOUND_BYTES) -> None:
        self._folder = folder
        self._clock = clock
        self._bound = bound_bytes

    @classmethod
    def create(cls, results: Path, clock: Clock, files: Mapping[str, str] | None = None) -> DirectoryStore:
        """A new run directory below `results`, with `files` in it (path below it -> text).

        InputError when the place cannot be used: nothing was begun yet, and no half of a run is left behind.
        """
        cannot = f"cannot create a run directory in {results}"
        store = cls(results / new_run_id(clock.now()), clock)
        try:
            results.mkdir(parents=True, exist_ok=True)
            store.folder.mkdir(mode=0o700)
        except FileExistsError:
            raise InputError("--results", f"{cannot}: it is no folder; name one, or one to be made") from None
        except OSError as error:
            raise InputError("--results", f"{cannot}: {error.strerror}") from error
        try:
            for name in ("raw", "inputs"):
                (store.folder / name).mkdir(mode=0o700)
            for name, text in (files or {}).items():
                store.write(name, text)
        except (OSError, StoreError) as error:
            shutil.rmtree(store.folder, ignore_errors=True)
            reason = error.strerror if isinstance(error, OSError) else error
            raise InputError("--results", f"{cannot}: {reason}") from error
        return store

    @classmethod
    def open(cls, run: str, results: Path, clock: Clock) -> DirectoryStore:
        """An existing run, by its folder, by a file of that folder, or by its id below `results`."""
        named = Path(run)
        for folder in (named.parent if is_file(named) else named, results / run):
            if is_file(folder / RECORD):
                return cls(folder, clock)
        raise InputError(run, f"is not a run directory: there is no {RECORD} in it, nor in {results / run}")

    @property
    def folder(self) -> Path:
        """`reports/<run_id>`."""
        return self._folder

    def _job_folder(self, job_id: str, stage: str) -> Path:
        name = _quoted(job_id)
        if len(name) > LONGEST_NAME:
            # A host name may have 253 letters, a folder 255 with everything before and behind it.
            name = f"{name[: LONGEST_NAME - 13]}-{hashlib.sha256(job_id.encode()).hexdigest()[:12]}"
        return self._folder / "raw" / stage / name

    def sink(self, job_id: str, stage: str) -> JobSink:
        """The raw files of a job; an earlier, unfinished attempt is moved aside, never overwritten."""
        folder = self._job_folder(job_id, stage)
        try:
            attempt = 1
            while folder.exists():
                aside = folder.with_name(f"{folder.name}.attempt{attempt}")
                if not aside.exists():
                    folder.rename(aside)
                attempt += 1
            folder.mkdir(mode=0o700, parents=True)
            return FileJobSink(folder, self._clock, self._bound)
        except OSError as error:
            raise StoreError(f"cannot write below {folder}: {error.strerror}") from error

    def raw_text_files(self, job_id: str, stage: str) -> tuple[Path, Path]:
        """(stdout, stderr) of a job."""
        folder = self._job_folder(job_id, stage)
        return folder / "stdout", folder / "stderr"

    def save_nccl_log(self, job_id: str, stage: str, host: str, name: str, text: str) -> Path:
        """Keep the NCCL log of one rank as `nccl/HOST/NAME` of the job; a second one of that name gets a number."""
        folder = self._job_folder(job_id, stage) / NCCL / _quoted(host)
        file = _quoted(name)[:LONGEST_NAME]
        path, number = folder / file, 1
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            while path.exists():
                number += 1
                path = folder / f"{file}.{number}"
            with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as kept:
                kept.write(text.encode("utf-8", "backslashreplace"))
        except OSError as error:
            raise StoreError(f"cannot write below {folder}: {error.strerror}") from error
        return path

    def nccl_logs(self, job_id: str, stage: str) -> tuple[tuple[str, Path], ...]:
        """(host, file) of the NCCL logs kept of a job, by host, then name."""
        files = sorted((self._job_folder(job_id, stage) / NCCL).glob("*/*"))
        return tuple((urllib.parse.unquote(path.parent.name), path) for path in files)

    def save_outcome(self, outcome: JobOutcome) -> None:
        """Keep the result of a job, as soon as it has ended."""
        folder = self._job_folder(outcome.job.id, outcome.job.stage)
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(f"cannot write below {folder}: {error.strerror}") from error
        write_atomically(folder / OUTCOME, encode_outcome(outcome), survive_power_loss=False)

    def outcomes(self) -> dict[str, JobOutcome]:
        """All kept results by job id; attempts that were moved aside are not among them.

        A result that a power cut damaged is none: its job is simply measured again.
        """
        found = {}
        for path in sorted((self._folder / "raw").glob(f"*/*/{OUTCOME}")):
            if ".attempt" in path.parent.name:
                continue
            with contextlib.suppress(InputError, OSError):
                outcome = decode_outcome(read_file(path), str(path))
                found[outcome.job.id] = outcome
        return found

    def save_look(self, host: str, when: str, text: str) -> None:
        """Keep what a node answered to the probes, as received."""
        folder = self._job_folder(host, PROBE_STAGE)
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(f"cannot write below {folder}: {error.strerror}") from error
        write_atomically(folder / when, text.encode("utf-8", "backslashreplace"), survive_power_loss=False)

    def look(self, host: str, when: str) -> str | None:
        """A look as it was kept; None where it is gone."""
        return _text(self._job_folder(host, PROBE_STAGE) / when)

    def save_under_load(self, job_id: str, stage: str, nonce: str, text: str) -> None:
        """Keep what the only host of a job answered while it measured, behind a line with the mark of its frames.

        With its length in characters, so that one that was cut is known for it.
        """
        path = self._job_folder(job_id, stage) / UNDER_LOAD
        write_atomically(
            path, f"{nonce} {len(text)}\n{text}".encode("utf-8", "backslashreplace"), survive_power_loss=False
        )

    def under_load(self, job_id: str, stage: str) -> tuple[str, str] | None:
        """(nonce, text) of the look at a job's host while it measured; None where none was kept, or not all of it."""
        head, _, text = (_text(self._job_folder(job_id, stage) / UNDER_LOAD) or "").partition("\n")
        nonce, _, length = head.partition(" ")
        return (nonce, text) if length == str(len(text)) else None

    def save_circumstances(self, circumstances: Circumstances) -> None:
        """Write `raw/circumstances.json` atomically."""
        path = self._folder / CIRCUMSTANCES
        try:
            path.parent.mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            raise StoreError(f"cannot write {path}: {error.strerror}") from error
        write_atomically(path, encode_circumstances(circumstances), survive_power_loss=False)

    def circumstances(self) -> Circumstances | None:
        """Read `raw/circumstances.json`; None where there is none, InputError where it is damaged."""
        path = self._folder / CIRCUMSTANCES
        text = _text(path)
        return None if text is None else decode_circumstances(text.encode("utf-8", "replace"), str(path))

    def save_record(self, record: RunRecord) -> None:
        """Write `record.json` atomically."""
        write_atomically(self._folder / RECORD, encode_record(record))

    def load_record(self) -> RunRecord:
        """Read `record.json`."""
        path = self._folder / RECORD
        try:
            data = read_file(path)
        except OSError as error:
            raise InputError(str(path), f"cannot be read: {error.strerror}") from None
        return decode_record(data, str(path))

    def write(self, name: str, content: str) -> Path:
        """Write one file of the run directory atomically."""
        path = self._folder / name
        write_atomically(path, content.encode("utf-8", "backslashreplace"))
        return path


def _quoted(text: str) -> str:
    """Any text as the name of a file: nothing of it leads out of its folder, and none is hidden.

    A host may be an IPv6 address; what is usual stays readable.
    """
    name = urllib.parse.quote(text, safe=".-_", errors="backslashreplace")
    return f"%2E{name[1:]}" if name.startswith(".") else name or "%"


def _text(path: Path) -> str | None:
    """What a file of the run says; None where it is not there or cannot be read."""
    try:
        return read_file(path).decode("utf-8", "replace")
    except OSError:
        return None


def check_results(results: Path) -> None:
    """InputError where `results` is no folder of runs: not there, or one of the runs."""
    if not is_folder(results):
        raise InputError("-o", f"there is no folder {results}; name the one the runs are in")
    if is_file(results / RECORD):
        raise InputError("-o", f"{results} is one run; name the folder above it, {results.resolve().parent}")


def earlier_runs(results: Path) -> tuple[Path, ...]:
    """Run directories below `results`, newest first."""
    if not is_folder(results):
        return ()
    return tuple(sorted((path.parent for path in results.glob(f"*/{RECORD}")), reverse=True))
