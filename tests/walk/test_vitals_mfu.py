"""`vitals mfu` as an operator types it: the answer in the first line, one sentence for what cannot be meant."""

from __future__ import annotations

import json

import pytest

from tests.walk.cli import Shell


def words(line: str) -> list[str]:
    return ["vitals", "mfu", *line.split()]


ARTICLE = words("--params 13B --tokens-per-step 4M --step-time 2.4s --gpus 100 --gpu A100")
FOUNDRY = words(
    "--params 12853954560 --layers 40 --hidden 5120 --seq-len 2048 --gpu NVIDIA-A100-SXM4-40GB --gpus 128 "
    "--tokens-per-s 252,444 --recompute full"
)


def test_the_first_line_answers(shell: Shell) -> None:
    said = shell(*FOUNDRY)
    assert (said.code, said.err) == (0, "")
    assert said.out.splitlines()[0] == "MFU 51.9 %, HFU 69.2 %: 162.0 of 312 TFLOP/s a GPU (A100, BF16, dense)"
    assert "palm: 6 N + 12 L h s" in said.out and "https://github.com/stas00/ml-engineering" in said.out


def test_the_article_is_refused_with_what_would_fit(shell: Shell) -> None:
    said = shell(*ARTICLE)
    assert said.code == 2
    first = said.out.splitlines()[0]
    assert first.startswith("no MFU: the inputs are inconsistent: they imply 1,300 TFLOP/s per GPU") and "4.17" in first
    assert "a step takes 25.0 s" in said.out and "needs 1,042 GPUs" in said.out


def test_the_34b_case(shell: Shell) -> None:
    said = shell(*words("--was-mfu 22% --was-step-time 3.6s --step-time 2.4s --claimed-mfu 41%"))
    assert said.code == 0
    assert said.out.startswith("MFU 33 %: from 22 % at 3.6 s to a step of 2.4 s")
    assert "41 % that was claimed does not follow" in said.out


def test_json_is_one_document_with_every_number(shell: Shell) -> None:
    said = shell(*FOUNDRY, "--json", "--tokens-total", "300B")
    found = json.loads(said.out)
    assert found["schema"] == "healthcheck.vitals.mfu/1"
    assert round(100 * found["mfu"], 2) == 51.93
    assert found["formula"] == "palm" and found["peak"]["dense_tflops"] == 312
    assert round(found["training_s"] / 86400, 1) == 13.8
    refused = json.loads(shell(*ARTICLE, "--json").out)
    assert refused["mfu"] is None and refused["exit_code"] == 2
    assert refused["refused"]["args"]["mfu"] == pytest.approx(4.1667, abs=1e-4)


def test_the_gpus_can_be_listed(shell: Shell) -> None:
    said = shell("vitals", "mfu", "--list-gpus")
    assert said.code == 0 and "H200 SXM" in said.out and "312" in said.out
    assert len(json.loads(shell("vitals", "mfu", "--list-gpus", "--json").out)["gpus"]) >= 15


def test_an_unknown_gpu_has_no_mfu_and_is_told_which_are_near(shell: Shell) -> None:
    said = shell(*words("--params 7B --tokens-per-s 20000 --gpus 8 --gpu L40"))
    assert said.code == 2
    assert "no peak is known of a GPU named L40" in said.out and "L40S" in said.out and "MFU 0" not in said.out


def test_chinese_where_it_is_asked_for(shell: Shell) -> None:
    assert "输入互相矛盾" in shell(*ARTICLE, "--lang", "zh").out
    assert "厂商" in shell(*words("--tflops 50 --gpu H20 --lang zh")).out


BASE = {"--params": "13B", "--tokens-per-s": "1000", "--gpus": "8", "--gpu": "A100"}


