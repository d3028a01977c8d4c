"""What is written is what is read: records and outcomes survive the disk, and a damaged file says so."""

from __future__ import annotations

import json

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from healthcheck.errors import InputError
from healthcheck.model.algorithm import Algorithm
from healthcheck.model.collective import Collective
from healthcheck.model.command import CollectiveJob, CommandResult, JobOutcome
from healthcheck.model.component import Component
from healthcheck.model.finding import CheckResult, Confidence, Finding, RuleResult
from healthcheck.model.host import Host
from healthcheck.model.measurement import CollectiveRow, CollectiveTable, Failure, ParsedOutput, Placement, Rank
from healthcheck.model.message import Message
from healthcheck.model.platform import GpuSpec, KnownGood, Limit, NicSpec, Platform, Sourced, Thresholds
from healthcheck.model.playbook import Playbook, Sizes, Stage
from healthcheck.model.reading import Evidence
from healthcheck.model.record import HostRecord, JobRecord, Owner, Provenance, RunRecord
from healthcheck.model.search import SearchRecord
from healthcheck.model.units import Bytes, Seconds
from healthcheck.model.verdict import Verdict
from healthcheck.parsing.record_codec import decode_outcome, decode_record, encode_outcome, encode_record

QUICK = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
numbers = st.floats(allow_nan=False, allow_infinity=False)
maybe_numbers = st.none() | numbers
counts = st.integers(0, 2**53)
strings = st.lists(texts, max_size=3).map(tuple)
pairs = st.lists(st.tuples(texts, texts), max_size=2).map(tuple)
verdicts = st.sampled_from(Verdict)
messages = st.builds(
    Message, texts.map(lambda text: f"x.{text}"), st.dictionaries(texts, texts | counts | numbers, max_size=3)
)
message_lists = st.lists(messages, max_size=2).map(tuple)
components = st.builds(Component, texts)
evidence = st.lists(st.builds(Evidence, texts, texts), max_size=2).map(tuple)
bytes_ = st.integers(1, 2**40).map(Bytes)
seconds = st.floats(0.001, 1e6).map(lambda value: Seconds(round(value, 3)))

placements = st.builds(
    Placement,
    time_us=maybe_numbers,
    algbw_gbyte_s=maybe_numbers,
    busbw_gbyte_s=maybe_numbers,
    wrong=maybe_numbers,
    max_delta=maybe_numbers,
)
rows = st.builds(
    CollectiveRow,
    size_bytes=counts,
    count=counts,
    dtype=texts,
    redop=st.none() | texts,
    root=st.none() | st.integers(-1, 99),
    out_of_place=st.none() | placements,
    in_place=st.none() | placements,
)
row_lists = st.lists(rows, max_size=2).map(tuple)
ranks = st.lists(
    st.builds(Rank, counts, st.none() | counts, st.none() | counts, texts, st.none() | counts, texts, texts), max_size=2
).map(tuple)
tables = st.builds(
    CollectiveTable,
    collective=st.none() | texts,
    tool=st.none() | texts,
    tool_version=st.none() | texts,
    n_ranks=st.none() | counts,
    hosts=strings,
    gpu_models=strings,
    ranks=ranks,
    rows=row_lists,
    avg_busbw_gbyte_s=maybe_numbers,
    out_of_bounds_count=st.none() | counts,
    out_of_bounds_ok=st.none() | st.booleans(),
    complete=st.booleans(),
)
outputs = st.builds(
    ParsedOutput,
    state=...,
    verified=st.none() | st.booleans(),
    wrong_values=maybe_numbers,
    failures=st.lists(st.builds(Failure, kind=..., message=texts, host=texts, line=counts), max_size=2).map(tuple),
    tables=st.lists(tables, max_size=2).map(tuple),
)
jobs = st.builds(
    CollectiveJob,
    id=texts,
    stage=texts,
    collective=...,
    hosts=strings,
    ranks_per_host=st.lists(counts, max_size=3).map(tuple),
    launch_host=st.none() | texts,
    min_bytes=counts,
    max_bytes=counts,
    factor=counts,
    iterations=counts,
    warmup=counts,
    check=st.booleans(),
    timeout_s=numbers,
    env=pairs,
    repeat=counts,
    groups=st.integers(1, 8),
    arguments=strings,
)
outcomes = st.builds(
    JobOutcome,
    job=jobs,
    argv=strings,
    started_at=texts,
    result=st.builds(
        CommandResult,
        kind=...,
        exit_code=st.none() | st.integers(-64, 255),
        duration_s=numbers,
        reason=st.none() | messages,
    ),
    output=outputs,
    launch_error=st.none() | messages,
    bytes_cut=counts,
    may_still_run=strings,
)

