"""A platform file to a `Platform`: every number positive, every number with its source, no two keys at odds."""

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
    _check_line_rate(document, platform)
    _check_fewer(document, platform)
    _check_count(document, ("nvlink_nodes",), platform.nvlink_nodes)
    for stage, thresholds in platform.thresholds.items():
        _check_stage_name(document, ("thresholds", stage), stage)
        check_thresholds(document, ("thresholds", stage), thresholds)
    for index, known in enumerate(platform.known_good_gbyte_s):
        _check_known_good(document, ("known_good_gbyte_s", index), known, platform)
    _check_overlaps(document, platform)
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
    if nics.slot_gbyte_s is not None:
        _check_sourced(document, ("nics", "slot_gbyte_s"), nics.slot_gbyte_s)
        if nics.slot_gbyte_s.value > nics.rate_gbit_s / 8:
            line = f"the {nics.rate_gbit_s / 8:g} GB/s of its line"
            raise document.error(
                ("nics", "slot_gbyte_s", "value"), f"is above {line}, got {nics.slot_gbyte_s.value:g}; leave it out"
            )


def _check_rate(document: Document, path: Path, rate: float) -> None:
    if not (math.isfinite(rate) and 0 < rate <= 1_000_000):
        raise document.error(path, f"must be a number above 0, got {rate:g}")


def _check_sourced(document: Document, path: Path, sourced: Sourced) -> None:
    _check_rate(document, (*path, "value"), sourced.value)
    _check_text(document, (*path, "source"), sourced.source)


def _check_line_rate(document: Document, platform: Platform) -> None:
    """What the topology delivers is held beside the line rate; a raw peak is the line rate already."""
    raw, inside = platform.line_rate_gbyte_s, platform.intra_busbw_gbyte_s.value
    if platform.peak_basis == "effective" and raw is None:
        raise document.error(("peak_basis",), "effective needs the key line_rate_gbyte_s beside it")
    if raw is None:
        return
    _check_sourced(document, ("line_rate_gbyte_s",), raw)
    if platform.peak_basis != "effective":
        raise document.error(("line_rate_gbyte_s",), "is for peak_basis effective; a raw peak is the line rate itself")
    if raw.value < inside:
        raise document.error(
            ("line_rate_gbyte_s", "value"), f"is below intra_busbw_gbyte_s {inside:g}, got {raw.value:g}"
        )


def _check_fewer(document: Document, platform: Platform) -> None:
    seen: set[int] = set()
    for index, fewer in enumerate(platform.intra_of_fewer_gbyte_s):
        path: Path = ("intra_of_fewer_gbyte_s", index)
        _check_rate(document, (*path, "value"), fewer.value)
        _check_text(document, (*path, "source"), fewer.source)
        if not 2 <= fewer.gpus < platform.gpu.count:
            most = platform.gpu.count - 1
            raise document.error((*path, "gpus"), f"must be from 2 to {most}, fewer than a node has, got {fewer.gpus}")
        if fewer.gpus in seen:
            raise document.error((*path, "gpus"), f"{fewer.gpus} stands here twice")
        seen.add(fewer.gpus)


def _check_known_good(document: Document, path: Path, known: KnownGood, platform: Platform) -> None:
    _check_rate(document, (*path, "value"), known.value)
    _check_text(document, (*path, "source"), known.source)
    if known.min_nodes < 1:
        raise document.error((*path, "min_nodes"), f"must be at least 1, got {known.min_nodes}")
    if known.max_nodes is not None and known.max_nodes < known.min_nodes:
        raise document.error((*path, "max_nodes"), f"is below min_nodes {known.min_nodes}, got {known.max_nodes}")
    if known.gpus is not None and not 1 <= known.gpus <= platform.gpu.count:
        raise document.error((*path, "gpus"), f"must be from 1 to gpu.count {platform.gpu.count}, got {known.gpus}")


def _check_overlaps(document: Document, platform: Platform) -> None:
    """Of two readings for the same job nobody could say which one holds."""
    last: dict[tuple[object, ...], tuple[int, KnownGood]] = {}
    for index, known in sorted(enumerate(platform.known_good_gbyte_s), key=lambda entry: entry[1].min_nodes):
        job = (known.collective, known.gpus or platform.gpu.count, known.algorithm)
        before, earlier = last.get(job, (0, None))
        if earlier is not None and (earlier.max_nodes is None or earlier.max_nodes >= known.min_nodes):
            raise document.error(
                ("known_good_gbyte_s", index, "min_nodes"),
                f"{known.min_nodes} is among the nodes of known_good_gbyte_s[{before}] already, for the same job",
            )
        last[job] = (index, known)


def _check_choice(document: Document, path: Path, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise document.error(path, f"unknown value {shown(value)}{suggest(value, choices)}")


def _check_stage_name(document: Document, path: Path, name: str) -> None:
    if name not in BENCHMARK_STAGES:
        raise document.error(path, f"unknown stage {shown(name)}{suggest(name, BENCHMARK_STAGES)}")
