"""Strings that want to be more than text, and a walker that puts one into every text of a struct."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from functools import cache
from typing import Literal, TypeVar, get_args, get_origin, get_type_hints

from msgspec import Struct

T = TypeVar("T")

STRINGS = {
    "script": "<script>alert(1)</script>",
    "handler": '"><img src=x onerror="alert(1)">',
    "end of style": "</style></title></textarea><svg onload=alert(1)>",
    "template": "{{7*7}}{% for x in y %}{# #}${7*7}",
    "format": "{n} {n:node|nodes} %(x)s {0.__class__}",
    "right to left": "\u202egnp.exe\u202c \u2066a\u2069 \u200f\u061c",
    "invisible": "a\u200bb\ufeffc\u00add\u2060\u00a0e",
    "colour": "\x1b[31mred\x1b[0m",
    "title of a terminal": "\x1b]0;owned\x07\x9b2J",
    "controls": "\x00\x01\x08\x0b\x7f\x85\ufffe\uffff",
    "table": "a|b`c`||d",
    "fence": "```\n# heading\n- list\n> quote",
    "lines": "a\nrm -rf /\r\nhost99 slots=8\n\n",
    "separators": "a\u2028b\u2029c",
    "quotes": '"\\n\' \\" \\',
    "shell": "$(touch owned) `id` ; & > owned #",
    "link": "[here](javascript:alert(1)) ![x](http://evil/x) <http://evil> http://evil",
    "markdown": "**b** __u__ ~~s~~ *i* &lt; <b> \\",
    "xml": "]]><!-- --> <![CDATA[ &amp; &#x202e; <?php ?>",
    "surrogate": "\ud800",
    "assignment": 'x" } 1\n# HELP owned x\nowned 1',
}

TIMES = frozenset({"started_at", "finished_at"})
WORDS = TIMES | {"code", "stage", "check", "rule", "collective", "ending", "unit", "dtype"}
"""Words of a contract: where they are replaced, a record says things that no version of it knows."""


def disguised(value: T, put: Callable[[str], str], keep: frozenset[str] = WORDS) -> T:
    """The same value with `put` called on every text in it but those of the fields `keep`."""
    return _of(value, put, keep)  # type: ignore[return-value]


def _of(value: object, put: Callable[[str], str], keep: frozenset[str]) -> object:
    if isinstance(value, Enum):
        return value
    if isinstance(value, str):
        return put(value)
    if isinstance(value, Struct):
        texts = _texts(type(value)) - keep
        fields = {name: getattr(value, name) for name in value.__struct_fields__}
        return type(value)(**{name: _of(one, put, keep) if name in texts else one for name, one in fields.items()})
    if isinstance(value, tuple):
        return tuple(_of(one, put, keep) for one in value)
    if isinstance(value, dict):
        return {key: _of(one, put, keep) for key, one in value.items()}
    return value


@cache
def _texts(kind: type[Struct]) -> frozenset[str]:
    """The fields of a struct that are not one of a few given words, without which a record is none."""
    hints = get_type_hints(kind)
    return frozenset(name for name, hint in hints.items() if name != "schema" and not _is_choice(hint))


def _is_choice(hint: object) -> bool:
    return get_origin(hint) is Literal or any(get_origin(one) is Literal for one in get_args(hint))
