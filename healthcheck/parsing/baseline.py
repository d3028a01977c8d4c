"""A baseline file to a `Baseline` and back. Every mistake in one names the file and the key."""

from __future__ import annotations

import json
import math

import msgspec
from msgspec.structs import replace

from healthcheck.errors import InputError
from healthcheck.model.baseline import PLACEMENTS, SCHEMA, Baseline, Usual
from healthcheck.model.collective import Collective
from healthcheck.model.playbook import BENCHMARK_STAGES
from healthcheck.parsing.nodeset import expand, fold, split
from healthcheck.parsing.strict_types import convert, suggest
from healthcheck.parsing.strict_yaml import Document, Path, shown

# 20,000 nodes with five sizes each.
MAX_BYTES = 100_000_000

_COLLECTIVES = tuple(map(str, Collective))
_Key = tuple[str, str, str, int, int, str]


def key_of(usual: Usual) -> _Key:
    """What an entry is about; no two entries of a baseline have the same."""
    return usual.stage, usual.collective, usual.hosts, usual.n_ranks, usual.size_bytes, usual.placement


def encode_baseline(baseline: Baseline) -> str:
    """The file: `schema` first, then one line an entry, so that two baselines can be read side by side."""
    told = {"schema": SCHEMA, **msgspec.structs.asdict(baseline), "usual": None}
    head = "\n".join(
        f" {_json(name)}: {_json(value)}," for name, value in told.items() if name != "usual" and value != ""
    )
    entries = ",\n".join(f"  {_json(usual)}" for usual in baseline.usual)
    return f'{{\n{head}\n "usual": [\n{entries}\n ]\n}}\n'


def parse_baseline(text: str, source: str) -> Baseline:
    """The baseline in `text`; InputError `source: usual[3].median_gbyte_s: ...` for the first thing that is wrong."""
    document = Document(_read(text, source), source, {})
    found = document.value(("schema",))
    if found != SCHEMA:
        has = "no schema" if found is None else f"the schema {shown(str(found))}"
        raise InputError(source, f"schema: is not a baseline of this version: it has {has}, expected {SCHEMA!r}")
    baseline = convert(document, Baseline)
    if not baseline.platform.strip():
        raise document.error(("platform",), "is empty; it names the machine type the numbers are of")
    if not baseline.usual:
        raise document.error(("usual",), "is empty: this baseline says nothing about any node")
    spelled: dict[str, str] = {}
    usual = tuple(_checked(document, ("usual", index), each, spelled) for index, each in enumerate(baseline.usual))
    first: dict[_Key, int] = {}
    for index, each in enumerate(usual):
        before = first.setdefault(key_of(each), index)
        if before != index:
            raise document.error(
                ("usual", index), f"is about the same job, size and placement as usual[{before}]; keep one"
            )
    return replace(baseline, usual=usual)


def hosts_of(usual: Usual) -> tuple[str, ...]:
    """The hosts of an entry. An IPv6 address is one as it stands."""
    names: list[str] = []
    for part in split(usual.hosts):
        names.extend(expand(part, "hosts") if "[" in part else [part])
    return tuple(names)


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()


def _read(text: str, source: str) -> dict[str, object]:
    """A JSON object. Python's reader and not msgspec's, because it knows the line, and reads NaN, which has a key."""
    if not text.strip():
        raise InputError(source, "is empty; it must be what `healthcheck baseline` writes")
    try:
        data = json.loads(text.removeprefix("\ufeff"), object_pairs_hook=lambda pairs: _once(pairs, source))
    except json.JSONDecodeError as error:
        raise InputError(f"{source}:{error.lineno}", f"is cut off or not JSON: {error.msg.lower()}") from None
    except (ValueError, RecursionError):
        raise InputError(
            source, "cannot be read as JSON: a number in it is too long, or it is nested too deep"
        ) from None
    if not isinstance(data, dict):
        raise InputError(source, "is not a baseline: it must be what `healthcheck baseline` writes, a JSON object")
    return data


def _once(pairs: list[tuple[str, object]], source: str) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(source, f"gives the key {shown(twice)} twice in one object; keep one")
    return found


def _checked(document: Document, path: Path, usual: Usual, spelled: dict[str, str]) -> Usual:
    """The entry, with its hosts spelled as a run spells them; what types cannot say of it is said here.

    `spelled` remembers node sets: the same thousand nodes stand in every size of a job.
    """
    for key, value, known in (
        ("stage", usual.stage, BENCHMARK_STAGES),
        ("collective", usual.collective, _COLLECTIVES),
        ("placement", usual.placement, PLACEMENTS),
    ):
        if value not in known:
            raise document.error((*path, key), f"unknown value {shown(value)}{suggest(value, known)}")
    for key, number in (("n_ranks", usual.n_ranks), ("size_bytes", usual.size_bytes), ("n", usual.n)):
        if number < 1:
            raise document.error((*path, key), f"must be a whole number from 1 up, got {number}")
    if not (math.isfinite(usual.median_gbyte_s) and usual.median_gbyte_s > 0):
        raise document.error((*path, "median_gbyte_s"), f"must be a number above 0, got {usual.median_gbyte_s:g}")
    if not (math.isfinite(usual.spread_gbyte_s) and usual.spread_gbyte_s >= 0):
        raise document.error((*path, "spread_gbyte_s"), f"must be a number from 0 up, got {usual.spread_gbyte_s:g}")
    if not usual.is_limit:
        most, middle = usual.most_spread_gbyte_s, usual.median_gbyte_s
        raise document.error(
            (*path, "spread_gbyte_s"),
            f"is {usual.spread_gbyte_s:g} of a median of {middle:g}, which disarms it: "
            f"keep it below {most:g}, so that 95 % of the median less the spread is above half of the median",
        )
    if "[" not in usual.hosts and "," not in usual.hosts and usual.hosts.strip():
        return usual  # a job of one node: by far the most
    try:
        if usual.hosts not in spelled:
            spelled[usual.hosts] = fold(_named(usual))
        return replace(usual, hosts=spelled[usual.hosts])
    except InputError as error:
        raise document.error((*path, "hosts"), error.problem) from None


def _named(usual: Usual) -> tuple[str, ...]:
    names = hosts_of(usual)
    if not all(names):
        raise InputError("hosts", "names no host; write a name or a node set such as gpu[001-008]")
    return names
