"""The -J file: the same numbers as the text beside it, and no more than that when it was cut."""

from __future__ import annotations

import json

import pytest

from healthcheck.model.measurement import FailureKind, OutputState, ParsedOutput, Placement
from healthcheck.parsing.nccl_json import parse_json
from healthcheck.parsing.nccl_tests import parse_output
from healthcheck.reporting.parsed_output import ParsedFile, as_json
from tests.grammar.remake import FOLDER
from tests.unit.parsing.captures import nccl_capture


def _file(name: str) -> bytes:
    text = nccl_capture(name).stdout
    return text[text.index('{"version"') :].encode()


WHOLE = _file("v2.19.6-json-J-mpi-2hosts")
CRASHED = _file("v2.19.6-json-J-crash")


def parsed(data: bytes) -> ParsedOutput:
    output = parse_json(data)
    assert output is not None
    return output


def test_the_numbers_are_those_of_the_text() -> None:
    output = parsed(WHOLE)
    (table,) = output.tables
    (text,) = nccl_capture("v2.19.6-json-J-mpi-2hosts").parse().tables
    assert output.state is OutputState.COMPLETE
    assert [(row.size_bytes, row.count, row.dtype, row.redop, row.root) for row in table.rows] == [
        (row.size_bytes, row.count, row.dtype, row.redop, row.root) for row in text.rows
    ]
    assert table.rows[-1].out_of_place == Placement(717.2778, 93.560492, 175.425923, wrong=0.0)
    assert (table.collective, table.n_ranks, table.hosts) == (text.collective, text.n_ranks, text.hosts)
    assert table.avg_busbw_gbyte_s == pytest.approx(text.avg_busbw_gbyte_s, abs=1e-3)


def test_ranks_beyond_the_listed_ones_are_said_to_be_inferred() -> None:
    output = parsed(WHOLE)
    assert len(output.tables[0].ranks) == 2
    assert [warning.code for warning in output.warnings] == ["n_ranks_inferred"]


def test_a_file_of_a_crashed_run_gives_its_whole_results() -> None:
    output = parsed(CRASHED)
    rows = output.tables[0].rows
    assert output.state is OutputState.TRUNCATED
    assert [row.size_bytes for row in rows] == [8 << step for step in range(len(rows))]
    assert len(rows) >= 10
    assert all(row.in_place is not None for row in rows)


@pytest.mark.parametrize("keep", range(0, len(CRASHED), 97))
def test_a_file_cut_anywhere(keep: int) -> None:
    output = parse_json(CRASHED[:keep])
    assert output is None or output.state is OutputState.TRUNCATED


def test_wrong_values_and_a_failed_check() -> None:
    output = parsed(
        WHOLE.replace(b'"nwrong":0.000000', b'"nwrong":24.000000').replace(b'"okay":"true"', b'"okay":"false"')
    )
    assert output.state is OutputState.FAILED
    assert output.failures[0].kind is FailureKind.DATA_CHECK
    assert output.wrong_values == 24 * 8


def test_the_misspelt_keys_of_2_17() -> None:
    output = parsed(
        WHOLE.replace(b"average_bus_bandwidth", b"average_bus_bandwidith").replace(b'"bandwidth"', b'"bandwidith"')
    )
    assert output.tables[0].avg_busbw_gbyte_s == 128.974976
    assert output.state is OutputState.COMPLETE


def test_nan_is_a_string_there_and_unknown_here() -> None:
    output = parsed(WHOLE.replace(b"128.974976", b'"nan"').replace(b"175.425923", b'"nan"'))
    assert output.tables[0].avg_busbw_gbyte_s is None
    half = output.tables[0].rows[-1].out_of_place
    assert half is not None
    assert half.busbw_gbyte_s is None


def test_unchecked_is_not_zero() -> None:
    output = parsed(WHOLE.replace(b'"nwrong":0.000000', b'"nwrong":null'))
    assert (output.verified, output.wrong_values) == (False, None)


@pytest.mark.parametrize("data", [b"", b"{}", b"[1]", b'{"version"', b'{"version":"x"}', b'{"version":3,"results":7'])
def test_other_json_is_not_taken_for_it(data: bytes) -> None:
    assert parse_json(data) is None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"nthreads":1', b'"nthreads":0'),
        (b'"nthreads":1', b'"nthreads":99999999999'),
        (b'"ngpus":8', b'"ngpus":-8'),
        (b'"rank":0', b'"rank":99999999999999999999999'),
        (b'"root":"    -1"', b'"root":"' + b"9" * 400 + b'"'),
        (b'"count":0', b'"count":1e400'),
    ],
)
def test_numbers_that_cannot_be_are_no_crash(old: bytes, new: bytes) -> None:
    assert old in WHOLE
    output = parse_json(WHOLE.replace(old, new))
    assert output is None or as_json([ParsedFile("x", output)])


def test_a_document_in_the_middle_of_a_log_shows_nothing_of_the_environment() -> None:
    document = json.loads((FOLDER / "accidents" / "j-version-3.txt").read_bytes())
    document["env"] = ["TOKEN=s3cret Killed", "PASSWORD=s3cret: error while loading shared libraries: x", "X=s3cret"]
    for shown in (json.dumps(document), json.dumps(document, indent=2)):
        output = parse_output(f"hello\n{shown}\n", exit_code=1)
        assert "s3cret" not in as_json([ParsedFile("x", output)])
        assert output.failures
