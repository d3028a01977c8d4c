"""The thresholds of the joint diagnosis by their names: rules of thumb, each with what stands behind it."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Mapping

from msgspec import Struct

from healthcheck.errors import InputError
from healthcheck.model.joint import Level, Sign

OPTION = "--threshold"


class Threshold(Struct, frozen=True):
    """`name`: the sign and its end (`mfu.low`). `source`: where the number comes from; most are rules of thumb."""

    name: str
    value: float
    source: str


_ARTICLE = "rule of thumb; the source article's cut-off, for which no published source was found"
_THUMB = "rule of thumb"
THRESHOLDS: tuple[Threshold, ...] = (
    Threshold("mfu.low", 0.25, _ARTICLE),
    Threshold("mfu.high", 0.35, "rule of thumb; published runs lie at 26-46 % on H100 and 38-59 % on A100"),
    Threshold("exposed.low", 0.15, _ARTICLE),
    Threshold("exposed.high", 0.30, _ARTICLE),
    Threshold("collective.low", 0.15, _ARTICLE),
    Threshold("collective.high", 0.30, _ARTICLE),
    Threshold("idle.low", 0.10, _THUMB),
    Threshold("idle.high", 0.20, _THUMB),
    Threshold("data_loading.low", 0.02, _THUMB),
    Threshold("data_loading.high", 0.05, _THUMB),
    Threshold("goodput.low", 0.80, _THUMB),
    Threshold("goodput.high", 0.90, _THUMB),
    Threshold("step_spread.low", 0.05, _THUMB),
    Threshold("step_spread.high", 0.15, _THUMB),
    Threshold("rank_spread.low", 0.03, _THUMB),
    Threshold("rank_spread.high", 0.10, _THUMB),
    Threshold("effective.low", 0.50, _THUMB),
    Threshold("effective.high", 0.80, _THUMB),
    Threshold("record_age.low", 7.0, "rule of thumb, in days"),
    Threshold("record_age.high", 30.0, "rule of thumb, in days"),
    Threshold("record_cover.low", 0.50, _THUMB),
    Threshold("record_cover.high", 1.00, "all of the training"),
)
NAMED: Mapping[Sign, str] = {
    Sign.MFU: "mfu",
    Sign.EXPOSED: "exposed",
    Sign.COLLECTIVE: "collective",
    Sign.IDLE: "idle",
    Sign.DATA_LOADING: "data_loading",
    Sign.GOODPUT: "goodput",
    Sign.STEP_SPREAD: "step_spread",
    Sign.RANK_SPREAD: "rank_spread",
    Sign.EFFECTIVE: "effective",
    Sign.RECORD_AGE: "record_age",
    Sign.RECORD_COVER: "record_cover",
}
"""The signs with thresholds of ours. Those of busbw are the record's; the others have no number."""
_DAYS = "record_age"


def defaults() -> dict[str, float]:
    """Every threshold by its name."""
    return {one.name: one.value for one in THRESHOLDS}


def asked_thresholds(words: Iterable[str]) -> dict[str, float]:
    """The thresholds with those of the command line, `mfu.low=0.25` each; InputError where one is wrong."""
    found = defaults()
    for word in words:
        name, equals, text = word.partition("=")
        name = name.strip()
        if name not in found:
            raise InputError(OPTION, _unknown(name))
        if not equals:
            raise InputError(OPTION, f"{name} has no value; write for example {name}={found[name]:g}")
        found[name] = _value(name, text.strip())
    for sign in NAMED.values():
        low, high = found[f"{sign}.low"], found[f"{sign}.high"]
        if low > high:
            raise InputError(OPTION, f"{sign}.low {low:g} is above {sign}.high {high:g}; give both")
    return found


def _value(name: str, text: str) -> float:
    most = "a number of days" if name.startswith(_DAYS) else "a fraction from 0 to 1, such as 0.25 for 25 %"
    try:
        value = float(text)
    except ValueError:
        raise InputError(OPTION, f"{name}={text!a} is no number; write {most}") from None
    if not math.isfinite(value) or value < 0 or (value > 1 and not name.startswith(_DAYS)):
        raise InputError(OPTION, f"{name}={text} is out of range; write {most}")
    return value


def _unknown(name: str) -> str:
    alike = difflib.get_close_matches(name, defaults(), n=3, cutoff=0.5)
    hint = f"did you mean {', '.join(alike)}?" if alike else f"there are {', '.join(defaults())}"
    return f"there is no threshold {name!a}; {hint}"


def level_of(value: float | None, low: float, high: float) -> Level:
    """Where a number lies: low below `low`, high from `high` on, unknown where there is none."""
    if value is None or not math.isfinite(value):
        return Level.UNKNOWN
    if value < low:
        return Level.LOW
    return Level.HIGH if value >= high else Level.MIDDLE
