"""YAML that could be meant in two ways, or hurts, is refused with its line; everything else knows its lines."""

from __future__ import annotations

import time

import pytest

from healthcheck.errors import InputError
from healthcheck.parsing.strict_yaml import load, spell

_BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join(['*' + before] * 9)}]\n" for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


def test_every_key_path_has_its_line() -> None:
    document = load(
        "# top\nname: x\nstages:\n  - {name: probe}\n  - name: single_node\n    sizes:\n      min: 1G\n", "p"
    )
    assert document.where(("name",)) == "p:2"
    assert document.where(("stages", 0, "name")) == "p:4"
    assert document.where(("stages", 1, "sizes", "min")) == "p:7"
    assert document.value(("stages", 1, "sizes", "min")) == "1G"
    assert document.where(("stages", 1, "sizes", "max")) == "p:6"
    assert spell(("stages", 1, "sizes", "min")) == "stages[1].sizes.min"


def test_plain_values_keep_their_types() -> None:
    data = load("a: 1\nb: 0.5\nc: true\nd: text\ne: null\nf: '1'\ng: [1, x]\n", "p").data
    assert data == {"a": 1, "b": 0.5, "c": True, "d": "text", "e": None, "f": "1", "g": [1, "x"]}


@pytest.mark.parametrize(
    "text", ["a: 1\r\nb: 2\r\n", "\ufeffa: 1\nb: 2\n", "---\na: 1\nb: 2\n...\n", "a: 1\nb: 2 # x\ty\n"]
)
def test_how_the_file_was_saved_does_not_matter(text: str) -> None:
    assert load(text, "p").data == {"a": 1, "b": 2}


@pytest.mark.parametrize(
    ("text", "where", "says"),
    [
        (_BOMB, "p:1", "anchor or alias"),
        ("a: 1\nb: *a\n", "p:2", "anchor or alias"),
        ("<<: {a: 1}\n", "p:1", "the key << is not text"),
        ("a: 1\nb: 2\na: 3\n", "p:3", "a is given twice (first on line 1)"),
        ("x:\n  - a: 1\n    a: 2\n", "p:3", "x[0].a is given twice"),
        ("a:\n\tb: 1\n", "p:2", "tab"),
        ("a: 1\nb:\t2\n", "p:2", "tab"),
        ("a: 1\n---\nb: 2\n", "p:2", "second document"),
        ("a: !!python/object/apply:os.system [reboot]\n", "p:1", "tag"),
        ("a: !secret x\n", "p:1", "tag"),
        ("- a\n- b\n", "p:1", "is a list"),
        ("just text\n", "p:1", "is a single value"),
        ("", "p", "is empty"),
        ("# nothing\n", "p", "is empty"),
        ("1: a\n", "p:1", "the key 1 is not text"),
        ("on: a\n", "p:1", "the key on is not text"),
        ("null: a\n", "p:1", "the key null is not text"),
        ("? [a, b]\n: c\n", "p:1", "is not text"),
        ("a: 'open\n", "p:", "not valid YAML"),
        ("a: b: c\n", "p:1", "is a colon, a quote or the indentation wrong?"),
        ("a: [1, 2\nb: 3\n", "p:2", "not valid YAML"),
        ("a: @b\n", "p:1", "not valid YAML"),
        ("a: %b\n", "p:1", "not valid YAML"),
        ("a: 2024-13-45\n", "p:1", "2024-13-45 cannot be read"),
        ("a: " + "9" * 5000 + "\n", "p:1", "cannot be read"),
        ("a: 1\nb: \x00\n", "p:2", "U+0000"),
        ("a: \x1b[31m\n", "p:1", "U+001B"),
        ("[" * 5000, "p:1", "nested more than"),
        ("{a: " * 5000, "p:1", "nested more than"),
        ("a: [" + "1, " * 20_000 + "1]\n", "p:1", "more than 10,000 values"),
        ("a: x\n" * 250_000, "p", "larger than 1 MB"),
    ],
)
def test_what_is_refused_is_said_in_one_sentence_with_its_line(text: str, where: str, says: str) -> None:
    started = time.process_time()
    with pytest.raises(InputError) as caught:
        load(text, "p")
    assert caught.value.where.startswith(where)
    assert says in caught.value.problem
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300
    assert time.process_time() - started < 5