@pytest.mark.parametrize(
    ("changed", "names", "says"),
    [
        ({"--params": "0"}, "--params", "above 0"),
        ({"--params": "-13B"}, "--params", "is not a number"),
        ({"--params": "nan"}, "--params", "is not a number"),
        ({"--params": "inf"}, "--params", "is not a number"),
        ({"--params": "1e400"}, "--params", "too large"),
        ({"--params": "13Q"}, "--params", "13B"),
        ({"--params": ""}, "--params", "is not a number"),
        ({"--params": "13,00B"}, "--params", "is not a number"),
        ({"--params": "9" * 500}, "--params", "is not a number"),
        ({"--params": "1\u066213B"}, "--params", "is not a number"),
        ({"--params": "13B", "--active-params": "14B"}, "--active-params", "above the 13,000,000,000"),
        ({"--experts-per-token": "2"}, "--active-params", "is missing"),
        ({"--gpus": "0"}, "--gpus", "greater than or equal to 1"),
        ({"--gpus": "-8"}, "--gpus", "greater than or equal to 1"),
        ({"--gpus": "8.5"}, "--gpus", "a whole number"),
        ({"--gpu": " "}, "--gpu", "is empty"),
        ({"--tokens-per-s": "0"}, "--tokens-per-s", "above 0"),
        ({"--tokens-per-s": "1e-400"}, "--tokens-per-s", "above 0"),
        ({"--tokens-per-s": None}, "vitals mfu", "how fast does it go?"),
        ({"--tokens-per-step": "4M"}, "--tokens-per-step", "a second time"),
        ({"--tokens-per-s": None, "--tokens-per-step": "4M"}, "--step-time", "is missing"),
        ({"--tokens-per-s": None, "--tokens-per-step": "4M", "--step-time": "0"}, "--step-time", "above"),
        ({"--tokens-per-s": None, "--tokens-per-step": "4M", "--step-time": "2.4x"}, "--step-time", "2.4s"),
        ({"--tokens-per-s": None, "--tokens-per-step": "4M", "--step-time": "inf"}, "--step-time", "2.4s"),
        ({"--tokens-per-s": None, "--global-batch": "64", "--step-time": "2s"}, "--global-batch", "--seq-len"),
        ({"--gpus": None}, "--gpus", "is missing"),
        ({"--params": None}, "--params", "is missing"),
        ({"--params": None, "--layers": "40", "--hidden": "5120"}, "--params", "--seq-len, --vocab would be needed"),
        (
            {
                "--params": None,
                "--layers": "40",
                "--hidden": "5120",
                "--seq-len": "9",
                "--vocab": "9",
                "--kv-heads": "8",
            },
            "--params",
            "--heads, --ffn-hidden would be needed",
        ),
        ({"--layers": "0"}, "--layers", "greater than or equal to 1"),
        ({"--formula": "palm"}, "--formula", "palm needs --layers, --hidden, --seq-len"),
        ({"--formula": "plam"}, "--formula", "palm"),
        ({"--peak": "0"}, "--peak", "above 0"),
        ({"--peak": "312T"}, "--peak", "without a unit"),
        ({"--dtype": "int4"}, "--dtype", "bf16"),
        ({"--warn-above": "70"}, "--warn-above", "22% or 0.22"),
        ({"--tokens-per-s": "1e-7"}, "--tokens-per-s", "too small"),
        ({"--params": "0.5"}, "--params", "too small"),
        ({"--gpu": "A" * 101}, "--gpu", "too long"),
        ({"--tokens-per-s": None, "--hardware-tflops": "140"}, "--hardware-tflops", "--recompute full"),
        ({"--was-step-time": "3s"}, "--was-step-time", "--step-time"),
        ({"--heads": "7", "--hidden": "4096"}, "--heads", "does not divide"),
        ({"--heads": "8", "--kv-heads": "3"}, "--kv-heads", "does not divide"),
        (
            {"--formula": "torchtitan", "--layers": "2", "--hidden": "99999", "--seq-len": "9", "--vocab": "9999999"},
            "--vocab",
            "more than the whole model",
        ),
    ],
)
def test_what_cannot_be_meant_is_one_sentence(
    shell: Shell, changed: dict[str, str | None], names: str, says: str
) -> None:
    given = {**BASE, **changed}
    said = shell("vitals", "mfu", *(f"{name}={value}" for name, value in given.items() if value is not None))
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith("error: ") and said.err.count("\n") == 1 and said.err.rstrip("\n").isprintable()
    assert names in said.err and says in said.err


@pytest.mark.parametrize("params", ["13b ", " 13B", "13 B", "13.0e9", "13,000,000,000", "13000M"])
def test_people_write_thirteen_billion_in_many_ways(shell: Shell, params: str) -> None:
    said = shell("vitals", "mfu", *(f"{name}={value}" for name, value in {**BASE, "--params": params}.items()))
    assert said.code == 0 and "N = 13,000,000,000" in said.out


def test_fp8_on_an_a100_has_no_mfu(shell: Shell) -> None:
    said = shell("vitals", "mfu", *(f"{name}={value}" for name, value in {**BASE, "--dtype": "fp8"}.items()))
    assert said.code == 2 and said.out.startswith("no MFU: A100 cannot compute in FP8; its peaks are for BF16, FP16")
