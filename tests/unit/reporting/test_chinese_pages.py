"""What a Chinese reader is told besides texts of the catalogue alone: evidence, and columns of double width."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from healthcheck.edge.languages import load_language
from healthcheck.model.language import speaking
from healthcheck.model.message import say
from healthcheck.model.reading import Evidence, noted
from healthcheck.parsing.record_codec import decode_record, encode_record
from healthcheck.reporting.summary import terminal_summary
from healthcheck.reporting.text_width import width_of
from healthcheck.reporting.todo import todo
from tests.golden.records import sick
from tests.golden.searched import searched


@pytest.mark.parametrize("columns", [80, 96])
def test_a_chinese_summary_keeps_to_its_columns(columns: int) -> None:
    """A Chinese character takes two."""
    with speaking(load_language("zh")):
        lines = terminal_summary(searched(), columns)
    assert [line for line in lines if width_of(line) > columns] == []
    inside, between = (next(line for line in lines if line.startswith(f"  {place}")) for place in ("节点内", "节点间"))
    assert width_of(inside.partition(" GB/s")[0]) == width_of(between.partition(" GB/s")[0])


def test_evidence_in_our_words_is_told_in_each_language_and_what_a_machine_printed_stays() -> None:
    ours = noted(say("evidence.nccl_log_rank", rank=3), "NET/IB : No device found.")
    record = sick()
    record = replace(record, findings=(replace(record.findings[0], evidence=(ours, Evidence("dmesg", "mlx5_2 down"))),))
    stored = encode_record(record)
    assert b'"source": "NCCL log, rank 3"' in stored
    (kept,) = decode_record(stored, "record.json").findings
    assert kept.evidence == record.findings[0].evidence
    assert todo(record)[0].evidence == (
        ("NCCL log, rank 3", "NET/IB : No device found."),
        ("dmesg", "mlx5_2 down"),
    )
    with speaking(load_language("zh")):
        assert todo(record)[0].evidence == (
            ("NCCL 日志，rank 3", "NET/IB : No device found."),
            ("dmesg", "mlx5_2 down"),
        )
