"""Every word of a page comes from the catalogue."""

from __future__ import annotations

import re
from importlib.resources import files

from healthcheck.model.texts import CATALOGUE_EN

ROOM = files("healthcheck.reporting")
NAMES = ("report.html.j2", "report.md.j2")
TEMPLATES = {name: (ROOM / "templates" / name).read_text(encoding="utf-8") for name in NAMES}
SOURCES = [
    *TEMPLATES.values(),
    *(path.read_text(encoding="utf-8") for path in ROOM.iterdir() if path.name.endswith(".py")),
]


def test_every_code_a_page_asks_for_is_in_the_catalogue() -> None:
    asked = {code for source in SOURCES for code in re.findall(r'"(report\.[a-z_.]+[a-z_])"', source)}
    assert asked - CATALOGUE_EN.keys() <= {"report.html", "report.md", "report.css"}


def test_templates_hold_no_words_of_their_own() -> None:
    for name, template in TEMPLATES.items():
        text = re.sub(r"\{[{%#].*?[%#}]\}", "", template, flags=re.S)
        words = re.findall(r"[A-Za-z]{3,}", re.sub(r"<[^>]*>", "", text))
        assert set(words) <= {"healthcheck", "record", "json", "vitals", "html"}, name  # and the names of files
