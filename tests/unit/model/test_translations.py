"""Every text exists in every language, of the English of today, with the same placeholders."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from string import Formatter

import pytest
from babel.messages.catalog import Message
from babel.messages.pofile import read_po

from healthcheck.edge.languages import FOLDERS, catalogue_file
from healthcheck.model.verdict import Verdict
from tests.messages import english, updated

LOCALES = tuple(FOLDERS.values())
ENGLISH = english()
HAN = r"[\u3007\u4e00-\u9fff]"


def entries(locale: str) -> dict[str, Message]:
    with catalogue_file(locale).open("rb") as stream:
        return {entry.context: entry for entry in read_po(stream) if entry.context}


def chinese() -> dict[str, str]:
    return {code: str(entry.string) for code, entry in entries("zh_Hans").items() if entry.string}


def fields(template: str) -> set[tuple[str, str]]:
    """Name and format of each placeholder; the pairs of words of English are no format."""
    parsed = Formatter().parse(template)
    return {(name, "" if "|" in (spec or "") else spec or "") for _, name, spec, _ in parsed if name is not None}


def bare(template: str) -> str:
    """Without code in backticks, whose punctuation is its own."""
    return re.sub(r"`[^`]*`", "`", template)


@pytest.mark.parametrize("locale", LOCALES)
def test_the_catalogue_is_of_the_english_of_today(locale: str) -> None:
    """If not: `make messages`, then translate what is empty or marked fuzzy."""
    found = {code: str(entry.id) for code, entry in entries(locale).items()}
    assert found == ENGLISH


@pytest.mark.parametrize("locale", LOCALES)
def test_every_text_is_translated(locale: str) -> None:
    undone = [code for code, entry in entries(locale).items() if not entry.string or entry.fuzzy]
    assert undone == []


@pytest.mark.parametrize("locale", LOCALES)
def test_translations_have_the_placeholders_of_the_english_text(locale: str) -> None:
    wrong = {
        code: (ENGLISH[code], str(entry.string))
        for code, entry in entries(locale).items()
        if entry.string and code in ENGLISH and not alike(ENGLISH[code], str(entry.string))
    }
    assert wrong == {}


def alike(english: str, other: str) -> bool:
    """The same names, and each with the format it has in English."""
    names = {name for name, _ in fields(english)}
    formatted = {field for field in fields(english) if field[1]}
    return {name for name, _ in fields(other)} == names and formatted <= fields(other)


def test_a_pair_of_words_for_one_and_many_is_english() -> None:
    assert [code for code, text in chinese().items() if any("|" in (f[2] or "") for f in Formatter().parse(text))] == []


def test_chinese_has_a_space_before_latin_and_digits_and_its_own_punctuation() -> None:
    close = rf"{HAN}[A-Za-z0-9{{]|[A-Za-z0-9}}%]{HAN}"
    half = rf"{HAN}[,;:?!(]|\){HAN}|！|{HAN} {HAN}| [，。；：（）]|[，。；：（] "
    wrong = {code: text for code, text in chinese().items() if re.search(f"{close}|{half}", bare(text))}
    assert wrong == {}


def test_a_full_stop_ends_a_chinese_text_where_it_ends_the_english_one() -> None:
    wrong = {code: text for code, text in chinese().items() if text.endswith("。") != ENGLISH[code].endswith(".")}
    assert {code: text for code, text in wrong.items() if not ENGLISH[code].endswith("...")} == {}


def test_verdict_words_and_code_are_not_translated() -> None:
    wrong = {}
    for code, text in chinese().items():
        for word in Verdict.__members__:
            if len(re.findall(rf"\b{word}\b", ENGLISH[code])) != len(
                re.findall(rf"(?<![A-Za-z]){word}(?![A-Za-z])", text)
            ):
                wrong[code] = text
        quoted = re.findall(r"`[^`]+`", ENGLISH[code])
        if any(words not in text for words in quoted if "{" not in words):
            wrong[code] = text
    assert wrong == {}


def translated(texts: Mapping[str, str]) -> str:
    return updated("", "zh_Hans", texts, {code: f"文 {text}" for code, text in texts.items()})


def test_a_changed_text_is_marked_a_new_one_is_empty_a_gone_one_is_removed(tmp_path: Path) -> None:
    old = translated({"a": "one", "b": "two", "c": "three"})
    new = updated(old, "zh_Hans", {"a": "one", "b": "two and a half", "d": "four"})
    (file := tmp_path / "new.po").write_text(new, encoding="utf-8")
    with file.open("rb") as stream:
        found = {entry.context: entry for entry in read_po(stream) if entry.context}
    assert {code: (entry.string, entry.fuzzy) for code, entry in found.items()} == {
        "a": ("文 one", False),
        "b": ("文 two", True),
        "d": ("", False),
    }


def test_equal_english_texts_keep_translations_of_their_own() -> None:
    old = updated("", "zh_Hans", {"a": "up", "b": "up"}, {"a": "上", "b": "启用"})
    assert updated(old, "zh_Hans", {"a": "up", "b": "up"}) == old