thresholds = st.builds(Thresholds, numbers, numbers)
sourced = st.builds(Sourced, numbers, texts)
stages = st.builds(
    Stage,
    name=st.sampled_from(["probe", "single_node", "multi_node", "localise"]),
    sizes=st.builds(Sizes, min=bytes_, max=bytes_, factor=counts),
    timeout=seconds,
    stall=seconds,
    budget=st.none() | seconds,
    thresholds=st.none() | thresholds,
    env=st.dictionaries(texts, texts, max_size=2),
)
playbooks = st.builds(
    Playbook,
    name=texts,
    stages=st.lists(stages, max_size=2).map(tuple),
    thresholds=st.none() | thresholds,
    env=st.dictionaries(texts, texts, max_size=2),
)
platforms = st.builds(
    Platform,
    name=texts,
    title=texts,
    gpu=st.builds(GpuSpec, strings, counts),
    nics=st.builds(NicSpec, counts, numbers, texts, texts),
    intra_busbw_gbyte_s=sourced,
    peak_basis=texts,
    thresholds=st.dictionaries(texts, thresholds, max_size=2),
    known_good_gbyte_s=st.lists(
        st.builds(
            KnownGood,
            value=numbers,
            source=texts,
            min_nodes=counts,
            max_nodes=st.none() | counts,
            collective=st.sampled_from(Collective),
            algorithm=st.none() | st.sampled_from(Algorithm),
        ),
        max_size=2,
    ).map(tuple),
)
rules = st.lists(
    st.builds(RuleResult, texts, verdicts, messages, observed=maybe_numbers, expected=maybe_numbers), max_size=2
).map(tuple)
checks = st.builds(
    CheckResult,
    check=texts,
    component=components,
    verdict=verdicts,
    message=messages,
    rule=texts,
    observed=maybe_numbers,
    expected=maybe_numbers,
    evidence=evidence,
    confidence=st.none() | st.sampled_from(Confidence),
    against=message_lists,
    rules=rules,
)
findings = st.builds(
    Finding,
    component=components,
    verdict=verdicts,
    confidence=...,
    cause=messages,
    remedy=messages,
    evidence_for=message_lists,
    evidence_against=message_lists,
    commands=strings,
    evidence=evidence,
)
records = st.builds(
    RunRecord,
    run_id=texts,
    state=st.sampled_from(["incomplete", "complete", "interrupted"]),
    verdict=verdicts,
    exit_code=st.none() | st.integers(0, 143),
    simulated=st.booleans(),
    started_at=texts,
    finished_at=st.none() | texts,
    platform=st.none() | platforms,
    playbook=playbooks,
    owner=st.builds(Owner, texts, texts, counts, texts, texts),
    hosts=st.lists(
        st.builds(HostRecord, name=texts, verdict=verdicts, reasons=message_lists, labels=pairs), max_size=2
    ).map(tuple),
    jobs=st.lists(
        st.builds(
            JobRecord,
            id=texts,
            stage=texts,
            collective=texts,
            hosts=strings,
            n_ranks=counts,
            verdict=verdicts,
            rows=row_lists,
            reasons=message_lists,
        ),
        max_size=2,
    ).map(tuple),
    checks=st.lists(checks, max_size=2).map(tuple),
    findings=st.lists(findings, max_size=2).map(tuple),
    notes=message_lists,
    provenance=st.builds(
        Provenance,
        tool=texts,
        versions=st.dictionaries(texts, texts, max_size=2),
        limits=st.lists(st.builds(Limit, texts, texts, texts, numbers, numbers, numbers, texts, texts), max_size=2).map(
            tuple
        ),
    ),
    search=st.none() | st.builds(SearchRecord, ending=texts, shortfall=numbers, unseen=numbers, noise=numbers),
    inventory=st.lists(st.builds(Host, texts, texts, st.none() | counts, st.none() | texts), max_size=2).map(tuple),
)


@given(records)
@QUICK
def test_a_record_survives_the_disk(record: RunRecord) -> None:
    assert decode_record(encode_record(record), "record.json") == record


@given(outcomes)
@QUICK
def test_an_outcome_survives_the_disk(outcome: JobOutcome) -> None:
    assert decode_outcome(encode_outcome(outcome), "outcome.json") == outcome


