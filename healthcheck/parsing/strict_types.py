"""A YAML document to a noun: msgspec checks the types, and its paths become file, line and key."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator
from types import UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec

from healthcheck.model.units import Bytes, Seconds
from healthcheck.parsing.strict_yaml import Document, Path, shown

T = TypeVar("T")

_MESSAGE = re.compile(r"(?P<problem>.*?)(?: - at `(?P<key>key in )?\$(?P<path>.*)`)?", re.DOTALL)
_STEP = re.compile(r"\.(?P<key>[^.\[\]]+)|\[(?P<index>\d+)\]|\[\.\.\.\]")
_EXPECTED = re.compile(r"Expected `(?P<expected>[^`]+)`, got `(?P<got>[^`]+)`")
_WORDS = {
    "int": "a whole number",
    "float": "a number",
    "str": "text",
    "bool": "true or false",
    "object": "a mapping",
    "array": "a list",
    "null": "nothing",
}


def read_unit(kind: type, value: object) -> object:
    """msgspec `dec_hook`: sizes and durations as people write them."""
    if kind is Bytes or kind is Seconds:
        if isinstance(value, str) and len(value) > 60:
            raise ValueError(f"{shown(value)} is no size or duration")
        try:
            return kind.parse(value)
        except OverflowError:
            raise ValueError(f"{shown(str(value))} is too large") from None
    raise NotImplementedError(f"no reader for {kind}")


def unit_schema(kind: type) -> dict[str, object]:
    """msgspec `schema_hook`: how sizes and durations are written, for editors."""
    if kind is Bytes:
        return {
            "anyOf": [
                {"type": "string", "pattern": r"^\d+(\.\d+)?\s*[KMGTkmgt]?(i?[Bb])?$"},
                {"type": "integer", "minimum": 1},
            ],
            "description": "a size in bytes, such as 512M or 8G (binary units)",
        }
    if kind is Seconds:
        return {
            "type": "string",
            "pattern": r"^(\d+(\.\d+)?(ms|s|m|h|d))+$",
            "description": "a duration with its unit, such as 90s, 5m or 1h30m",
        }
    raise NotImplementedError(f"no schema for {kind}")


def suggest(word: str, known: Iterable[str]) -> str:
    """`; did you mean X?` where something known is near, else `; known are ...`."""
    names = sorted(known)
    near = difflib.get_close_matches(word, names, n=1, cutoff=0.6)
    return f"; did you mean {near[0]}?" if near else f"; known are {', '.join(names)}"


def convert(document: Document, kind: type[T]) -> T:
    """The noun that a document describes; InputError with file, line and key path otherwise."""
    try:
        return msgspec.convert(document.data, kind, dec_hook=read_unit)
    except msgspec.ValidationError as error:
        match = _MESSAGE.fullmatch(str(error))
        problem = match["problem"] if match else str(error)
        pattern = tuple(_steps(match["path"] or "" if match else ""))
        path, sentence = _explain(document, kind, pattern, problem)
        raise document.error(path, sentence) from None


def _steps(text: str) -> Iterator[str | int | None]:
    """Steps of a msgspec path; None is its `[...]`, some key of a mapping."""
    for match in _STEP.finditer(text):
        if match["key"] is not None:
            yield match["key"]
        else:
            yield int(match["index"]) if match["index"] is not None else None


def _explain(document: Document, kind: type, pattern: tuple[str | int | None, ...], problem: str) -> tuple[Path, str]:
    """The exact key path and the sentence for what msgspec found."""
    paths = list(_candidates(document, pattern))
    expected = _EXPECTED.match(problem)
    if expected:
        got = expected["got"]
        path = next((p for p in paths if _name(document.value(p)) == got), paths[0])
        return path, _type_sentence(expected["expected"], got, document.value(path))
    field = re.match(r"Object (contains unknown|missing required) field `(.*)`", problem, re.DOTALL)
    if field:
        unknown, name = field[1] == "contains unknown", field[2]
        path = next((p for p in paths if (name in _keys(document.value(p))) == unknown), paths[0])
        known = _fields(kind, path)
        if unknown:
            return (*path, name), f"unknown key {shown(name)}{suggest(name, known)}"
        return path, f"the key {name} is missing"
    enum = re.match(r"Invalid enum value '?(.*?)'?$", problem, re.DOTALL)
    if enum:
        path = next((p for p in paths if str(document.value(p)) == enum[1]), paths[0])
        return path, f"unknown value {shown(enum[1])}{suggest(enum[1], _choices(kind, path))}"
    return paths[0], problem


def _candidates(document: Document, pattern: tuple[str | int | None, ...], done: Path = ()) -> Iterator[Path]:
    if not pattern:
        yield done
        return
    if pattern[0] is not None:
        yield from _candidates(document, pattern[1:], (*done, pattern[0]))
        return
    keys = _keys(document.value(done))
    if not keys:
        yield done
    for key in keys:
        yield from _candidates(document, pattern[1:], (*done, key))


def _keys(value: object) -> list[str]:
    return list(value) if isinstance(value, dict) else []


def _name(value: object) -> str:
    """msgspec's name for the type of a plain value."""
    if value is None:
        return "null"
    if isinstance(value, dict):
        return "object"
    return "array" if isinstance(value, list) else type(value).__name__


def _type_sentence(expected: str, got: str, value: object) -> str:
    wanted = " or ".join(_WORDS.get(part.strip(), part.strip()) for part in expected.split("|"))
    hint = ""
    if got in ("object", "array", "null"):
        found = _WORDS[got]
    elif isinstance(value, str):
        found = ascii(value if len(value) <= 60 else value[:57] + "...")
        percent = re.fullmatch(r"(\d{1,3}(?:\.\d+)?) ?%", value)
        if percent and "float" in expected:
            hint = f"; write {float(percent[1]) / 100:.2f}"
    else:
        found = str(value)[:60].lower()
        if "str" in expected:
            hint = "; put it in quotes"
    return f"expected {wanted}, got {found}{hint}"


def _type_at(kind: Any, path: Path) -> Any:
    """The declared type at a key path, None where the path leaves the declared ones."""
    for step in path:
        kind = without_none(kind)
        if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
            kind = get_type_hints(kind).get(str(step))
        elif get_origin(kind) is dict:
            kind = get_args(kind)[1]
        elif get_origin(kind) is tuple:
            kind = get_args(kind)[0]
        else:
            return None
    return without_none(kind)


def without_none(kind: Any) -> Any:
    """`X | None` as X."""
    if get_origin(kind) not in (Union, UnionType):
        return kind
    members = [member for member in get_args(kind) if member is not type(None)]
    return members[0] if len(members) == 1 else kind


def _fields(kind: type, path: Path) -> tuple[str, ...]:
    here = _type_at(kind, path)
    return here.__struct_fields__ if isinstance(here, type) and issubclass(here, msgspec.Struct) else ()


def _choices(kind: type, path: Path) -> tuple[str, ...]:
    here = _type_at(kind, path)
    if isinstance(here, type):
        return tuple(str(member) for member in here)  # type: ignore[attr-defined] # an Enum
    return tuple(str(choice) for choice in get_args(here))
