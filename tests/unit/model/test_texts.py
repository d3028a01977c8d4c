"""Every message the code can say has its English text, and gets every argument the text asks for."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

import healthcheck
from healthcheck.model.message import Message
from healthcheck.model.texts import CATALOGUE_EN

PACKAGE = Path(healthcheck.__file__).parent


def said() -> Iterator[tuple[str, str, set[str], bool]]:
    """(where, code, argument names, whether there may be more) of every `say("code", ...)` that makes a Message."""
    for path in sorted(PACKAGE.rglob("*.py")):
        text = path.read_text()
        if not re.search(r"from healthcheck\.model\.message import .*\bsay\b", text):
            continue
        for call in ast.walk(ast.parse(text)):
            if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "say"):
                continue
            code = call.args[0] if call.args else None
            if isinstance(code, ast.Constant) and isinstance(code.value, str):
                names = {keyword.arg for keyword in call.keywords if keyword.arg is not None}
                more = any(keyword.arg is None for keyword in call.keywords)
                yield f"{path.relative_to(PACKAGE)}:{call.lineno}", code.value, names, more


def placeholders(template: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(template) if name is not None}


def test_every_code_said_has_a_text() -> None:
    unknown = [f"{where}: {code}" for where, code, _, _ in said() if code not in CATALOGUE_EN]
    assert unknown == []


def test_every_placeholder_gets_its_argument() -> None:
    short = [
        f"{where}: {code} lacks {sorted(missing)}"
        for where, code, names, more in said()
        if not more and (missing := placeholders(CATALOGUE_EN.get(code, "")) - names)
    ]
    assert short == []


def test_templates_use_named_fields_only() -> None:
    for code, template in CATALOGUE_EN.items():
        assert all(name.isidentifier() for name in placeholders(template)), code


def test_a_number_gets_the_word_that_fits_it() -> None:
    said = [str(Message("run.started", {"run_id": "r", "playbook": "quick", "hosts": hosts})) for hosts in (0, 1, 2)]
    assert [text.rpartition(", ")[2] for text in said] == ["0 nodes", "1 node", "2 nodes"]


def test_a_pair_of_words_holds_no_value_that_could_hold_a_bar() -> None:
    for code, template in CATALOGUE_EN.items():
        for _, _, spec, _ in Formatter().parse(template):
            assert "|" not in (spec or "") or re.fullmatch(r"[A-Za-z ]+\|[A-Za-z ]+", spec or ""), code


def test_every_number_before_a_noun_is_asked_for_its_word() -> None:
    """`{n} nodes` would say `1 nodes`."""
    nouns = "node|host|GPU|job|port|rank|size|group|process|slot|finding|value"
    careless = {
        code: found[0]
        for code, template in CATALOGUE_EN.items()
        if (found := re.findall(rf"\{{\w+\}} (?:{nouns})e?s\b", template))
    }
    assert careless == {}


def test_a_code_of_a_later_version_shows_itself() -> None:
    assert "later.code" in str(Message("later.code", {"n": 3}))


def test_the_scan_sees_what_is_said() -> None:
    assert {"probe.gpu.fewer", "job.whole"} <= {code for _, code, _, _ in said()}


def test_equal_numbers_of_different_kinds_keep_their_own_spelling() -> None:
    texts = [str(Message("probe.gpu.fewer", {"found": found, "expected": 8})) for found in (1, 1.0, 1)]
    assert texts == ["1 of 8 GPUs", "1.0 of 8 GPUs", "1 of 8 GPUs"]