@given(records, st.data())
@QUICK
def test_a_cut_record_is_refused_by_name(record: RunRecord, data: st.DataObject) -> None:
    written = encode_record(record).rstrip()
    cut = data.draw(st.integers(0, len(written) - 1))
    with pytest.raises(InputError, match=r"^record\.json: .*cut off"):
        decode_record(written[:cut], "record.json")


def _record() -> RunRecord:
    node = Component("node05/hca:mlx5_2")
    slow = Message("job.stalled", {"seconds": 180.0, "verdict": "PASS"})
    return RunRecord(
        run_id="r",
        state="complete",
        verdict=Verdict.FAIL,
        exit_code=1,
        simulated=True,
        started_at="t",
        finished_at=None,
        platform=None,
        playbook=Playbook("quick", (Stage("single_node"),), env={"verdict": "FAIL", "component": "x"}),
        owner=Owner("u", "m", 1, "s", "t"),
        checks=(CheckResult("hca.rate", node, Verdict.DEGRADED, slow, "hca.rate"),),
        findings=(Finding(node, Verdict.FAIL, Confidence.CONFIRMED, slow, slow, (slow,), (slow,)),),
    )


def test_the_wire_speaks_to_other_programs() -> None:
    wire = json.loads(encode_record(_record()))
    assert next(iter(wire)) == "schema"
    assert wire["schema"] == "healthcheck.run/1"
    assert wire["verdict"] == "FAIL"
    assert wire["checks"][0]["component"] == "node05/hca:mlx5_2"
    assert wire["checks"][0]["verdict"] == "DEGRADED"
    assert wire["checks"][0]["message"]["message_en"] == "no output for 180 s, stopped as hung"
    assert len(wire["findings"][0]["for"]) == len(wire["findings"][0]["against"]) == 1
    assert wire["playbook"]["stages"][0]["sizes"] == {"min": "512M", "max": "8G", "factor": 2}
    assert wire["playbook"]["stages"][0]["timeout"] == "10m"


def test_the_english_text_is_ignored_when_read() -> None:
    wire = json.loads(encode_record(_record()))
    wire["checks"][0]["message"]["message_en"] = "edited by hand"
    assert decode_record(json.dumps(wire).encode(), "record.json").checks == _record().checks


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"schema": "healthcheck.run/2"}, "healthcheck.run/2"),
        ({"schema": None}, "no schema"),
        ({"verdict": 1}, r"\$\.verdict"),
        ({"verdict": "pass"}, r"\$\.verdict"),
        ({"hosts": [{"name": "a", "verdict": "GREAT"}]}, r"\$\.hosts\[0\]\.verdict"),
        ({"state": "done"}, "state"),
        ({"owner": None}, "owner"),
    ],
)
def test_a_record_that_lies_about_itself_is_refused(change: dict[str, object], says: str) -> None:
    wire = {**json.loads(encode_record(_record())), **change}
    with pytest.raises(InputError, match=rf"^runs/x/record\.json: .*{says}"):
        decode_record(json.dumps(wire).encode(), "runs/x/record.json")


@pytest.mark.parametrize("data", [b"", b"[]", b"null", b"\xff\xfe", b"[" * 100_000, b'"text"'])
def test_what_is_no_record_is_refused(data: bytes) -> None:
    with pytest.raises(InputError, match=r"^record\.json: "):
        decode_record(data, "record.json")


def test_numbers_json_has_no_word_for_survive_in_messages() -> None:
    record = msgspec.structs.replace(_record(), notes=(Message("x", {"a": float("inf"), "b": -float("inf")}),))
    assert decode_record(encode_record(record), "record.json").notes == record.notes


@pytest.mark.parametrize("word", ["Infinity", "-Infinity", "NaN", '{"float": "NaN"}'])
def test_a_word_a_host_printed_never_becomes_a_number(word: str) -> None:
    record = msgspec.structs.replace(_record(), notes=(Message("x", {"line": word}),))
    assert decode_record(encode_record(record), "record.json").notes[0].args == {"line": word}


def test_an_argument_that_is_no_number_in_disguise_is_refused() -> None:
    wire = {**json.loads(encode_record(_record())), "notes": [{"code": "x", "args": {"a": {"float": "much"}}}]}
    with pytest.raises(InputError, match="notes"):
        decode_record(json.dumps(wire).encode(), "record.json")


def test_bytes_that_were_no_text_do_not_stop_the_record() -> None:
    record = msgspec.structs.replace(_record(), notes=(Message("x", {"line": "caf\udce9"}),))
    assert decode_record(encode_record(record), "record.json").notes[0].args == {"line": "caf?"}
