"""YAML as a strict format: what a person could have meant in two ways is refused, and every key knows its line.

PyYAML's safe loader does the reading. Refused with file and line: duplicate keys, anchors and aliases (a few lines of
them can stand for gigabytes), tags, tabs, several documents, keys that are not text, nesting beyond any use, and
files above 1 MB.
"""

from __future__ import annotations

import re

import yaml
from msgspec import Struct

from healthcheck.errors import InputError

MAX_BYTES = 1_000_000
MAX_DEPTH = 16
MAX_VALUES = 10_000

Path = tuple[str | int, ...]


class Document(Struct, frozen=True):
    """A mapping as read: plain dicts, lists and scalars in `data`, and the line of every key path in `lines`."""

    data: dict[str, object]
    source: str
    lines: dict[Path, int]

    def where(self, path: Path = ()) -> str:
        """`file:line` of a key path, or of the nearest parent that has one."""
        while path and path not in self.lines:
            path = path[:-1]
        line = self.lines.get(path)
        return f"{self.source}:{line}" if line is not None else self.source

    def value(self, path: Path) -> object:
        """What stands at a key path; None where nothing does."""
        here: object = self.data
        for step in path:
            if isinstance(here, dict):
                here = here.get(step)
            elif isinstance(here, list) and isinstance(step, int) and step < len(here):
                here = here[step]
            else:
                return None
        return here

    def error(self, path: Path, problem: str) -> InputError:
        """The error for one key: `file:line: stages[1].sizes.min: problem`."""
        dotted = spell(path)
        return InputError(self.where(path), f"{dotted}: {problem}" if dotted else problem)


def spell(path: Path) -> str:
    """A key path as it is written for people: `stages[1].sizes.min`."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            text += f".{shown(step)}" if text else shown(step)
    return text


def shown(word: str) -> str:
    """A word of the file for a message: as it is where that is plain and short, else quoted, escaped and cut."""
    if word and len(word) <= 40 and word.isascii() and word.isprintable() and " " not in word:
        return word
    return ascii(word if len(word) <= 60 else word[:57] + "...")


def load(text: str, source: str) -> Document:
    """Read one YAML mapping; InputError naming `source:line` for anything else."""
    if len(text) > MAX_BYTES:
        raise InputError(source, f"is larger than {MAX_BYTES // 1_000_000} MB, which no playbook or platform needs")
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    _refuse_tabs(text, source)
    try:
        _refuse_by_events(text, source)
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise InputError(
            f"{source}:{line}", f"holds the character {_code_point(error.character)}; a YAML file is plain text"
        ) from None
    except yaml.MarkedYAMLError as error:
        raise InputError(_at(source, error.problem_mark or error.context_mark), _sentence(error)) from None
    if root is None:
        raise InputError(source, "is empty; it must be a mapping such as `name: full`")
    if not isinstance(root, yaml.MappingNode):
        kind = "a list" if isinstance(root, yaml.SequenceNode) else "a single value"
        raise InputError(_at(source, root.start_mark), f"is {kind}; it must be a mapping such as `name: full`")
    reader = _Reader(source)
    data = reader.mapping(root, ())
    return Document(data, source, reader.lines)


def _refuse_tabs(text: str, source: str) -> None:
    for number, line in enumerate(text.split("\n"), 1):
        if "\t" in line[: len(line) - len(line.lstrip())] and line.strip():
            raise InputError(f"{source}:{number}", "is indented with a tab; YAML wants spaces")


def _refuse_by_events(text: str, source: str) -> None:
    """Look at the stream before anything is built from it, so that a bomb costs nothing."""
    depth = documents = 0
    for number, event in enumerate(yaml.parse(text, Loader=yaml.SafeLoader)):
        at = _at(source, event.start_mark)
        if isinstance(event, yaml.DocumentStartEvent):
            documents += 1
            if documents > 1:
                raise InputError(at, "starts a second document; keep one in a file")
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            raise InputError(at, "uses an anchor or alias (& or *); write the value out")
        if getattr(event, "tag", None) is not None:
            raise InputError(at, "uses a tag (!); write a plain value")
        if number > MAX_VALUES:
            raise InputError(
                at, f"holds more than {MAX_VALUES:,} values up to here; no playbook or platform needs that"
            )
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > MAX_DEPTH:
                raise InputError(at, f"is nested more than {MAX_DEPTH} levels deep; is a bracket left open?")
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


class _Reader:
    """Nodes to plain values, noting the line of every key path on the way."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.lines: dict[Path, int] = {}
        self._scalars = yaml.SafeLoader("")

    def mapping(self, node: yaml.MappingNode, path: Path) -> dict[str, object]:
        self.lines.setdefault(path, node.start_mark.line + 1)
        result: dict[str, object] = {}
        for key_node, value_node in node.value:
            at = _at(self.source, key_node.start_mark)
            if not isinstance(key_node, yaml.ScalarNode) or not key_node.tag.endswith(":str"):
                text = shown(key_node.value) if isinstance(key_node, yaml.ScalarNode) else "(a list or mapping)"
                raise InputError(at, f"the key {text} is not text; put it in quotes if it is meant")
            key = str(key_node.value)
            child = (*path, key)
            if key in result:
                raise InputError(at, f"{spell(child)} is given twice (first on line {self.lines[child]})")
            self.lines[child] = key_node.start_mark.line + 1
            result[key] = self._value(value_node, child)
        return result

    def _value(self, node: yaml.Node, path: Path) -> object:
        self.lines.setdefault(path, node.start_mark.line + 1)
        if isinstance(node, yaml.MappingNode):
            return self.mapping(node, path)
        if isinstance(node, yaml.SequenceNode):
            return [self._value(item, (*path, index)) for index, item in enumerate(node.value)]
        at = _at(self.source, node.start_mark)
        if node.tag.endswith((":int", ":float")):
            if ":" in node.value:  # YAML 1.1 reads 1:30 as 90
                return str(node.value)
            if re.fullmatch(r"[-+]?0[0-9_]+", node.value):
                raise InputError(at, f"{spell(path)}: {node.value[:60]} starts with a zero, which YAML reads as octal")
        try:
            value: object = self._scalars.construct_object(node)
        except (yaml.YAMLError, ValueError, OverflowError):
            at = _at(self.source, node.start_mark)
            raise InputError(at, f"{spell(path)}: {shown(node.value)} cannot be read; put text in quotes") from None
        return value


def _at(source: str, mark: object) -> str:
    line = getattr(mark, "line", None)
    return f"{source}:{line + 1}" if isinstance(line, int) else source


def _code_point(character: object) -> str:
    return f"U+{character:04X}" if isinstance(character, int) else repr(character)


def _sentence(error: yaml.MarkedYAMLError) -> str:
    """PyYAML's problem as one sentence; its context lines would make it three."""
    problem = error.problem or "cannot be read"
    if "'\\t'" in problem:
        return "holds a tab; YAML wants spaces"
    if "could not find expected ':'" in problem or "mapping values are not allowed" in problem:
        return f"is not valid YAML: {problem}; is a colon, a quote or the indentation wrong?"
    context = f" {error.context}" if error.context else ""
    began, ended = error.context_mark, error.problem_mark
    if context and began and ended and began.line != ended.line:
        context += f" that starts on line {began.line + 1}"
    return f"is not valid YAML: {problem}{context}"
