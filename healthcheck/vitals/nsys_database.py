"""The SQLite export of a Nsight Systems report: which tables it has, and their rows in the order a reader wants.

Tables exist only where events do, and columns come and go with the version of the tool, so each is looked for. Times
are nanoseconds since the start of the session, host and GPU on one time base (schema 3.x, `nsys export --type sqlite`).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Final, NamedTuple

from healthcheck.errors import InputError

KERNEL: Final = "CUPTI_ACTIVITY_KIND_KERNEL"
MEMCPY: Final = "CUPTI_ACTIVITY_KIND_MEMCPY"
MEMSET: Final = "CUPTI_ACTIVITY_KIND_MEMSET"
GRAPH: Final = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE"
RUNTIME: Final = "CUPTI_ACTIVITY_KIND_RUNTIME"
DRIVER: Final = "CUPTI_ACTIVITY_KIND_DRIVER"
NVTX: Final = "NVTX_EVENTS"
STRINGS: Final = "StringIds"
# What is asked of a call of the host, beside its begin.
_CALL: Final = ("correlationId", "globalTid", "nameId")
_OF_NSYS: Final = (STRINGS, "META_DATA_EXPORT", "TARGET_INFO_SESSION_START_TIME", "ANALYSIS_DETAILS", "PROCESSES")
# A global id of a thread is its process shifted by so many bits, and the thread in the bits below.
_THREAD_BITS: Final = 24
_PID_MASK: Final = 0xFFFFFF


class Activity(NamedTuple):
    """Something the GPU did. `process` is None where the export does not say; `launched_ns` when the host asked for it.

    `table` says what it was; `name` is the kernel's, with its namespace and arguments; empty for all others.
    """

    process: int | None
    device: int
    begin_ns: int
    end_ns: int
    table: str
    name: str
    launched_ns: int | None


class HostRange(NamedTuple):
    """A named range of a thread that began and ended inside the recording. `thread` holds its process."""

    thread: int
    begin_ns: int
    end_ns: int
    name: str

    @property
    def process(self) -> int:
        """The process it belongs to, as `Activity.process`."""
        return self.thread >> _THREAD_BITS


class Database:
    """One export, opened for reading by whoever calls. `name` is the file, for sentences about it.

    InputError where it is none, or damaged.
    """

    def __init__(self, connection: sqlite3.Connection, name: str) -> None:
        self._connection = connection
        self._name = name
        self._columns: dict[str, frozenset[str]] = {}
        tables = {str(row[0]) for row in self._rows("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")}
        if not tables.intersection(_OF_NSYS) and not any(table.startswith("CUPTI_ACTIVITY_KIND_") for table in tables):
            found = ", ".join(sorted(tables)[:3]) or "no table at all"
            raise InputError(
                name,
                f"is a SQLite file, but not an export of Nsight Systems (it has {found}); make one with "
                "`nsys export --type sqlite REPORT.nsys-rep`",
            )
        for table in tables.intersection((KERNEL, MEMCPY, MEMSET, GRAPH, RUNTIME, DRIVER, NVTX, STRINGS, *_TARGETS)):
            self._columns[table] = frozenset(str(row[1]) for row in self._rows(f"PRAGMA table_info({table})"))
        called = [table for table in (RUNTIME, DRIVER) if self.has(table, "start", *_CALL)]
        self._calls = " UNION ALL ".join(f"SELECT start, {', '.join(_CALL)} FROM {table}" for table in called)  # noqa: S608
        self._launches = self._index_launches()

    def has(self, table: str, *columns: str) -> bool:
        """Whether the export has this table with all these columns."""
        return table in self._columns and self._columns[table].issuperset(columns)

    def count(self, table: str) -> int:
        """Rows of a table; 0 where there is none."""
        return int(next(self._rows(f"SELECT COUNT(*) FROM {table}"))[0]) if self.has(table) else 0  # noqa: S608

    def activities(self) -> Iterator[Activity]:
        """All kernels, copies and graphs, GPU by GPU, each in order of their begin."""
        arms = [self._arm(table) for table in (KERNEL, MEMCPY, MEMSET, GRAPH) if self.has(table, "start", "end")]
        if arms:
            names = self._strings()
            order = " ORDER BY 1, 2, 3"
            for process, device, begin, end, table, name, launched in self._rows(" UNION ALL ".join(arms) + order):
                text = name if isinstance(name, str) else names.get(name, "")
                yield Activity(process, device or 0, begin, end, table, text, launched)

    def ranges(self) -> Iterator[HostRange]:
        """All named ranges of the host that ended inside the recording, in order of their begin."""
        if not self.has(NVTX, "start", "end"):
            return
        named = self.has(NVTX, "textId") and self.has(STRINGS, "id", "value")
        written = "e.text" if self.has(NVTX, "text") else "NULL"
        text = f"COALESCE({written}, s.value)" if named else written
        join = f" LEFT JOIN {STRINGS} s ON s.id = e.textId" if named else ""
        thread = "e.globalTid" if self.has(NVTX, "globalTid") else "0"
        query = (
            f"SELECT {thread}, e.start, e.end, {text} FROM {NVTX} e{join} "  # noqa: S608 - names of this file only
            "WHERE e.end > e.start ORDER BY e.start"
        )
        for owner, begin, end, name in self._rows(query):
            if isinstance(name, str):
                yield HostRange(int(owner or 0), begin, end, name)

    def unanswered(self, process: int | None) -> Iterator[int]:
        """When the host launched what never ran inside the recording, in any order; of any process where it is None."""
        if not self._launches or not self.has(STRINGS, "id", "value"):
            return
        own = "" if process is None else f" AND globalTid >> {_THREAD_BITS} = {process:d}"
        ran = []
        for table in (KERNEL, GRAPH):
            if self.has(table, "correlationId"):
                same = " WHERE correlationId IS NOT NULL"
                if process is not None and self.has(table, "globalPid"):
                    same += f" AND globalPid >> {_THREAD_BITS} = {process:d}"
                ran.append(f"SELECT correlationId FROM {table}{same}")  # noqa: S608 - names of this file and numbers
        if ran:
            launches = f"SELECT id FROM {STRINGS} WHERE value LIKE 'cu%Launch%'"  # noqa: S608 - cudaLaunchKernel_v7000
            query = (
                f"SELECT start FROM ({self._calls}) WHERE nameId IN ({launches}){own} "  # noqa: S608
                f"AND correlationId NOT IN ({' UNION ALL '.join(ran)})"
            )
            for (begin,) in self._rows(query):
                yield int(begin)

    def gpu_number(self, process: int | None, device: int) -> int | None:
        """Which GPU of the machine it is that a process knows by this number; None where the export does not say."""
        if process is None or not self.has("TARGET_INFO_CUDA_DEVICE", "gpuId", "cudaId", "pid"):
            return None
        query = "SELECT gpuId FROM TARGET_INFO_CUDA_DEVICE WHERE cudaId = ? AND pid = ?"
        found = {number for (number,) in self._rows(query, device, process & _PID_MASK)}
        number = found.pop() if len(found) == 1 else None
        return number if isinstance(number, int) else None

    def gpu_name(self, process: int | None, device: int) -> str | None:
        """What the export calls the GPU that a process knows by this number; often it does not say."""
        if not self.has("TARGET_INFO_GPU", "id", "name"):
            return None
        names = dict(self._rows("SELECT id, name FROM TARGET_INFO_GPU"))
        if len(set(names.values())) == 1:
            return str(next(iter(names.values())))
        return names.get(self.gpu_number(process, device))

    def _arm(self, table: str) -> str:
        """The rows of one table as columns of `Activity`."""
        process = f"CAST(a.globalPid AS INTEGER) >> {_THREAD_BITS}" if self.has(table, "globalPid") else "NULL"
        device = "CAST(a.deviceId AS INTEGER)" if self.has(table, "deviceId") else "0"
        name = "0"
        if table == KERNEL:
            # The long name has the namespace, by which some kernels that communicate are known.
            given = [
                f"NULLIF(a.{column}, 0)" for column in ("demangledName", "shortName", "name") if self.has(table, column)
            ]
            name = f"COALESCE({', '.join([*given, '0', '0'])})"
        launched, join = "NULL", ""
        if self._launches and self.has(table, "correlationId"):
            same = f" AND l.process = {process}" if process != "NULL" else ""
            launched, join = "l.begin", f" LEFT JOIN temp.launches l ON l.correlation = a.correlationId{same}"
        times = "CAST(a.start AS INTEGER), CAST(a.end AS INTEGER)"
        return (
            f"SELECT {process}, {device}, {times}, '{table}', {name}, {launched} FROM {table} a{join} "  # noqa: S608
            "WHERE a.end > a.start"
        )

    def _index_launches(self) -> bool:
        """A table of our own beside the export (never in it): when each call of the host began.

        Numbers of calls are unique within a process only: where kernels do not tell theirs, one process can be told.
        """
        if not self._calls:
            return False
        process = f"globalTid >> {_THREAD_BITS}"
        if not self.has(KERNEL, "globalPid"):
            several = next(self._rows(f"SELECT COUNT(DISTINCT {process}) FROM ({self._calls})"))[0] > 1  # noqa: S608
            if several:
                return False
        self._do("CREATE TEMP TABLE launches (correlation INT, process INT, begin INT)")
        first = f"SELECT correlationId, {process}, CAST(MIN(start) AS INTEGER) FROM ({self._calls}) GROUP BY 1, 2"  # noqa: S608
        self._do(f"INSERT INTO launches {first}")
        self._do("CREATE INDEX temp.by_correlation ON launches (correlation, process, begin)")
        return True

    def _strings(self) -> dict[int, str]:
        """The names of kernels; a report has few of them, and may have millions of other strings."""
        columns = [column for column in ("demangledName", "shortName", "name") if self.has(KERNEL, column)]
        if not columns or not self.has(STRINGS, "id", "value"):
            return {}
        used = " UNION ".join(f"SELECT {column} FROM {KERNEL}" for column in columns)  # noqa: S608
        found = self._rows(f"SELECT id, value FROM {STRINGS} WHERE id IN ({used})")  # noqa: S608
        return {int(key): str(text) for key, text in found}

    def _do(self, statement: str) -> None:
        for _ in self._rows(statement):
            pass

    def _rows(self, query: str, *values: int) -> Iterator[tuple]:  # type: ignore[type-arg]
        """The rows of a query; what SQLite finds wrong on the way is one sentence about the file."""
        try:
            yield from self._connection.execute(query, values)
        except sqlite3.Error as error:
            raise InputError(self._name, _wrong(error)) from None


_TARGETS: Final = ("TARGET_INFO_GPU", "TARGET_INFO_CUDA_DEVICE")


def _wrong(error: sqlite3.Error) -> str:
    """What a user can do about an error of SQLite."""
    text = str(error)
    if "not a database" in text:
        return "is not a SQLite file; make one with `nsys export --type sqlite REPORT.nsys-rep`"
    if "malformed" in text or "disk I/O" in text:
        return f"is damaged or was cut off ({text}); export the report again with `nsys export --type sqlite`"
    if "full" in text:
        return (
            f"could not be sorted: no room for SQLite's temporary files ({text}); set SQLITE_TMPDIR to a larger folder"
        )
    return f"cannot be read: {text}; export the report again with `nsys export --type sqlite`"
