"""The documents of a training that are saved and read back: of its log, of its profile, of a calculation."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from healthcheck.model import vitals_log, vitals_mfu, vitals_trace
from healthcheck.model.vitals_log import LogVitals
from healthcheck.model.vitals_mfu import MfuAnswer
from healthcheck.model.vitals_trace import TraceVitals

VitalsDocument = LogVitals | TraceVitals | MfuAnswer


class DocumentKind(StrEnum):
    """Which of the commands of `healthcheck vitals` printed it."""

    LOG = "log"
    TRACE = "trace"
    MFU = "mfu"

    @property
    def type(self) -> type[LogVitals] | type[TraceVitals] | type[MfuAnswer]:
        """What such a document is read into."""
        return _TYPES[self]

    @property
    def schema(self) -> str:
        """How such a document names itself."""
        return _SCHEMAS[self]


_TYPES: Final[Mapping[DocumentKind, type[LogVitals] | type[TraceVitals] | type[MfuAnswer]]] = {
    DocumentKind.LOG: LogVitals,
    DocumentKind.TRACE: TraceVitals,
    DocumentKind.MFU: MfuAnswer,
}
_SCHEMAS: Final[Mapping[DocumentKind, str]] = {
    DocumentKind.LOG: vitals_log.SCHEMA,
    DocumentKind.TRACE: vitals_trace.SCHEMA,
    DocumentKind.MFU: vitals_mfu.MFU_SCHEMA,
}


def kind_of(document: VitalsDocument) -> DocumentKind:
    """Which kind of document it is."""
    return next(kind for kind, of in _TYPES.items() if isinstance(document, of))
