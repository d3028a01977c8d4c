"""`healthcheck diagnose`, as an operator asks whether it is the links or the training."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from healthcheck.model.joint import SCHEMA, Joint
from healthcheck.parsing.record_codec import decode_document, encode_record
from tests import diagnose_example
from tests.diagnose_page import PAGE
from tests.golden.records import healthy, sick
from tests.unit.vitals.kineto_worlds import Trace
from tests.vitals_documents import a_log, a_rank, a_trace, an_answer, save
from tests.walk.cli import Shell

MARCH_S = 1_773_460_000.0
"""14 March 2026, when the records of the tests were made."""


@pytest.fixture
def well(tmp_path: Path) -> list[str]:
    """Documents of a training that is well, and the words that name them."""
    log = save(tmp_path, "log.json", a_log(gpus=64, began_s=MARCH_S, gpu="NVIDIA A100-SXM4-80GB"))
    trace = save(tmp_path, "trace.json", a_trace(a_rank(0), a_rank(1), world_size=64))
    answer = save(tmp_path, "mfu.json", an_answer(0.42, gpus=64))
    return ["--vitals", log, "--vitals", trace, "--vitals", answer]


def kept(shell: Shell, *, fail: bool = False) -> str:
    """A stored check-up of 8 nodes; its id."""
    record = sick() if fail else healthy()
    folder = shell.results / record.run_id
    folder.mkdir(parents=True)
    (folder / "record.json").write_bytes(encode_record(replace(record, simulated=False)))
    return record.run_id


def test_links_and_training_that_are_well_are_said_to_be_and_exit_0(shell: Shell, well: list[str]) -> None:
    said = shell("diagnose", *well, "--record", kept(shell))
    assert said.code == 0
    assert said.out == "WELL MFU 42 %, exposed 10 %, goodput 95 %, busbw of peak 95 %, links PASS\n"
    assert "What to act on" not in said.err and "Thresholds are rules of thumb" in said.err


def test_slow_steps_on_broken_links_name_the_links_and_how_to_go_on(shell: Shell, tmp_path: Path) -> None:
    trace = save(tmp_path, "trace.json", a_trace(a_rank(0, exposed=0.45, collective=0.5), world_size=64))
    answer = save(tmp_path, "mfu.json", an_answer(0.18, gpus=64))
    run = kept(shell, fail=True)
    said = shell("diagnose", "--vitals", trace, answer, "--record", run)
    assert said.code == 1
    assert said.out == (
        "FAIL links_are_the_cause, links_failed; MFU 18 %, exposed 45 %, busbw of peak 48 %, links FAIL\n"
    )
    assert "ssh node05 cat /sys/class/infiniband/mlx5_2/ports/1/rate" in said.err
    assert "healthcheck localise -H " in said.err and f"healthcheck report {run}" in said.err
    assert "node05/hca:mlx5_2 (FAIL)" in said.err


def test_the_same_steps_on_healthy_links_are_a_matter_of_how_they_are_used(shell: Shell, tmp_path: Path) -> None:
    trace = save(tmp_path, "trace.json", a_trace(a_rank(0, exposed=0.45, collective=0.5), world_size=64))
    answer = save(tmp_path, "mfu.json", an_answer(0.18, gpus=64))
    said = shell("diagnose", "--vitals", trace, "--vitals", answer, "--record", kept(shell))
    assert said.code == 4 and said.out.startswith("SUSPECT communication_bound_on_healthy_links; MFU 18 %")
    assert "rule communication_bound_on_healthy_links: MFU 18 %, exposed collective 45 %" in " ".join(said.err.split())


def test_one_document_alone_says_what_is_missing_and_exits_3(shell: Shell, tmp_path: Path) -> None:
    said = shell("diagnose", "--vitals", save(tmp_path, "mfu.json", an_answer(0.42)))
    assert said.code == 3
    assert said.out == "UNKNOWN goodput_unknown, links_unmeasured; MFU 42 %\n"
    assert "no document of vitals log was given" in said.err
    assert "healthcheck vitals log train.log --json > vitals-log.json" in said.err


def test_nodes_of_the_training_that_passed_are_not_blamed_for_those_that_did_not(shell: Shell, well: list[str]) -> None:
    run = kept(shell, fail=True)
    assert shell("diagnose", *well, "--record", run, "-q").code == 1
    said = shell("diagnose", *well, "--record", run, "-H", "node[01-02,04,06]", "-q")
    assert said.code == 0 and said.out.endswith("links PASS\n")


def test_json_is_one_document_that_can_be_read_back(shell: Shell, well: list[str]) -> None:
    said = shell("diagnose", *well, "--record", kept(shell), "--json", "-q")
    joint = decode_document(said.out.encode(), "stdout", Joint, SCHEMA, "diagnosis")
    assert (joint.exit_code, joint.link_verdict, joint.simulated) == (0, "PASS", False)
    assert joint.line.startswith("WELL ") and len(joint.vitals) == 3 and said.err == ""
    assert json.loads(said.out)["thresholds"]["mfu.low"] == 0.25


def test_a_simulated_check_up_is_a_rehearsal_and_is_never_well(shell: Shell, well: list[str]) -> None:
    assert shell("run", "quick", "--simulate", "8", "-q").code == 0
    said = shell("diagnose", *well, "--record", shell.folders()[-1].name)
    assert said.code == 3 and said.out.rstrip().endswith("; simulated")
    assert said.err.lstrip().startswith("SIMULATED")


def test_another_threshold_moves_the_answer_and_is_told(shell: Shell, well: list[str]) -> None:
    said = shell(
        "diagnose",
        *well,
        "--record",
        kept(shell),
        "--threshold",
        "goodput.high=0.99",
        "--threshold",
        "goodput.low=0.97",
    )
    assert said.code == 4 and said.out.startswith("SUSPECT fault_tolerance;")
    assert "Thresholds asked for: goodput.low=0.97, goodput.high=0.99." in said.err


def test_the_whole_way_from_the_files_of_a_training_to_the_answer(shell: Shell, tmp_path: Path) -> None:
    for rank in range(2):
        (tmp_path / f"rank{rank}.json").write_text(profile(rank).text())
    (tmp_path / "train.log").write_text("".join(map(iteration, range(1, 41))))
    mfu = ("--params", "13B", "--gpu", "NVIDIA-A100-SXM4-80GB", "--gpus", "64", "--tokens-per-s", "50000")
    asked = (("trace", "rank0.json", "rank1.json"), ("mfu", *mfu), ("log", "train.log", "--gpus", "64"))
    for words in asked:
        said = shell("vitals", *words, "--json")
        Path(f"vitals-{words[0]}.json").write_text(said.out)
    said = shell("diagnose", "--vitals", *(f"vitals-{words[0]}.json" for words in asked), "--record", kept(shell))
    assert said.code == 4
    assert said.out.startswith("SUSPECT communication_bound_on_healthy_links, collectives_below_the_links; MFU 20 %")
    assert "goodput 100 %" in said.out
    assert "busbw in the training" in said.err and "all_reduce of 1 GiB over 64 ranks" in " ".join(said.err.split())


def iteration(number: int) -> str:
    """A line of Megatron-LM; steps take a minute, and nothing is lost between them."""
    return (
        f" [2026-03-14 02:{number:02d}:00] iteration {number:8d}/ 100 | consumed samples: "
        f"{number * 64:12d} | elapsed time per iteration (ms): 60000.0 | learning rate: 1.0E-04 | global batch size:"
        "    64 | lm loss: 2.0E+00 | number of skipped iterations:   0 | number of nan iterations:   0 |\n"
    )


def profile(rank: int) -> Trace:
    """Two steps of 1 s, of which an all-reduce of 1 GiB waits 400 ms for nothing else."""
    trace = Trace(rank, world=64)
    for number, at in ((3, 0), (4, 1_000_000)):
        trace.step(number, at, at + 1_000_000)
        trace.kernel(at + 1000, 560_000)
        trace.collective(at + 570_000, 400_000, nelems=1 << 29)
    return trace


WRONG = (
    ("", "--vitals: names no document"),
    ("--vitals gone.json", "gone.json: there is no such file"),
    ("--vitals .", ".: is a folder"),
    ("--vitals empty.json", "empty.json: is empty"),
    ("--vitals cut.json", "cut.json: is cut off or no JSON document"),
    ("--vitals junk.json", "junk.json"),
    ("--vitals other.json", "other.json: has the schema 'healthcheck.compare/1'"),
    ("--vitals list.json", "list.json: "),
    ("--vitals mfu.json mfu.json", "mfu.json: is a second document of the kind of mfu.json"),
    ("--vitals run.json", "run.json: is the record of a check-up; give it with --record"),
    ("--vitals half.json", "half.json: is not a document of vitals mfu"),
    ("--vitals mfu.json --record nowhere", "nowhere: is not a run directory"),
    ("--vitals mfu.json --threshold mfu.lw=0.2", "--threshold: there is no threshold 'mfu.lw'; did you mean mfu.low"),
    ("--vitals mfu.json --threshold mfu.low", "mfu.low has no value; write for example mfu.low=0.25"),
    ("--vitals mfu.json --threshold mfu.low=25", "mfu.low=25 is out of range"),
    ("--vitals mfu.json --threshold mfu.low=nan", "mfu.low=nan is out of range"),
    ("--vitals mfu.json --threshold mfu.low=x", "mfu.low='x' is no number"),
    ("--vitals mfu.json --threshold mfu.low=0.5", "mfu.low 0.5 is above mfu.high 0.35; give both"),
    ("--vitals mfu.json -H node[1-", "-H"),
)


@pytest.mark.parametrize(("words", "part"), WRONG, ids=[words or "nothing" for words, _ in WRONG])
def test_what_cannot_be_read_is_one_sentence_and_exit_2(shell: Shell, tmp_path: Path, words: str, part: str) -> None:
    save(tmp_path, "mfu.json", an_answer())
    (tmp_path / "empty.json").write_text("")
    (tmp_path / "cut.json").write_text('{"schema": "healthcheck.vitals.mfu/1", "mfu": 0.')
    (tmp_path / "junk.json").write_bytes(b"\x1f\x8b\x08\xff\xfe\x00")
    (tmp_path / "other.json").write_text('{"schema": "healthcheck.compare/1"}')
    (tmp_path / "list.json").write_text("[1, 2]")
    (tmp_path / "run.json").write_bytes(encode_record(healthy()))
    (tmp_path / "half.json").write_text('{"schema": "healthcheck.vitals.mfu/1", "mfu": 0.4}')
    said = shell("diagnose", *words.split())
    assert (said.code, said.out) == (2, "")
    assert part in said.err and said.err.count("\n") == 1 and said.err.startswith("error: ")


def test_chinese_is_told_on_stderr_only(shell: Shell, well: list[str]) -> None:
    run = kept(shell)
    english, chinese = (shell("diagnose", *well, "--record", run, "--lang", name) for name in ("en", "zh"))
    assert chinese.out == english.out and chinese.err != english.err and "链路正常" in chinese.err


def test_the_example_of_the_page_is_what_its_commands_say(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    diagnose_example.main(".")
    ranks = [f"rank{rank}.json" for rank in diagnose_example.RANKS]
    work = ("--params", "13B", "--layers", "40", "--hidden", "5120", "--seq-len", "2048")
    on = ("--gpu", "NVIDIA-A100-SXM4-80GB", "--gpus", "32", "--tokens-per-s", "27300")
    for kind, words in (
        ("log", ("log", "train.log", "--seq-len", "2048")),
        ("trace", ("trace", *ranks)),
        ("mfu", ("mfu", *work, *on)),
    ):
        Path(f"vitals-{kind}.json").write_text(shell("vitals", *words, "--json").out)
    said = shell("diagnose", "--vitals", "vitals-log.json", "vitals-trace.json", "vitals-mfu.json")
    _, _, example = PAGE.read_text().partition("## An example")
    known = example[example.index("  MFU  ") : example.index("  verdict of the links  ")]
    assert " ".join(known.split()) in " ".join(said.err.split())
