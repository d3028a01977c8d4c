"""The training beside a check-up: its documents and the record joined, as a page shows them."""

from __future__ import annotations

from collections.abc import Sequence

from healthcheck.diagnosis.joint.answer import diagnose
from healthcheck.diagnosis.joint.given import Given
from healthcheck.diagnosis.joint.training_signs import TrainingDocuments
from healthcheck.model.joint import Joint
from healthcheck.model.record import RunRecord
from healthcheck.model.vitals_document import VitalsDocument
from healthcheck.model.vitals_log import LogVitals
from healthcheck.model.vitals_mfu import MfuAnswer
from healthcheck.model.vitals_trace import TraceVitals
from healthcheck.reporting.training_page import TrainingShown


def training_of(documents: Sequence[VitalsDocument]) -> TrainingDocuments:
    """At most one of each kind, as a diagnosis takes them."""
    return TrainingDocuments(
        log=next((one for one in documents if isinstance(one, LogVitals)), None),
        trace=next((one for one in documents if isinstance(one, TraceVitals)), None),
        mfu=next((one for one in documents if isinstance(one, MfuAnswer)), None),
    )


def shown(training: TrainingDocuments, joint: Joint | None = None) -> TrainingShown:
    """What a page is made of."""
    return TrainingShown(
        logs=() if training.log is None else (training.log,),
        traces=() if training.trace is None else (training.trace,),
        joint=joint,
    )


def beside(record: RunRecord, documents: Sequence[VitalsDocument]) -> TrainingShown | None:
    """The training of a run's own pages, diagnosed with its record; None without a document."""
    if not documents:
        return None
    training = training_of(documents)
    return shown(training, diagnose(Given(training, record=record, record_named=record.run_id)))
