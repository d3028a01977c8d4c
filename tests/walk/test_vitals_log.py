"""`vitals log` as an operator types it: the answer first, every file that is no log told in one sentence."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import threading
from pathlib import Path

import pytest

from healthcheck.model.vitals_log import SCHEMA, LogVitals, LossKind
from healthcheck.parsing.record_codec import decode_document, encode_document
from tests.unit.vitals.training_world import World
from tests.walk.cli import Shell


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A training with a save, a crash and a restart from an older checkpoint."""
    world = World(2.0).start(took=60).steps(1, 20.0).steps(199).save(30).steps(100)
    world.wait(300, LossKind.RESTART).start(took=60, loaded=200).steps(1, 20.0).steps(299)
    path = tmp_path / "train.log"
    path.write_text("".join(world.lines))
    return path


def test_the_first_line_answers(shell: Shell, log: Path) -> None:
    said = shell("vitals", "log", str(log))
    assert (said.code, said.err) == (0, "")
    lines = said.out.splitlines()
    # 500 steps of 2 s survive of 1,686 s.
    assert lines[0].startswith("goodput 59.3 % of the steady rate over 28 min 06 s, ")
    assert "most is lost to: start and restart (24.9 %)" in " ".join(lines[:2])
    assert "done again" in said.out and "checkpoint" in said.out
    assert "Step Time" in said.out and "1 rollback" in said.out
    assert all(len(line) <= 96 for line in lines)


def test_json_is_the_document_and_reads_back(shell: Shell, log: Path) -> None:
    said = shell("vitals", "log", str(log), "--json")
    vitals = decode_document(said.out.encode(), "out", LogVitals, SCHEMA, "log vitals")
    assert encode_document(SCHEMA, vitals) == said.out
    goodput = vitals.goodput
    assert goodput is not None
    assert goodput.steps == 500
    assert goodput.useful_s + sum(loss.seconds for loss in goodput.losses) == pytest.approx(goodput.window_s, rel=1e-12)
    assert {event.kind.value for event in vitals.events} >= {"start", "checkpoint_saved", "checkpoint_loaded"}


def test_mfu_needs_the_model_and_the_gpu_and_says_so(shell: Shell, log: Path) -> None:
    assert "MFU: give --params, --gpu" in shell("vitals", "log", str(log)).out
    told = shell("vitals", "log", str(log), "--params", "8B", "--gpu", "H100", "--recompute", "full", "--json")
    found = json.loads(told.out)
    # 6 N x 8,192 tokens/s per GPU over 989 TFLOP/s.
    assert found["mfu"] == pytest.approx(6 * 8e9 * 8192 / 989e12, rel=1e-3)
    assert found["hfu"] == pytest.approx(found["mfu"] * 4 / 3, rel=1e-3)
    impossible = json.loads(shell("vitals", "log", str(log), "--params", "300B", "--gpu", "H100", "--json").out)
    assert impossible["mfu"] is None
    assert "mfu.refused.above" in [remark["what"]["code"] for remark in impossible["remarks"]]
    unknown = shell("vitals", "log", str(log), "--params", "8B", "--gpu", "Zeta 9000", "--json")
    assert unknown.code == 0 and json.loads(unknown.out)["mfu"] is None


def test_csv_has_a_line_a_report(shell: Shell, log: Path) -> None:
    said = shell("vitals", "log", str(log), "--csv")
    rows = list(csv.DictReader(io.StringIO(said.out)))
    assert len(rows) == 600
    assert sum(int(row["survives"]) for row in rows) == 500
    assert {row["start"] for row in rows} == {"1", "2"}
    assert rows[0]["kind"] == "warm_up" and rows[0]["step_time_s"] == "20"


def test_a_packed_log_is_read_like_any_other(shell: Shell, log: Path) -> None:
    packed = log.with_name("train.log.gz")
    packed.write_bytes(gzip.compress(log.read_bytes()))
    plain = json.loads(shell("vitals", "log", str(log), "--json").out)
    assert json.loads(shell("vitals", "log", str(packed), "--json").out)["goodput"] == {
        **plain["goodput"],
        "losses": [{**loss, "longest_file": str(packed)} for loss in plain["goodput"]["losses"]],
    }


