"""`inputs/earlier.json`: the run that a report was compared with, without what no comparison reads.

A tenth of its record, and kept beside the inputs, so that the pages can be made again when that run is long removed.
"""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from healthcheck.errors import InputError
from healthcheck.model.digest import DigestJob, DigestMessage, RunDigest
from healthcheck.model.earlier import Earlier, EarlierRun
from healthcheck.model.measurement import CollectiveRow, Placement
from healthcheck.model.message import Message

SCHEMA = "healthcheck.earlier/1"
_SEARCH_STAGE = "localise"

_Half = tuple[float | None, ...]


class _Job(msgspec.Struct, frozen=True, array_like=True):
    """`out_of_place` and `in_place` are bus bandwidths in GB/s, one for each of `sizes`; None: not printed."""

    id: str
    stage: str
    collective: str
    hosts: tuple[str, ...]
    n_ranks: int
    verdict: str | None
    sizes: tuple[int, ...]
    out_of_place: _Half
    in_place: _Half
    reasons: tuple[DigestMessage, ...] = ()


class _File(msgspec.Struct, frozen=True, omit_defaults=True):
    schema: str = ""
    before: RunDigest | None = None
    jobs: tuple[_Job, ...] = ()
    runs: tuple[EarlierRun, ...] = ()
    notes: tuple[Message, ...] = ()


def encode_earlier(earlier: Earlier) -> str:
    """The file as text."""
    before = earlier.before
    jobs = () if before is None else tuple(_short(job) for job in before.jobs if job.stage != _SEARCH_STAGE)
    head = None if before is None else replace(before, jobs=())
    return msgspec.json.encode(_File(SCHEMA, head, jobs, earlier.runs, earlier.notes)).decode() + "\n"


def decode_earlier(data: bytes, source: str) -> Earlier:
    """The file as it was written; InputError naming `source` where it is damaged or of another version."""
    try:
        found = msgspec.json.decode(data, type=_File)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(source, f"cannot be read: {error}") from None
    if found.schema != SCHEMA:
        raise InputError(source, f"is of another version of healthcheck; this one reads {SCHEMA}")
    before = None if found.before is None else replace(found.before, jobs=tuple(map(_long, found.jobs)))
    return Earlier(before, found.runs, found.notes)


def _short(job: DigestJob) -> _Job:
    return _Job(
        job.id,
        job.stage,
        job.collective,
        job.hosts,
        job.n_ranks,
        job.verdict,
        tuple(row.size_bytes for row in job.rows),
        tuple(_busbw(row.out_of_place) for row in job.rows),
        tuple(_busbw(row.in_place) for row in job.rows),
        job.reasons,
    )


def _busbw(half: Placement | None) -> float | None:
    return None if half is None else half.busbw_gbyte_s


def _long(job: _Job) -> DigestJob:
    rows = tuple(
        CollectiveRow(size, None, "", None, None, _half(outer), _half(inner))
        for size, outer, inner in zip(job.sizes, job.out_of_place, job.in_place, strict=False)
    )
    return DigestJob(job.id, job.stage, job.collective, job.hosts, job.n_ranks, job.verdict, rows, reasons=job.reasons)


def _half(busbw_gbyte_s: float | None) -> Placement | None:
    return None if busbw_gbyte_s is None else Placement(None, None, busbw_gbyte_s)
