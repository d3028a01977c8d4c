"""A record, and a line of the index over records, to a `PastRun`: measured once, read many times."""

from __future__ import annotations

import zlib
from collections.abc import Collection, Iterable
from datetime import UTC, datetime
from statistics import median

import msgspec
from msgspec.structs import replace

from healthcheck.errors import InputError
from healthcheck.model.digest import DigestJob, RunDigest
from healthcheck.model.history import PastHost, PastJob, PastRun
from healthcheck.model.judged import judged_gbyte_s
from healthcheck.model.measurement import CollectiveRow, Placement
from healthcheck.model.verdict import Verdict
from healthcheck.parsing.record_digest import decode_digest

INDEX_SCHEMA = "healthcheck.history_index/3"
HEADER = b'{"schema": "' + INDEX_SCHEMA.encode() + b'"}'
SEARCH_STAGE = "localise"


class _Check(msgspec.Struct, frozen=True):
    component: str = ""
    verdict: str = ""
    rule: str = ""


class _Rules(msgspec.Struct, frozen=True):
    checks: tuple[_Check, ...] = ()


class IndexLine(msgspec.Struct, frozen=True):
    """One record as it was when it was read: its folder, size in bytes and time of change in ns.

    `run` is None where the record cannot be read; then `problem` says why.
    """

    folder: str
    size: int
    mtime_ns: int
    run: PastRun | None = None
    problem: str = ""


_READ_RULES = msgspec.json.Decoder(_Rules)
_READ_LINE = msgspec.json.Decoder(IndexLine)


def read_past_run(data: bytes, source: str, folder: str) -> PastRun:
    """What history keeps of the record in `data`; InputError naming `source` when it cannot be read."""
    digest = decode_digest(data, source)
    try:
        rules = _rules(_READ_RULES.decode(data))
    except msgspec.MsgspecError as error:
        raise InputError(source, f"cannot be read as a run record: {error}") from None
    return _past_run(digest, rules, folder)


def encode_line(line: IndexLine) -> bytes:
    """One line of the index: the checksum of its text, and the text."""
    text = msgspec.json.encode(line)
    return b"%08x %s" % (zlib.crc32(text), text)


def decode_line(line: bytes) -> IndexLine | None:
    """The line as it was written; None where a single byte of it is not, or where another version wrote it."""
    checksum, text = line[:8], line[9:]
    try:
        if int(checksum, 16) != zlib.crc32(text) or line[8:9] != b" ":
            return None
        return _READ_LINE.decode(text)
    except (ValueError, msgspec.MsgspecError, RecursionError):
        return None


def only_hosts(run: PastRun, hosts: Collection[str]) -> PastRun:
    """The run without other hosts, and without jobs in which none of `hosts` took part."""
    return replace(
        run,
        hosts=tuple(host for host in run.hosts if host.name in hosts),
        jobs=tuple(job for job in run.jobs if any(name in hosts for name in job.hosts)),
    )


def in_order(runs: Iterable[PastRun]) -> tuple[tuple[PastRun, ...], int]:
    """(the runs from the oldest to the newest, how many were left out as copies of another under its id).

    Of two folders with one id the one counts that is called like it, else the first by name.
    """
    found: dict[str, PastRun] = {}
    ordered = sorted(runs, key=lambda run: (run.folder != run.run_id, run.folder))
    for run in ordered:
        found.setdefault(run.run_id, run)
    return tuple(sorted(found.values(), key=lambda run: (instant(run.started_at), run.run_id))), len(ordered) - len(
        found
    )


def instant(iso: str) -> datetime:
    """A time of a record in UTC; the beginning of time where it is none."""
    try:
        at = datetime.fromisoformat(iso)
    except ValueError:
        return datetime.min.replace(tzinfo=UTC)
    return at.astimezone(UTC) if at.tzinfo is not None else at.replace(tzinfo=UTC)


def _rules(read: _Rules) -> dict[tuple[str, str], str]:
    """(host, verdict) -> the first rule that gave a part of the host that verdict; looks come before benchmarks."""
    found: dict[tuple[str, str], str] = {}
    for check in read.checks:
        if check.verdict != "PASS":
            found.setdefault((check.component.partition("/")[0], check.verdict), check.rule)
    return found


def _past_run(digest: RunDigest, rules: dict[tuple[str, str], str], folder: str) -> PastRun:
    platform = digest.platform
    return PastRun(
        run_id=digest.run_id,
        folder=folder,
        state=digest.state,
        verdict=digest.verdict,
        simulated=digest.simulated,
        started_at=digest.started_at,
        finished_at=digest.finished_at,
        tool=digest.provenance.tool,
        playbook=digest.playbook.name,
        playbook_sha256=digest.provenance.playbook_sha256,
        platform="" if platform is None else platform.name,
        nics=None if platform is None else platform.nics.count,
        healthy=len(digest.healthy_hosts),
        hosts=tuple(
            PastHost(host.name, host.verdict)
            if host.verdict == "PASS"
            else PastHost(
                host.name,
                host.verdict,
                rules.get((host.name, host.verdict), ""),
                *((host.reasons[0].message_en, host.reasons[0].message) if host.reasons else ()),
            )
            for host in digest.hosts
        ),
        jobs=_together(digest.jobs),
        settings=digest.fleet,
        part=digest.provenance.only,
    )


def _together(jobs: tuple[DigestJob, ...]) -> tuple[PastJob, ...]:
    groups: dict[tuple[str, str, tuple[str, ...], int], list[DigestJob]] = {}
    for job in jobs:
        if job.stage != SEARCH_STAGE and job.verdict is not None:
            groups.setdefault((job.stage, job.collective, job.hosts, job.n_ranks), []).append(job)
    return tuple(_past_job(repeats) for repeats in groups.values())


def _past_job(repeats: list[DigestJob]) -> PastJob:
    first = repeats[0]
    rows: dict[int, list[CollectiveRow]] = {}
    for job in repeats:
        for row in job.rows:
            rows.setdefault(row.size_bytes, []).append(row)
    sizes = tuple(sorted(rows))
    return PastJob(
        stage=first.stage,
        collective=first.collective,
        hosts=first.hosts,
        n_ranks=first.n_ranks,
        verdict=max((job.verdict or "" for job in repeats), key=_badness),
        sizes=sizes,
        out_of_place=tuple(_middle([row.out_of_place for row in rows[size]]) for size in sizes),
        in_place=tuple(_middle([row.in_place for row in rows[size]]) for size in sizes),
        judged=judged_gbyte_s([row for job in repeats for row in job.rows]),
    )


def _badness(verdict: str) -> int:
    """Place in the order of verdicts; a name nobody knows is worse than all."""
    return int(Verdict[verdict]) if verdict in Verdict.__members__ else len(Verdict)


def _middle(halves: list[Placement | None]) -> float | None:
    known = [half.busbw_gbyte_s for half in halves if half is not None and half.busbw_gbyte_s is not None]
    if len(known) == 1:
        return known[0]
    return median(known) if known else None
