"""Whoever speaks Chinese reads pages and stories in it; records, documents, the one line and exit codes stay."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from healthcheck.parsing.record_codec import decode_record, encode_record
from tests.golden.searched import searched
from tests.walk.cli import Shell

HAN = re.compile(r"[\u4e00-\u9fff]")
RUN = ("run", "quick", "--simulate", "4", "--leaf-size", "2", "--fault", "node02:hca=mlx5_2,rate=0.5")
PAGES = ("report.html", "report.md")
HOST_LISTS = ("healthy.hosts", "exclude.hosts", "suggested-actions.sh")
PROGRAMS_READ = ("record.json", "junit.xml", "metrics.prom", *HOST_LISTS)


@pytest.fixture
def speaks_chinese(monkeypatch: pytest.MonkeyPatch) -> None:
    """The shell of an operator whose machine speaks Chinese."""
    monkeypatch.delenv("LC_ALL")
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")


def texts(folder: Path) -> dict[str, str]:
    return {name: (folder / name).read_text(encoding="utf-8") for name in (*PAGES, *PROGRAMS_READ)}


@pytest.mark.usefixtures("speaks_chinese")
def test_the_shell_says_which_language_pages_and_stories_have(shell: Shell) -> None:
    said = shell(*RUN)
    assert said.code == 1
    assert HAN.search(said.err) and not HAN.search(said.out)
    assert said.out.startswith("FAIL 3/4 ready, simulated, excluded node02, cause node02/hca:mlx5_2 the link of mlx5_2")
    made = texts(shell.folders()[-1])
    assert [name for name in PAGES if not HAN.search(made[name])] == []
    assert [name for name in PROGRAMS_READ if HAN.search(made[name])] == []
    assert "excluded" in made["exclude.hosts"] and "# Suggested" in made["suggested-actions.sh"]
    assert '<html lang="zh-Hans">' in made["report.html"]
    # Each verdict word has its gloss where a page names it first.
    assert made["report.md"].startswith("# FAIL 故障（模拟）：")
    assert "PASS 通过" in made["report.html"]


@pytest.mark.usefixtures("speaks_chinese")
def test_the_option_wins_over_the_shell(shell: Shell) -> None:
    said = shell(*RUN, "--lang", "en")
    assert said.code == 1
    assert not HAN.search(said.err + said.out)
    assert [name for name, text in texts(shell.folders()[-1]).items() if HAN.search(text)] == []


def test_a_run_is_recorded_alike_in_every_language(shell: Shell) -> None:
    records = []
    for language in ("en", "zh"):
        assert shell(*RUN, "--lang", language, "--quiet").code == 1
        records.append(lines(shell))
    assert records[0] == records[1]


def lines(shell: Shell) -> list[str]:
    """Those of the newest record, without what differs from run to run: times, names, and who answered first."""
    record = shell.record()
    text = encode_record(record).decode().replace(record.run_id, "RUN")
    text = re.sub(r"\d{4}-\d\d-\d\dT[\d:.+]+", "TIME", text)
    text = re.sub(r"\b[0-9a-f]{16}\b", "TOKEN", text)
    text = re.sub(r'"(duration_s|pid)": [\d.]+', r'"\1": 0', text)
    text = re.sub(r'"arguments": \[.*?\]', '"arguments": []', text, flags=re.DOTALL)
    return sorted(line.rstrip(",") for line in text.splitlines())


def test_a_stored_run_is_told_in_chinese_and_again_in_the_very_same_english(shell: Shell) -> None:
    record = searched()
    folder = shell.results / record.run_id
    folder.mkdir(parents=True)
    (folder / "record.json").write_bytes(encode_record(record))
    assert shell("report", str(folder)).code == 0
    english = texts(folder)
    assert shell("report", str(folder), "--lang", "zh").code == 0
    assert HAN.search((folder / "report.html").read_text(encoding="utf-8"))
    assert shell("report", str(folder), "--lang", "en").code == 0
    assert texts(folder) == english


def test_a_record_of_an_earlier_version_with_sentences_as_plain_text_is_still_told(shell: Shell) -> None:
    raw = json.loads(encode_record(searched()))
    slow = next(host for host in raw["hosts"] if host["verdict"] != "PASS")
    slow["reasons"] = [{"code": "host.excluded", "args": {"why": "100 Gb/s instead of 200"}, "message_en": ""}]
    record = decode_record(json.dumps(raw).encode(), "record.json")
    folder = shell.results / record.run_id
    folder.mkdir(parents=True)
    (folder / "record.json").write_bytes(json.dumps(raw).encode())
    assert shell("report", str(folder), "--lang", "zh").code == 0
    assert "100 Gb/s instead of 200" in (folder / "report.html").read_text(encoding="utf-8")


DOCUMENTS = (
    ("explain", "hca_slow", "--json"),
    ("explain", "--json"),
    ("plan", "full", "--simulate", "4", "--json"),
    ("history", "--simulated", "--json"),
    ("compare", "{run}", "{run}", "--json"),
    ("report", "{run}", "--json"),
    ("parse", "{log}", "--json"),
    ("parse", "{log}", "--csv"),
)


def test_documents_and_exit_codes_are_the_same_in_every_language(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert shell(*RUN, "--quiet").code == 1
    (log := tmp_path / "log").write_text("node02: Test NCCL failure all_reduce.cu:44 'unhandled system error'\n")
    commands = [[word.format(run=shell.folders()[-1], log=log) for word in words] for words in DOCUMENTS]
    english = [(said.code, said.out) for said in (shell(*words) for words in commands)]
    assert [(said.code, said.out) for said in (shell(*words, "--lang", "zh") for words in commands)] == english
    monkeypatch.delenv("LC_ALL")
    monkeypatch.setenv("LC_MESSAGES", "zh_CN.UTF-8")
    assert [(said.code, said.out) for said in (shell(*words) for words in commands)] == english


TOLD = (
    ("explain", "hca_slow"),
    ("plan", "quick", "--simulate", "4"),
    ("history", "--simulated"),
    ("doctor",),
    ("parse", "{log}"),
)


@pytest.mark.parametrize("words", TOLD, ids=lambda words: words[0])
def test_what_is_printed_for_people_is_chinese_where_it_is_asked_for(
    words: tuple[str, ...], shell: Shell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert shell(*RUN, "--quiet").code == 1
    (log := tmp_path / "log").write_text("node02: Test NCCL failure all_reduce.cu:44 'unhandled system error'\n")
    command = [word.format(log=log) for word in words]
    english = shell(*command)
    chinese = shell(*command, "--lang", "zh")
    assert HAN.search(chinese.out) and not HAN.search(english.out)
    assert chinese.code == english.code
    # Standard output is data: without the option, scripts read what they always read.
    monkeypatch.delenv("LC_ALL")
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    assert shell(*command).out == english.out


def test_another_language_is_one_sentence_and_touches_nothing(shell: Shell) -> None:
    said = shell(*RUN, "--lang", "fr")
    assert said.code == 2 and said.out == ""
    assert said.err == "error: --lang: there is no language 'fr'; there are en, zh\n"
    assert not shell.results.exists()


def test_a_language_ends_with_its_command(shell: Shell) -> None:
    assert HAN.search(shell("explain", "hca_slow", "--lang", "zh").out)
    assert not HAN.search(shell("explain", "hca_slow").out)


def test_a_comparison_and_a_history_are_pages_of_that_language(shell: Shell) -> None:
    for _ in range(2):
        assert shell(*RUN, "--quiet").code == 1
    for words in (("compare", "--last"), ("history", "--simulated")):
        assert shell(*words, "--html", "page.html", "--lang", "zh").code in (0, 3)
        page = Path("page.html").read_text(encoding="utf-8")
        assert '<html lang="zh-Hans">' in page and HAN.search(page)
        assert ":lang(zh-Hans)" in page


@pytest.mark.usefixtures("speaks_chinese")
def test_a_baseline_is_no_text_of_a_language(shell: Shell) -> None:
    for seed in ("1", "2", "3"):
        assert shell("run", "quick", "--simulate", "4", "--run-seed", seed, "--quiet").code == 0
    made = shell("baseline", *map(str, shell.folders()), "-o", "usual.json")
    assert made.code == 0
    assert not HAN.search(Path("usual.json").read_text(encoding="utf-8")) and not HAN.search(made.out)