def test_a_pipe_is_read_to_its_end(shell: Shell, log: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(log.read_bytes()))
    writer.start()
    said = shell("vitals", "log", str(pipe), "--json")
    writer.join()
    assert said.code == 0 and json.loads(said.out)["last_step"] == 500


def test_too_few_steps_are_no_answer(shell: Shell, tmp_path: Path) -> None:
    short = tmp_path / "short.log"
    short.write_text("".join(World().start().steps(3).lines))
    said = shell("vitals", "log", str(short))
    assert said.code == 3
    assert said.out.startswith("too few steps to say")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "is empty"),
        (b"hello\nworld\n", "no steps of any framework"),
        (bytes(5000), "is no text"),
        (b"\x7fELF" + bytes(100), "a program"),
        ("step".encode("utf-16"), "UTF-16"),
        ("step".encode("utf-16-le"), "UTF-16"),
        (gzip.compress(b"iteration 1/ 2 | " * 5000)[:-30], "cut off"),
        (b"\x1f\x8b\x08\x00garbage that is no gzip at all, really", "is damaged"),
        (b"PK\x03\x04rest", "zip archive"),
        (b"\xff" * 5000, "no steps of any framework"),
    ],
)
def test_a_file_that_is_no_log_is_one_sentence(shell: Shell, tmp_path: Path, content: bytes, says: str) -> None:
    path = tmp_path / "x.log"
    path.write_bytes(content)
    said = shell("vitals", "log", str(path))
    assert (said.code, said.out) == (2, "")
    assert says in said.err and str(path) in said.err
    assert said.err.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["missing.log"], "no such file"),
        (["."], "is a folder"),
        (["train.log", "train.log"], "is named twice"),
        (["train.log", "--json", "--csv"], "cannot be combined"),
        (["train.log", "--format", "torchtitan"], "no steps of torchtitan"),
        (["train.log", "--window", "10"], "write FROM..TO"),
        (["train.log", "--window", "90..10"], "ends before it begins"),
        (["train.log", "--window", "9000.."], "its steps are 1 to 500"),
        (["train.log", "--window", "2031-01-01.."], "its lines are from 2026-01-14T02:01:20"),
        (["train.log", "--window", "soon.."], "neither a step nor a time"),
        (["train.log", "--params", "many"], "--params"),
        (["train.log", "--tokens-per-step", "-4"], "--tokens-per-step"),
        (["train.log", "--gpus", "0"], "--gpus"),
        (["x" * 300], "no such file"),
    ],
)
def test_a_mistake_is_one_sentence(shell: Shell, log: Path, words: list[str], says: str) -> None:
    said = shell("vitals", "log", *words)
    assert (said.code, said.out) == (2, "")
    assert says in said.err
    assert said.err.count("\n") == 1


def test_another_training_in_the_log_is_named_with_its_line(shell: Shell, log: Path) -> None:
    other = World(batch=64).start().steps(50)
    with log.open("a") as file:
        file.writelines(other.lines)
    said = shell("vitals", "log", str(log))
    assert said.code == 2
    assert f"{log}:610: another training begins here" in said.err


FIXTURES = Path(__file__).parents[1] / "fixtures" / "training"


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("*/*.log")), ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_the_log_of_every_framework_is_answered(shell: Shell, path: Path) -> None:
    said = shell("vitals", "log", str(path), "--json")
    assert said.code in (0, 3)
    vitals = decode_document(said.out.encode(), "out", LogVitals, SCHEMA, "log vitals")
    goodput, step = vitals.goodput, vitals.step_time
    assert goodput is not None and step is not None
    assert goodput.useful_s + sum(loss.seconds for loss in goodput.losses) == pytest.approx(goodput.window_s, rel=1e-9)
    assert step.median_s > 0 and goodput.share is not None and 0 < goodput.share <= 1
    assert (said.code == 3) is (step.reports < 3)


def test_why_it_stopped_is_told_in_the_words_of_the_log(shell: Shell) -> None:
    said = shell("vitals", "log", str(FIXTURES / "mixed" / "failures.log"))
    assert "Failures in it:" in said.out
    assert "NCCL" in said.out.split("Failures in it:")[1]
    assert all(len(line) <= 96 for line in said.out.splitlines())
