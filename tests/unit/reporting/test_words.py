"""Every word of a page comes from the catalogue, and every entry for pages is used."""

from __future__ import annotations

import re
from importlib.resources import files

from healthcheck.model.text_report import REPORT_TEXTS
from healthcheck.model.texts import CATALOGUE_EN

ROOM = files("healthcheck.reporting")
NAMES = ("report.html.j2", "report.md.j2")
TEMPLATES = {name: (ROOM / "templates" / name).read_text(encoding="utf-8") for name in NAMES}
SOURCES = [
    *TEMPLATES.values(),
    *(path.read_text(encoding="utf-8") for path in ROOM.iterdir() if path.name.endswith(".py")),
]
# Codes that are put together from a verdict, a state, a stage, a word or a count.
BUILT = ("report.word.", "report.term.", "report.state.", "report.stage.")


def test_every_code_a_page_asks_for_is_in_the_catalogue() -> None:
    asked = {code for source in SOURCES for code in re.findall(r'"(report\.[a-z_.]+[a-z_])"', source)}
    missing = {code for code in asked if code not in CATALOGUE_EN and f"{code}.one" not in CATALOGUE_EN}
    assert missing - {"report.html", "report.md", "report.css"} == set()


def test_every_entry_for_pages_is_used() -> None:
    text = "\n".join(SOURCES)
    unused = [
        code
        for code in REPORT_TEXTS
        if code.startswith("report.")
        and not code.startswith(BUILT)
        and code not in text
        and f'"{code.removesuffix(".one").removesuffix(".other")}"' not in text
    ]
    assert unused == ["report.verbatim"]  # for records whose texts no catalogue knows


def test_templates_hold_no_words_of_their_own() -> None:
    for name, template in TEMPLATES.items():
        text = re.sub(r"\{[{%#].*?[%#}]\}", "", template, flags=re.S)
        words = re.findall(r"[A-Za-z]{3,}", re.sub(r"<[^>]*>", "", text))
        assert set(words) <= {"healthcheck", "record", "json"}, name
