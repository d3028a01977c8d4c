"""A platform file to a `Platform`: every number positive, every number with its source."""

from __future__ import annotations

import math

import msgspec

from healthcheck.model.platform import KnownGood, NicSpec, Platform, Sourced
from healthcheck.model.playbook import BENCHMARK_STAGES
from healthcheck.parsing.playbook import check_name, check_pins, check_thresholds
from healthcheck.parsing.strict_types import convert, suggest
from healthcheck.parsing.strict_yaml import Document, Path, load, shown

LINK_LAYERS = ("InfiniBand", "Ethernet", "EFA")
PEAK_BASES = ("raw", "effective")


def parse_platform(text: str, source: str) -> Platform:
    """The platform in `text`; InputError `source:line: key.path: ...` for the first thing that is wrong."""
    document = load(text, source)
    platform = convert(document, Platform)
    check_name(document, ("name",), platform.name)
    _check_text(document, ("title",), platform.title)
    if not platform.gpu.names:
        raise document.error(("gpu", "names"), "is empty; write what nvidia-smi prints, such as A100-SXM4-80GB")
    for index, name in enumerate(platform.gpu.names):
        _check_text(document, ("gpu", "names", index), name)
    _check_count(document, ("gpu", "count"), platform.gpu.count)
    _check_nics(document, platform.nics)
    _check_sourced(document, ("intra_busbw_gbyte_s",), platform.intra_busbw_gbyte_s)
    _check_choice(document, ("peak_basis",), platform.peak_basis, PEAK_BASES)
    for stage, thresholds in platform.thresholds.items():
        _check_stage_name(document, ("thresholds", stage), stage)
        check_thresholds(document, ("thresholds", stage), thresholds)
    for index, known in enumerate(platform.known_good_gbyte_s):
        _check_known_good(document, ("known_good_gbyte_s", index), known)
    check_pins(document, platform.pins)
    return platform


def platform_schema() -> dict[str, object]:
    """The JSON Schema of a platform file."""
    return msgspec.json.schema(Platform)


def _check_text(document: Document, path: Path, text: str) -> None:
    if not text.strip() or any(ord(character) < 32 for character in text.strip()):
        raise document.error(path, "must be one line of text, not empty")


def _check_count(document: Document, path: Path, count: int) -> None:
    if not 1 <= count <= 256:
        raise document.error(path, f"must be a whole number from 1 to 256, got {count}")


def _check_nics(document: Document, nics: NicSpec) -> None:
    """Without NICs there is no rate; nothing between nodes is judged then."""
    if nics.count:
        _check_count(document, ("nics", "count"), nics.count)
        _check_rate(document, ("nics", "rate_gbit_s"), nics.rate_gbit_s)
    elif nics.rate_gbit_s:
        raise document.error(("nics", "rate_gbit_s"), f"must be 0 where count is 0, got {nics.rate_gbit_s:g}")
    _check_choice(document, ("nics", "link_layer"), nics.link_layer, LINK_LAYERS)
    _check_text(document, ("nics", "source"), nics.source)


def _check_rate(document: Document, path: Path, rate: float) -> None:
    if not (math.isfinite(rate) and 0 < rate <= 1_000_000):
        raise document.error(path, f"must be a number above 0, got {rate:g}")


def _check_sourced(document: Document, path: Path, sourced: Sourced) -> None:
    _check_rate(document, (*path, "value"), sourced.value)
    _check_text(document, (*path, "source"), sourced.source)


def _check_known_good(document: Document, path: Path, known: KnownGood) -> None:
    _check_rate(document, (*path, "value"), known.value)
    _check_text(document, (*path, "source"), known.source)
    if known.min_nodes < 1:
        raise document.error((*path, "min_nodes"), f"must be at least 1, got {known.min_nodes}")
    if known.max_nodes is not None and known.max_nodes < known.min_nodes:
        raise document.error((*path, "max_nodes"), f"is below min_nodes {known.min_nodes}, got {known.max_nodes}")


def _check_choice(document: Document, path: Path, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise document.error(path, f"unknown value {shown(value)}{suggest(value, choices)}")


def _check_stage_name(document: Document, path: Path, name: str) -> None:
    if name not in BENCHMARK_STAGES:
        raise document.error(path, f"unknown stage {shown(name)}{suggest(name, BENCHMARK_STAGES)}")
