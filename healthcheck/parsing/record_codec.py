"""`record.json` and `outcome.json`: nouns to bytes and back, nothing lost on the way.

On the wire a Verdict is its name, a Component its text, and a Message `{"code", "args", "message_en"}`: the English
text stands there for people and other programs, and is ignored when read, because it follows from code and args. An
argument without a JSON number is `{"float": "Infinity"}`: an object, which no text of a host can be taken for.
"""

from __future__ import annotations

import math
from enum import Enum
from functools import cache
from typing import Any, TypeVar, get_args, get_type_hints

import msgspec
from msgspec import Struct

from healthcheck.errors import InputError
from healthcheck.model.command import JobOutcome
from healthcheck.model.component import Component
from healthcheck.model.finding import CheckResult
from healthcheck.model.message import Arg, Message
from healthcheck.model.platform import Platform
from healthcheck.model.reading import Evidence
from healthcheck.model.record import SCHEMA, RunRecord
from healthcheck.model.units import Bytes, Seconds
from healthcheck.model.verdict import Verdict
from healthcheck.parsing.record_before import as_written_now
from healthcheck.parsing.strict_types import read_unit, without_none
from healthcheck.parsing.strict_yaml import shown

T = TypeVar("T", bound=Struct)

OUTCOME_SCHEMA = "healthcheck.outcome/1"
_SPELLED = (Verdict, Component, Message, Bytes, Seconds)
_AS_IS = frozenset({str, int, float, bool, type(None)})
_FLOAT = "float"
_NON_FINITE = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def encode_record(record: RunRecord) -> bytes:
    """`record.json`, indented, `schema` first."""
    return msgspec.json.format(_encode({"schema": SCHEMA, **_fields(record)}), indent=1) + b"\n"


def decode_record(data: bytes, source: str) -> RunRecord:
    """The record in `data`; InputError naming `source` when it is cut, of another schema or not a record."""
    return as_written_now(_decode(data, source, RunRecord, SCHEMA, "run record"))


def encode_outcome(outcome: JobOutcome) -> bytes:
    """`outcome.json` of one job."""
    return _encode({"schema": OUTCOME_SCHEMA, **_fields(outcome)}) + b"\n"


def decode_outcome(data: bytes, source: str) -> JobOutcome:
    """The outcome in `data`; InputError naming `source` when it is cut, of another schema or not an outcome."""
    return _decode(data, source, JobOutcome, OUTCOME_SCHEMA, "job outcome")


def encode_platform(platform: Platform) -> str:
    """A platform as it was used, for `inputs/` of the run; `--platform FILE` reads it again (JSON is YAML)."""
    return msgspec.json.format(_encode(_fields(platform)), indent=1).decode() + "\n"


def encode_document(schema: str, document: Struct) -> str:
    """Any document of this program as indented JSON, `schema` first."""
    return msgspec.json.format(_encode({"schema": schema, **_fields(document)}), indent=1).decode() + "\n"


def decode_document(data: bytes, source: str, kind: type[T], schema: str, what: str) -> T:
    """The document in `data`; InputError naming `source` where it is cut, of another schema or no `what`."""
    return _decode(data, source, kind, schema, what)


def message_document(message: Message) -> dict[str, object]:
    """A message in a JSON document: `code`, `args` and the English text, whatever language is spoken."""
    args = {name: _argument(arg) for name, arg in message.args.items()}
    return {"code": message.code, "args": args, "message_en": message.english}


def _encode(fields: dict[str, object]) -> bytes:
    try:
        return msgspec.json.encode(fields)
    except UnicodeEncodeError:
        return msgspec.json.encode(_without_surrogates(msgspec.to_builtins(fields)))


def _fields(value: Struct) -> dict[str, object]:
    names = zip(value.__struct_fields__, value.__struct_encode_fields__, strict=True)
    return {wire: _to_wire(getattr(value, name)) for name, wire in names}


def _to_wire(value: object) -> object:
    """Only what msgspec would write differently is rewritten; the bulk (rows, hosts) goes to it as it is."""
    if type(value) in _AS_IS or (isinstance(value, tuple) and value and type(value[0]) is str):
        return value  # command lines make up most of a large record, and a tuple here has one kind of member
    if isinstance(value, Verdict):
        return value.name
    if isinstance(value, Component):
        return value.text
    if isinstance(value, Message):
        return message_document(value)
    if isinstance(value, Bytes | Seconds):
        return str(value)
    if type(value) is CheckResult:
        return _check(value)
    if type(value) is Evidence:
        return _quote(value)
    if isinstance(value, Struct):
        return value if _is_plain(type(value)) else _fields(value)
    if isinstance(value, tuple | list):
        return [_to_wire(item) for item in value]
    if isinstance(value, dict):
        return {key: _to_wire(item) for key, item in value.items()}
    return value


