"""Small exports of Nsight Systems with known contents, in the columns that `nsys export --type sqlite` writes (3.25).

A table is made only when something is put into it, as the tool does. Times are microseconds here, nanoseconds there.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Final

_US: Final = 1000
_COLUMNS: Final = {
    "StringIds": "id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL",
    "META_DATA_EXPORT": "name TEXT NOT NULL, value TEXT",
    "TARGET_INFO_GPU": "vmId INTEGER NOT NULL, id INTEGER NOT NULL, name TEXT, busLocation TEXT, isDiscrete INTEGER",
    "TARGET_INFO_CUDA_DEVICE": "gpuId INTEGER NOT NULL, cudaId INTEGER NOT NULL, pid INTEGER NOT NULL, uuid TEXT",
    "CUPTI_ACTIVITY_KIND_KERNEL": "start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, "
    "contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, "
    "demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL, mangledName INTEGER, launchType INTEGER, "
    "gridX INTEGER NOT NULL, blockX INTEGER NOT NULL, graphNodeId INTEGER, graphId INTEGER",
    "CUPTI_ACTIVITY_KIND_MEMCPY": "start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, "
    "contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, "
    "bytes INTEGER NOT NULL, copyKind INTEGER NOT NULL",
    "CUPTI_ACTIVITY_KIND_MEMSET": "start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, "
    "contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, "
    "value INTEGER NOT NULL, bytes INTEGER NOT NULL",
    "CUPTI_ACTIVITY_KIND_GRAPH_TRACE": "start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, "
    "graphId INTEGER NOT NULL, graphExecId INTEGER NOT NULL, contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, "
    "correlationId INTEGER, globalPid INTEGER",
    "CUPTI_ACTIVITY_KIND_RUNTIME": "start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL, "
    "globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL",
    "NVTX_EVENTS": "start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, rangeId INTEGER, "
    "category INTEGER, color INTEGER, text TEXT, globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER, "
    "domainId INTEGER, uint64Value INTEGER, jsonText TEXT",
}
PUSH_POP: Final = 59


class Export:
    """One file being made. `pid` is the process everything belongs to unless it is said otherwise."""

    def __init__(self, path: Path, *, pid: int = 4242, omit: frozenset[str] = frozenset()) -> None:
        """`omit` are columns this version of the tool does not write, or tables it left out."""
        self.path = path
        self._pid = pid
        self._omit = omit
        self._db = sqlite3.connect(path)
        self._calls = 0
        self._ids: dict[str, int] = {}
        self._tables: set[str] = set()
        self._put("META_DATA_EXPORT", name="EXPORT_SCHEMA_VERSION", value="3.25.0")
        self._string("")

    def kernel(
        self,
        name: str,
        begin: float,
        end: float,
        *,
        launch: float | None = None,
        device: int = 0,
        stream: int = 7,
        pid: int | None = None,
        graph_node: int | None = None,
    ) -> None:
        """A kernel, and the call that launched it at `launch` (default: at its begin)."""
        self._put(
            "CUPTI_ACTIVITY_KIND_KERNEL",
            **self._on_gpu(begin, end, launch, device, stream, pid),
            demangledName=self._string(name),
            shortName=self._string(name.partition("(")[0].rpartition("::")[2]),
            gridX=1,
            blockX=32,
            graphNodeId=graph_node,
        )

    def memcpy(
        self, begin: float, end: float, *, launch: float | None = None, device: int = 0, pid: int | None = None
    ) -> None:
        """A copy from the host."""
        self._put(
            "CUPTI_ACTIVITY_KIND_MEMCPY", **self._on_gpu(begin, end, launch, device, 7, pid), bytes=1 << 20, copyKind=1
        )

    def memset(
        self, begin: float, end: float, *, launch: float | None = None, device: int = 0, pid: int | None = None
    ) -> None:
        """A fill."""
        self._put(
            "CUPTI_ACTIVITY_KIND_MEMSET", **self._on_gpu(begin, end, launch, device, 7, pid), value=0, bytes=1 << 20
        )

    def graph(self, begin: float, end: float, *, device: int = 0, pid: int | None = None) -> None:
        """A CUDA graph as `--cuda-graph-trace=graph` records it: one block, no kernels."""
        self._put(
            "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
            **self._on_gpu(begin, end, None, device, 7, pid),
            graphId=3,
            graphExecId=4,
        )

    def range(
        self,
        name: str,
        begin: float,
        end: float | None,
        *,
        tid: int = 1,
        pid: int | None = None,
        registered: bool = False,
    ) -> None:
        """A named range of a thread; `end` None: it was still open. A registered string is kept by its id."""
        self._put(
            "NVTX_EVENTS",
            start=round(begin * _US),
            end=None if end is None else round(end * _US),
            eventType=PUSH_POP,
            text=None if registered else name,
            textId=self._string(name) if registered else None,
            globalTid=self._process(pid) + tid,
            domainId=0,
        )

    def gpu(self, number: int, name: str, *, cuda: int | None = None, pid: int | None = None) -> None:
        """A GPU of the machine, known to a process as `cuda`."""
        self._put("TARGET_INFO_GPU", vmId=0, id=number, name=name)
        if cuda is not None:
            self._put("TARGET_INFO_CUDA_DEVICE", gpuId=number, cudaId=cuda, pid=self._pid if pid is None else pid)

    def close(self) -> Path:
        """Write it."""
        self._db.commit()
        self._db.close()
        return self.path

    def launch(self, at: float, *, pid: int | None = None) -> int:
        """A call of the host that launches something, whether or not that runs; its number."""
        self._calls += 1
        called = round(at * _US)
        self._put(
            "CUPTI_ACTIVITY_KIND_RUNTIME",
            start=called,
            end=called + 1,
            eventClass=0,
            globalTid=self._process(pid) + 1,
            correlationId=self._calls,
            nameId=self._string("cudaLaunchKernel_v7000"),
            returnValue=0,
        )
        return self._calls

    def _on_gpu(
        self, begin: float, end: float, launch: float | None, device: int, stream: int, pid: int | None
    ) -> dict[str, int]:
        call = self.launch(begin if launch is None else launch, pid=pid)
        return {
            "start": round(begin * _US),
            "end": round(end * _US),
            "deviceId": device,
            "contextId": 1,
            "streamId": stream,
            "correlationId": call,
            "globalPid": self._process(pid),
        }

    def _process(self, pid: int | None) -> int:
        """As serialized by the tool: hardware and machine above, the pid, 24 bits for a thread below."""
        return (1 << 48) + ((self._pid if pid is None else pid) << 24)

    def _string(self, text: str) -> int:
        if text not in self._ids:
            self._ids[text] = len(self._ids)
            self._put("StringIds", id=self._ids[text], value=text)
        return self._ids[text]

    def _put(self, table: str, **row: int | str | None) -> None:
        if table in self._omit:
            return
        if table not in self._tables:
            self._tables.add(table)
            columns = [column for column in _COLUMNS[table].split(", ") if column.split()[0] not in self._omit]
            self._db.execute(f"CREATE TABLE {table} ({', '.join(columns)})")
        kept = {name: value for name, value in row.items() if name not in self._omit}
        marks = ", ".join("?" * len(kept))
        self._db.execute(f"INSERT INTO {table} ({', '.join(kept)}) VALUES ({marks})", tuple(kept.values()))
