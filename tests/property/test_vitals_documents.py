"""Whatever numbers stand in saved documents of a training, they are diagnosed and compared, or refused."""

from __future__ import annotations

import json
import random
from typing import TypeVar

import pytest
from msgspec import Struct

from healthcheck.diagnosis.joint.answer import diagnose
from healthcheck.diagnosis.joint.given import Given
from healthcheck.diagnosis.joint.training_signs import TrainingDocuments
from healthcheck.errors import InputError
from healthcheck.model import vitals_log, vitals_mfu, vitals_trace
from healthcheck.model.vitals_log import LogVitals
from healthcheck.model.vitals_mfu import MfuAnswer
from healthcheck.model.vitals_trace import TraceVitals
from healthcheck.parsing.record_codec import decode_document, encode_document
from healthcheck.reporting.joint import joint_document, joint_line, joint_lines
from healthcheck.reporting.vitals_compared import compared_document, compared_line, compared_lines
from healthcheck.vitals.compare.pairs import compare
from tests.golden.records import healthy, interrupted, sick
from tests.vitals_documents import a_collective, a_log, a_rank, a_trace, an_answer

EXTREMES = (0, -1, 1e308, -1e308, 1e-308, 0.5, 1.0, 2, 10**9)
LOG = a_log(printed_mfu=0.4, mfu=0.3, printed_tflops=100.0)
TRACE = a_trace(a_rank(0, jitter=0.01), a_rank(1), collectives=(a_collective(70.0),))
Json = object
T = TypeVar("T", bound=Struct)


def mangled(value: Json, dice: random.Random) -> Json:
    """The same document with some of its numbers extreme, and some of its lists empty."""
    if isinstance(value, dict):
        return {name: mangled(each, dice) for name, each in value.items()}
    if isinstance(value, list):
        return [] if dice.random() < 0.1 else [mangled(each, dice) for each in value]
    if isinstance(value, bool):
        return dice.random() < 0.5
    if isinstance(value, float) or value is None:
        return dice.choice(EXTREMES) if dice.random() < 0.25 else value
    return dice.choice((0, -1, 1, 10**9)) if isinstance(value, int) and dice.random() < 0.2 else value


def read(document: T, schema: str, dice: random.Random) -> T | None:
    raw = mangled(json.loads(encode_document(schema, document)), dice)
    assert isinstance(raw, dict)
    text = json.dumps({**raw, "schema": schema})
    try:
        return decode_document(text.encode(), "f", type(document), schema, "document")
    except InputError as error:
        assert str(error).isprintable() and str(error).startswith("f: ")
        return None


@pytest.mark.parametrize("seed", range(60))
def test_any_numbers_are_diagnosed_and_compared(seed: int) -> None:
    dice = random.Random(seed)
    log: LogVitals | None = read(LOG, vitals_log.SCHEMA, dice)
    trace: TraceVitals | None = read(TRACE, vitals_trace.SCHEMA, dice)
    mfu: MfuAnswer | None = read(an_answer(), vitals_mfu.MFU_SCHEMA, dice)
    record = dice.choice((None, healthy(), sick(), interrupted()))
    hosts = dice.choice((None, ("node01",), ("node01", "node05"), ("elsewhere",)))
    joint = diagnose(Given(TrainingDocuments(log, trace, mfu), record=record, record_named="run", hosts=hosts))
    assert joint_line(joint).isprintable() and all(map(str.isprintable, joint_lines(joint, 80)))
    assert json.loads(joint_document(joint))["exit_code"] in (0, 1, 3, 4)
    for one, other in ((LOG, log), (log, LOG), (TRACE, trace), (trace, TRACE), (an_answer(), mfu), (mfu, an_answer())):
        if one is not None and other is not None:
            found = compare(one, other, ("a", "b"))
            assert compared_line(found).isprintable() and all(map(str.isprintable, compared_lines(found, 80)))
            assert json.loads(compared_document(found))["exit_code"] in (0, 3, 4)
