"""Whatever stands in a file, it is read or refused with one printable sentence; nothing else ever comes out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from healthcheck.errors import InputError
from healthcheck.parsing.hostfile import parse_hostfile, parse_hosts
from healthcheck.parsing.platform import parse_platform
from healthcheck.parsing.playbook import parse_playbook

ROOT = Path(__file__).parents[2]
SEEDS = [
    (ROOT / "playbooks" / "full.yaml").read_text(encoding="utf-8"),
    (ROOT / "healthcheck" / "platforms" / "a100-sxm4-8gpu-1x200.yaml").read_text(encoding="utf-8"),
    (ROOT / "hostfiles" / "example.hosts").read_text(encoding="utf-8"),
    "gpu[001-128]:8,me@[fe80::1]:22",
]
PIECES = [
    *"[]{}:,-!&*?|>%@=#'\"~ \n\t\r\0\x1b\ufeff\u202eé",
    *("[1-9]", "[01-3/2]", "9" * 30, "1e999", ".nan", "null", "yes", "0x1", "010", "1:30", "2001-13-01", "<<: ", "- "),
]


@st.composite
def mangled(draw: st.DrawFn) -> str:
    """A good file with pieces put in and taken out."""
    text = draw(st.sampled_from(SEEDS))
    for _ in range(draw(st.integers(1, 5))):
        at = draw(st.integers(0, len(text)))
        gone = draw(st.integers(0, 12))
        text = text[:at] + draw(st.sampled_from(["", *PIECES])) + text[at + gone :]
    return text


@pytest.mark.parametrize("parse", [parse_hostfile, parse_hosts, parse_playbook, parse_platform])
@given(text=mangled() | st.text(max_size=40))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_text_is_read_or_refused_in_one_sentence(parse: Callable[[str, str], object], text: str) -> None:
    try:
        parse(text, "f")
    except InputError as error:
        assert str(error).startswith("f:")
        assert str(error).isprintable()
        assert len(str(error)) < 400
