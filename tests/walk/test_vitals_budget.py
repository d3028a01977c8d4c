"""`vitals budget` as an operator types it: from numbers, from a stored check-up, and with what cannot be meant."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.walk.cli import Shell

SAMPLE = str(Path(__file__).parents[2] / "reports" / "sample")
BASE = {"--params": "13B", "--dp": "128", "--busbw": "200", "--step-time": "2.4s"}


def words(changed: dict[str, str | None]) -> list[str]:
    given = {**BASE, **changed}
    return ["vitals", "budget", *(f"{name}={value}" for name, value in given.items() if value is not None)]


def test_the_first_line_answers(shell: Shell) -> None:
    said = shell(*words({}))
    assert (said.code, said.err) == (0, "")
    assert said.out.splitlines()[0] == "0.2580 s for the gradients, 10.7 % of a step of 2.4 s if nothing overlaps"
    assert "143.3 GB/s busbw for 15 % of the step" in said.out
    assert shell(*words({"--step-time": "1s"})).out.splitlines()[0].endswith(": above 15 %")


def test_json_is_one_document(shell: Shell) -> None:
    found = json.loads(shell(*words({}), "--json").out)
    assert found["schema"] == "healthcheck.vitals.budget/1"
    assert round(found["collective_s"], 4) == 0.2580 and round(found["share"], 3) == 0.107


def test_a_stored_check_up_gives_its_busbw_and_says_that_it_was_simulated(shell: Shell) -> None:
    said = shell(*words({"--busbw": None, "--record": SAMPLE}))
    assert said.code == 0
    assert said.out.startswith("simulated: 0.2763 s for the gradients, 11.5 % of a step")
    told = " ".join(said.out.split())
    assert "measured in job localise-r05-verify of run 20260314T021503Z-qhzt" in told
    assert "28 nodes, 224 ranks, median of 1 GiB to 8 GiB" in told
    found = json.loads(shell(*words({"--busbw": None, "--record": SAMPLE}), "--json").out)
    assert found["simulated"] is True and found["measured"]["gbyte_s"] == found["busbw_gbyte_s"]


def test_a_training_of_one_node_takes_a_job_inside_a_node(shell: Shell) -> None:
    said = shell(*words({"--busbw": None, "--record": SAMPLE, "--dp": "8"}))
    assert "single_node.all_reduce." in said.out


def test_the_51_percent_task_is_47_percent(shell: Shell) -> None:
    said = shell("vitals", "budget", "--collective-time=452ms", "--step-time=960ms", "--claimed-share=51%")
    assert said.code == 0 and said.out.startswith("0.4520 s of collectives are 47.1 % of a step of 0.96 s")
    assert "51 % that was claimed does not follow" in said.out


def test_gpus_leave_the_data_parallel_ranks(shell: Shell) -> None:
    found = json.loads(shell(*words({"--dp": None, "--gpus": "256", "--tp": "4", "--pp": "2"}), "--json").out)
    assert found["ranks"] == 32 and found["gradient_bytes"] == 26e9 / 8


@pytest.mark.parametrize(
    ("changed", "names", "says"),
    [
        ({"--params": "0"}, "--params", "above 0"),
        ({"--params": "nan"}, "--params", "is not a number"),
        ({"--params": None}, "--params", "is missing"),
        ({"--gradient-bytes": "26GB"}, "--gradient-bytes", "a second time"),
        ({"--params": None, "--gradient-bytes": "26G"}, "--gradient-bytes", "26GiB"),
        ({"--params": None, "--gradient-bytes": "26GB", "--tp": "2"}, "--gradient-bytes", "of one GPU"),
        ({"--dp": "0"}, "--dp", "greater than or equal to 1"),
        ({"--dp": None}, "--dp", "is missing"),
        ({"--dp": None, "--gpus": "8", "--tp": "4", "--pp": "4"}, "--gpus", "fewer than --tp 4 x --pp 4 = 16"),
        ({"--dp": None, "--gpus": "12", "--tp": "8"}, "--gpus", "cannot be divided"),
        ({"--gpus": "64"}, "--dp", "128 GPUs, and --gpus says 64"),
        ({"--busbw": "0"}, "--busbw", "above 0"),
        ({"--busbw": "-1"}, "--busbw", "is not a number"),
        ({"--busbw": "400Gb/s"}, "--busbw", "in bits"),
        ({"--busbw": "1e400"}, "--busbw", "too large"),
        ({"--step-time": "0"}, "--step-time", "above"),
        ({"--target": "0"}, "--target", "above 0"),
        ({"--target": "15"}, "--target", "above 1"),
        ({"--zero": "4"}, "--zero", "3"),
        ({"--param-dtype": "bf16"}, "--param-dtype", "--zero"),
        ({"--record": SAMPLE}, "--record", "a second time"),
        ({"--busbw": None, "--record": "nowhere"}, "nowhere", "is neither a run directory nor a folder of them"),
        ({"--busbw": None, "--record": ""}, "--record", "is empty"),
        ({"--step-time": None, "--claimed-share": "51%"}, "--claimed-share", "--step-time"),
    ],
)
def test_what_cannot_be_meant_is_one_sentence(
    shell: Shell, changed: dict[str, str | None], names: str, says: str
) -> None:
    said = shell(*words(changed))
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith("error: ") and said.err.count("\n") == 1 and said.err.rstrip("\n").isprintable()
    assert names in said.err and says in said.err


def test_a_check_up_without_a_job_between_nodes_is_not_enough_to_say(shell: Shell) -> None:
    record = json.loads((Path(SAMPLE) / "record.json").read_text(encoding="utf-8"))
    record["jobs"] = [job for job in record["jobs"] if job["stage"] == "single_node"]
    (shell.results / record["run_id"]).mkdir(parents=True)
    (shell.results / record["run_id"] / "record.json").write_text(json.dumps(record), encoding="utf-8")
    said = shell(*words({"--busbw": None, "--record": "reports"}))
    assert said.code == 3
    assert said.out.startswith("not known: run ") and "143.3 GB/s busbw for 15 %" in said.out
    inside = shell(*words({"--busbw": None, "--record": "reports", "--dp": "8"}))
    assert inside.code == 0 and inside.out.startswith("simulated: ")
