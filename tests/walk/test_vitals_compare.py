"""`healthcheck vitals compare A B`, as an operator asks whether the training got slower."""

from __future__ import annotations

from pathlib import Path

import pytest

from healthcheck.model.vitals_compare import SCHEMA, VitalsComparison
from healthcheck.parsing.record_codec import decode_document
from tests.vitals_documents import a_collective, a_log, a_rank, a_trace, an_answer, save
from tests.walk.cli import Shell


def test_a_training_that_got_slower_is_told_in_one_line_and_by_its_numbers(shell: Shell, tmp_path: Path) -> None:
    before = save(tmp_path, "before.json", a_log())
    after = save(tmp_path, "after.json", a_log(median_s=2.2, tokens_per_s=910_000.0))
    said = shell("vitals", "compare", before, after)
    assert said.code == 4
    assert said.out == (
        "WORSE Step Time 2.00 s -> 2.20 s (+10.0 %), tokens/s 1.00 M -> 910.00 k (-9.0 %); log, 4 compared\n"
    )
    assert "Something got worse." in said.err and "From where on a change counts" in said.err
    back = shell("vitals", "compare", after, before)
    assert back.code == 0 and back.out.startswith("BETTER Step Time 2.20 s -> 2.00 s (-9.1 %)")


def test_nothing_that_moved_is_exit_0_and_nothing_comparable_exit_3(shell: Shell, tmp_path: Path) -> None:
    one = save(tmp_path, "one.json", an_answer(0.42))
    other = save(tmp_path, "other.json", an_answer(0.38, peak=989.0))
    same = shell("vitals", "compare", one, one, "-q")
    assert (same.code, same.out, same.err) == (0, "SAME mfu, 2 compared\n", "")
    said = shell("vitals", "compare", one, other)
    assert said.code == 3 and said.out == "INCOMPARABLE mfu, 0 compared, 2 not compared\n"
    assert "peak: 312 TFLOP/s before, 989 TFLOP/s now" in said.err


def test_slower_collectives_of_a_profile_are_named(shell: Shell, tmp_path: Path) -> None:
    ranks = [a_rank(number) for number in range(4)]
    before = save(tmp_path, "before.json", a_trace(*ranks, collectives=(a_collective(180.0),)))
    after = save(tmp_path, "after.json", a_trace(*ranks, collectives=(a_collective(120.0),)))
    said = shell("vitals", "compare", before, after)
    assert said.code == 4
    assert "busbw all_reduce of 1 GiB, 32 ranks 180.0 GB/s -> 120.0 GB/s (-33.3 %)" in said.out


def test_json_is_one_document_that_can_be_read_back_in_every_language(shell: Shell, tmp_path: Path) -> None:
    before, after = save(tmp_path, "a.json", a_log()), save(tmp_path, "b.json", a_log(goodput=0.5))
    said = shell("vitals", "compare", before, after, "--json", "-q")
    found = decode_document(said.out.encode(), "stdout", VitalsComparison, SCHEMA, "comparison")
    assert (found.exit_code, said.code, said.err) == (4, 4, "") and found.line.startswith("WORSE goodput 95 % -> 50 %")
    chinese = shell("vitals", "compare", before, after, "--json", "--lang", "zh")
    assert chinese.out == said.out and "有变差的地方" in chinese.err


@pytest.mark.parametrize(
    ("words", "part"),
    [
        ("", "A: is missing"),
        ("log.json", "B: is missing"),
        ("log.json mfu.json", "mfu.json: is a document of vitals mfu, log.json one of vitals log; give two of a kind"),
        ("log.json gone.json", "gone.json: there is no such file"),
        ("log.json .", ".: is a folder"),
        ("log.json log.json --noise -1", "--noise: -1 is out of range"),
        ("log.json log.json --noise nan", "--noise: nan is out of range"),
        ("log.json log.json --noise x", "--noise"),
    ],
)
def test_what_cannot_be_read_is_one_sentence_and_exit_2(shell: Shell, tmp_path: Path, words: str, part: str) -> None:
    save(tmp_path, "log.json", a_log())
    save(tmp_path, "mfu.json", an_answer())
    said = shell("vitals", "compare", *words.split())
    assert (said.code, said.out) == (2, "")
    assert part in said.err and said.err.count("\n") == 1 and said.err.startswith("error: ")
