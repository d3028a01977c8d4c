"""The files healthcheck pushed to simulated nodes: kept in memory, shared where they are the same."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path

from healthcheck.model.message import say
from healthcheck.ports import PushFile, PushResult
from healthcheck.simulator.nodes import HOME

CACHE = f"{HOME}/.cache/healthcheck"


class SimFiles:
    """Files of all nodes of a cluster by node name and absolute path. Safe to call from many threads."""

    def __init__(self) -> None:
        self._by_host: dict[str, dict[str, bytes]] = {}
        self._sources: dict[str, bytes] = {}
        self._lock = threading.Lock()

    def of(self, host: str) -> Mapping[str, bytes]:
        """What lies on one node."""
        return self._by_host.get(host, {})

    def push(self, host: str, folder: str, files: tuple[PushFile, ...]) -> PushResult:
        """Put files below the cache folder of a node; `copied` names those that were not there already."""
        root = f"{CACHE}/{folder}".rstrip("/")
        copied = []
        with self._lock:
            there = self._by_host.setdefault(host, {})
            for file in files:
                try:
                    content = self._content(file)
                except OSError as error:
                    return PushResult(None, reason=say("push.refused", detail=str(error)))
                path = f"{root}/{file.name}"
                if there.get(path) != content:
                    there[path] = content
                    copied.append(file.name)
        return PushResult(root, tuple(copied))

    def _content(self, file: PushFile) -> bytes:
        if file.content is not None:
            return file.content
        source = file.source or ""
        if source not in self._sources:
            self._sources[source] = Path(source).read_bytes()
        return self._sources[source]
