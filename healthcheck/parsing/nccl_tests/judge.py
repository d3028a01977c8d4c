"""What a whole output proves beyond its single lines: wrong values, mixed processes, an end without a word."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from healthcheck.model.collective import Collective
from healthcheck.model.measurement import CollectiveTable, FailureKind, ParseWarning
from healthcheck.parsing import launcher_output
from healthcheck.parsing.nccl_tests.draft import Draft, measured
from healthcheck.parsing.nccl_tests.failures import FailureLog
from healthcheck.parsing.nccl_tests.leftover import Leftover
from healthcheck.parsing.nccl_tests.stream import Stream

_LAUNCHERS = frozenset({"mpirun", "mpiexec", "mpiexec.hydra", "prterun", "srun"})
_LOGGERS = (
    "pod:",
    "compose:",
    "ray:",
    "pid:",
    "host:",
)  # these tell containers and nodes apart, not ranks of one launch
_UNCHECKED_IN_PLACE = frozenset(item.value for item in Collective if not item.in_place_is_checked)
_LAUNCH_KINDS = {
    "rank_signalled": FailureKind.KILLED,
    "killed": FailureKind.KILLED,
    "timeout": FailureKind.TIMEOUT,
    "library_missing": FailureKind.MISSING_LIBRARY,
    "unknown": FailureKind.UNKNOWN,
}
# What a launcher says only when a started job broke; everything else it says may be noise of a job that ran through.
_BREAKS_A_FINISHED_RUN = frozenset({"rank_signalled", "rank_exited", "mpi_abort", "daemon_lost"})


def find_mixed(streams: Mapping[str, Stream], argv: Sequence[str], failures: FailureLog) -> bool:
    """True when every process printed a table of its own. Records the failure.

    A build without MPI does that under a launcher, and so does one with another MPI than the launcher is of, whose
    ranks do not find each other: nothing in the output tells which.
    """
    why = _why_mixed(streams, argv)
    if why is not None:
        line, sign = why
        text = (
            f"every process printed its own table ({sign}): nccl-tests was built without MPI=1, or with another MPI "
            "than the launcher is of"
        )
        failures.add(FailureKind.NOT_MPI_BUILD, text, line=line)
    return why is not None


def _why_mixed(streams: Mapping[str, Stream], argv: Sequence[str]) -> tuple[int, str] | None:
    heads = [stream.config_lines for stream in streams.values() if stream.config_lines]
    launches = Counter(_launch(name) for name, stream in streams.items() if stream.config_lines and name)
    launch, processes = next(iter(launches.most_common(1)), ("", 0))
    if processes > 1 and not launch.startswith(_LOGGERS):
        return max(lines[0] for lines in heads), f"{processes} processes with a head of their own"
    for stream in streams.values():
        several = len(stream.config_lines) > 1
        for line, sign in stream.signs:
            if several or "rank 0" in sign:
                return line, sign
        if several and argv and argv[0].rpartition("/")[2] in _LAUNCHERS:
            return stream.config_lines[1], f"{len(stream.config_lines)} heads from one launch"
    return None


def _launch(process: str) -> str:
    """What the tags of all processes of one launch have in common: Open MPI 5 writes the id of its mpirun."""
    kind, _, tag = process.partition(":")
    return f"{kind}:{tag.rpartition(',')[0]}"


def find_failures(
    drafts: Sequence[Draft], tables: Sequence[CollectiveTable], failures: FailureLog, warnings: list[ParseWarning]
) -> None:
    """Wrong values and footers that say FAILED."""
    for draft, table in zip(drafts, tables, strict=True):
        untrusted = table.collective == Collective.HYPERCUBE and (table.n_ranks is None or table.n_ranks > 2)
        wrong = _first_wrong(draft, table)
        if wrong is None and draft.bounds is not None and not draft.bounds[1]:
            wrong = (draft.bounds[2], f"{draft.bounds[0]} results out of bounds")
        if wrong is not None and untrusted:
            text = f"{wrong[1]}; hypercube reports these on good hardware, not judged"
            warnings.append(ParseWarning("wrong_not_judged", text, wrong[0]))
        elif wrong is not None:
            failures.add(FailureKind.DATA_CHECK, wrong[1], line=wrong[0])
        if draft.average_ok is False:
            text = f"average bus bandwidth {draft.average} GB/s is below NCCL_TESTS_MIN_BW"
            failures.add(FailureKind.MIN_BANDWIDTH, text, line=draft.average_line)
        if table.collective in _UNCHECKED_IN_PLACE and any(row.in_place and row.in_place.wrong for row in table.rows):
            text = f"#wrong of the in-place half of {table.collective} is not reliable, not judged"
            warnings.append(ParseWarning("wrong_not_judged", text, draft.line))


def _first_wrong(draft: Draft, table: CollectiveTable) -> tuple[int | None, str] | None:
    lines = draft.lines if len(draft.lines) == len(draft.rows) else [None] * len(draft.rows)
    for row, line in zip(draft.rows, lines, strict=True):
        for name, half in row.placements:
            if half.wrong and not (name == "in_place" and table.collective in _UNCHECKED_IN_PLACE):
                return line, f"{half.wrong:g} wrong values at size {row.size_bytes} ({name.replace('_', ' ')})"
    return None


def find_ending(
    drafts: Sequence[Draft],
    tables: Sequence[CollectiveTable],
    exit_code: int | None,
    failures: FailureLog,
    leftover: Leftover,
) -> None:
    """How the process ended, where its own lines do not say it."""
    finished = bool(tables) and all(table.complete for table in tables)
    launch = launcher_output.classify("", leftover.text(), exit_code)
    if launch is not None and finished and exit_code in (0, None) and launch.kind not in _BREAKS_A_FINISHED_RUN:
        launch = None
    kind = FailureKind.LAUNCHER if launch is None else _LAUNCH_KINDS.get(launch.kind, FailureKind.LAUNCHER)
    if launch is not None and kind not in failures.kinds and (kind is not FailureKind.UNKNOWN or not failures.kinds):
        text = str(launch.message) if kind is FailureKind.UNKNOWN else launch.line or str(launch.message)
        failures.add(kind, text, launch.host, leftover.line_of(launch.line))
    # An average that is a number proves rows that somebody left out.
    ended = [draft for draft in drafts if draft.layout is not None and draft.finished and draft.average is None]
    footers = [draft.bounds[2] for draft in ended if draft.bounds is not None]
    # Rows that were there but could not be read are a cut log, not a run without a measurement.
    nothing = not any(draft.unread_rows or any(map(measured, draft.rows)) for draft in drafts)
    if nothing and (exit_code == 0 or footers) and not failures.kinds:
        line = footers[-1] if footers else None
        failures.add(FailureKind.NO_MEASUREMENT, "ended without one measured row", line=line)


def verified(tables: Sequence[CollectiveTable]) -> bool | None:
    """Were results checked: None without rows, False where every correctness column says N/A."""
    halves = [half for table in tables for row in table.rows for _, half in row.placements]
    if not halves:
        return None
    return any(half.wrong is not None or half.max_delta is not None for half in halves)
