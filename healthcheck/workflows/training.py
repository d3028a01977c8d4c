"""The training beside a check-up: its documents and the record joined, as a page shows them."""

from __future__ import annotations

from collections.abc import Sequence

from healthcheck.diagnosis.joint.answer import diagnose
from healthcheck.diagnosis.joint.given import Given
from healthcheck.diagnosis.joint.training_signs import Training as Signs
from healthcheck.model.joint import Joint
from healthcheck.model.record import RunRecord
from healthcheck.model.vitals_document import VitalsDocument
from healthcheck.model.vitals_log import LogVitals
from healthcheck.model.vitals_mfu import MfuAnswer
from healthcheck.model.vitals_trace import TraceVitals
from healthcheck.reporting.training_page import Training


def signs_of(documents: Sequence[VitalsDocument]) -> Signs:
    """At most one of each kind, as a diagnosis takes them."""
    return Signs(
        log=next((one for one in documents if isinstance(one, LogVitals)), None),
        trace=next((one for one in documents if isinstance(one, TraceVitals)), None),
        mfu=next((one for one in documents if isinstance(one, MfuAnswer)), None),
    )


def shown(signs: Signs, joint: Joint | None = None) -> Training:
    """What a page is made of."""
    return Training(
        logs=() if signs.log is None else (signs.log,),
        traces=() if signs.trace is None else (signs.trace,),
        joint=joint,
    )


def beside(record: RunRecord, documents: Sequence[VitalsDocument]) -> Training | None:
    """The training of a run's own pages, diagnosed with its record; None without a document."""
    if not documents:
        return None
    signs = signs_of(documents)
    return shown(signs, diagnose(Given(signs, record=record, record_named=record.run_id)))