def _check(check: CheckResult) -> dict[str, object]:
    """The same as field by field, said once: results are the bulk of the record of a large fleet.

    Of the few that know how sure they are, that too.
    """
    told: dict[str, object] = {} if check.confidence is None else {"confidence": check.confidence}
    if check.against:
        told["against"] = _to_wire(check.against)
    if check.rules:
        told["rules"] = _to_wire(check.rules)
    return {
        "check": check.check,
        "component": check.component.text,
        "verdict": check.verdict.name,
        "message": _to_wire(check.message),
        "rule": check.rule,
        "stage": check.stage,
        "observed": check.observed,
        "expected": check.expected,
        "unit": check.unit,
        "evidence": [_quote(quote) for quote in check.evidence],
        "job": check.job,
        **told,
    }


def _quote(quote: Evidence) -> Evidence | dict[str, object]:
    """Nearly all are verbatim, and written as they are; words of ours have their message beside them."""
    if quote.place is None and quote.told is None:
        return quote
    beside = {"place": quote.place, "told": quote.told}
    messages = {name: _to_wire(message) for name, message in beside.items() if message is not None}
    return {"source": quote.source, "text": quote.text, **messages}


def _argument(arg: Arg) -> object:
    """JSON has no infinity: spelled out, so that the record stays readable."""
    if isinstance(arg, Message):
        return _to_wire(arg)
    if isinstance(arg, float) and not math.isfinite(arg):
        return {_FLOAT: "NaN" if math.isnan(arg) else ("Infinity" if arg > 0 else "-Infinity")}
    return arg


def _read_argument(arg: object) -> object:
    """The number or message an object stands for; anything else is left for msgspec to take or refuse."""
    if isinstance(arg, dict) and "code" in arg:
        return _from_wire(Message, arg)
    if isinstance(arg, dict) and arg.keys() == {_FLOAT} and isinstance(arg[_FLOAT], str):
        return _NON_FINITE.get(arg[_FLOAT], arg)
    return arg


def _decode(data: bytes, source: str, kind: type[T], schema: str, what: str) -> T:
    try:
        raw = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(source, f"is cut off or not JSON, so it cannot be read as a {what}: {error}") from None
    found = raw.get("schema") if isinstance(raw, dict) else None
    if found != schema:
        has = "no schema" if found is None else f"the schema {shown(str(found))}"
        raise InputError(source, f"is not a {what} of this version: it has {has}, expected {schema!r}")
    try:
        return msgspec.convert(_from_wire(kind, raw), kind, dec_hook=read_unit)
    except msgspec.ValidationError as error:
        raise InputError(source, f"is not a {what}: {error}") from None


def _from_wire(kind: Any, raw: object) -> object:
    """`raw` as msgspec reads it natively, guided by the declared type; what does not fit is left for it to refuse."""
    kind = without_none(kind)
    if raw is None or _is_plain(kind):
        return raw
    if kind is Verdict:
        return Verdict[raw].value if isinstance(raw, str) and raw in Verdict.__members__ else str(raw)
    if kind is Component:
        return {"text": raw}
    if kind is Message and isinstance(raw, dict) and isinstance(raw.get("args"), dict):
        args = {name: _read_argument(arg) for name, arg in raw["args"].items()}
        return {"code": raw.get("code"), "args": args}
    if isinstance(raw, list):
        inner = _arguments(kind)
        return [_from_wire(inner[0], item) for item in raw] if inner else raw
    if isinstance(raw, dict):
        inner = _arguments(kind)
        if len(inner) == 2:
            return {name: _from_wire(inner[1], value) for name, value in raw.items()}
        hints = _wire_hints(kind)
        return {name: _from_wire(hints[name], value) if name in hints else value for name, value in raw.items()}
    return raw


@cache
def _is_plain(kind: Any) -> bool:
    """True for types in which nothing is spelled differently on the wire."""
    if kind in _SPELLED:
        return False
    if isinstance(kind, type) and issubclass(kind, Struct):
        return all(_is_plain(hint) for hint in get_type_hints(kind).values())
    if isinstance(kind, type) and issubclass(kind, Enum):
        return True
    return all(_is_plain(argument) for argument in _arguments(kind))


@cache
def _wire_hints(kind: Any) -> dict[str, Any]:
    if not (isinstance(kind, type) and issubclass(kind, Struct)):
        return {}
    hints = get_type_hints(kind)
    return {wire: hints[name] for name, wire in zip(kind.__struct_fields__, kind.__struct_encode_fields__, strict=True)}


def _arguments(kind: Any) -> tuple[Any, ...]:
    """The types inside a generic or a union."""
    return tuple(each for each in get_args(kind) if each not in (Ellipsis, type(None)))


def _without_surrogates(value: Any) -> object:
    """Bytes that were no UTF-8 when they were read become `?`: a record that cannot be saved helps nobody."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, dict):
        return {str(_without_surrogates(key)): _without_surrogates(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_surrogates(item) for item in value]
    return value
