"""A playbook file to a `Playbook`: types by msgspec, then everything types cannot say, each with file, line and key."""

from __future__ import annotations

import re

import msgspec

from healthcheck.model.fleet import PINNABLE
from healthcheck.model.platform import Thresholds
from healthcheck.model.playbook import BENCHMARK_STAGES, STAGES, Playbook, Sizes, Stage
from healthcheck.model.units import Bytes, Seconds
from healthcheck.parsing.strict_types import convert, unit_schema
from healthcheck.parsing.strict_yaml import Document, Path, load, shown

_KEYS_OF = {
    "probe": frozenset({"name", "timeout", "on_fail", "on_degraded"}),
    "localise": frozenset({"name", "when", "budget"}),
}
_BENCHMARK_KEYS = frozenset(Stage.__struct_fields__) - {"when", "budget"}

MAX_SIZE = 128 << 30
MAX_DURATION_S = 7 * 86400.0
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_ENV_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
# The environment of a job is provenance: it stands in command lines, raw output and every report.
_SECRET_NAME = re.compile(
    r"TOKEN|SECRET|PASSW|PASSPHRASE|CREDENTIAL|(?:API|ACCESS|PRIVATE|AUTH|ENCRYPTION)_?KEY", re.IGNORECASE
)
_SECRET_VALUE = re.compile(r"://[^/@\s:]+:[^/@\s]+@|-----BEGIN")
_COMPARISONS = (">", "<", "=", "~", "!", "^")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_MOST_WORDS, _LONGEST_WRAPPER = 64, 4096


def parse_playbook(text: str, source: str) -> Playbook:
    """The playbook in `text`; InputError `source:line: key.path: ...` for the first thing that is wrong."""
    document = load(text, source)
    playbook = convert(document, Playbook)
    check_name(document, ("name",), playbook.name)
    if _CONTROL.search(playbook.platform) or not playbook.platform or playbook.platform.startswith("-"):
        raise document.error(("platform",), "must be auto, a name from `healthcheck platform list`, or a file")
    if playbook.thresholds is not None:
        check_thresholds(document, ("thresholds",), playbook.thresholds)
    if playbook.baseline is not None and (not playbook.baseline.strip() or _CONTROL.search(playbook.baseline)):
        raise document.error(("baseline",), "must be a file that `healthcheck baseline` wrote")
    _check_binaries(document, playbook)
    _check_wrapper(document, playbook.wrapper)
    _check_env(document, ("env",), playbook.env)
    check_pins(document, playbook.pins)
    _check_stages(document, playbook.stages)
    return playbook


def playbook_schema() -> dict[str, object]:
    """The JSON Schema of a playbook, for editors and other checkers."""
    schema = msgspec.json.schema(Playbook, schema_hook=unit_schema)
    for kind, defaults in (("Sizes", Sizes()), ("Stage", Stage("probe"))):
        for name, value in msgspec.structs.asdict(defaults).items():
            if isinstance(value, Bytes | Seconds):
                schema["$defs"][kind]["properties"][name]["default"] = str(value)
    return schema


def check_name(document: Document, path: Path, name: str) -> None:
    """Names become parts of file names and of commands to copy: no blanks, quotes or leading dash."""
    if not _NAME.fullmatch(name):
        raise document.error(
            path, "must start with a letter or digit and hold only letters, digits and . _ - (up to 64)"
        )


def check_pins(document: Document, pins: dict[str, str]) -> None:
    """Pins of a playbook or a platform: a known name, a version or pattern of one line."""
    for name, wanted in pins.items():
        if name not in PINNABLE:
            raise document.error(("pins", name), f"cannot be pinned; what can is {', '.join(PINNABLE)}")
        if wanted.lstrip().startswith(_COMPARISONS):
            raise document.error(
                ("pins", name), f'compares, which a pin cannot; write a pattern such as "550.*", not {shown(wanted)}'
            )
        if not wanted.strip() or _CONTROL.search(wanted) or len(wanted) > 200:
            raise document.error(("pins", name), 'must be a version or a pattern such as "550.*"')


def check_thresholds(document: Document, path: Path, thresholds: Thresholds) -> None:
    """Fractions of peak with 0 < broken <= healthy <= 1."""
    wrong = wrong_thresholds(thresholds)
    if wrong is not None:
        raise document.error((*path, wrong[0]), wrong[1])


def wrong_thresholds(thresholds: Thresholds) -> tuple[str, str] | None:
    """(healthy or broken, what is wrong with it and what would be right); None where nothing is."""
    for key, value in (("healthy", thresholds.healthy), ("broken", thresholds.broken)):
        if 1 < value <= 100:
            right = f"{value / 100:.2f}" if value > 1.5 else "at most 1.00"
            return key, f"is a fraction of peak, got {value:g}; write {right}"
        if not 0 < value <= 1:
            return key, f"must be above 0 and at most 1, got {value:g}"
    if thresholds.broken > thresholds.healthy:
        told = f"got broken {thresholds.broken:g} with healthy {thresholds.healthy:g}"
        return "broken", f"must not be above healthy, {told}"
    return None


def _check_binaries(document: Document, playbook: Playbook) -> None:
    given = playbook.nccl_tests
    for key, value in (("path", given.path), ("push", given.push)):
        if value is not None and (not value.strip() or _CONTROL.search(value)):
            raise document.error(("nccl_tests", key), "must be a folder")
    if given.path is not None and not given.path.startswith("/"):
        raise document.error(
            ("nccl_tests", "path"), f"must be absolute, such as /opt/nccl-tests, got {shown(given.path)}"
        )
    if given.path is not None and given.push is not None:
        raise document.error(
            ("nccl_tests",), "path and push are both given; keep path (binaries on the nodes) or push (copied there)"
        )


def _check_wrapper(document: Document, wrapper: tuple[str, ...]) -> None:
    """Words, never a line for a shell: `[apptainer, exec, --nv, /images/nccl.sif]`."""
    if wrapper and (not wrapper[0].strip() or wrapper[0].startswith("-")):
        raise document.error(("wrapper", 0), "must be a program, such as apptainer or /opt/bin/in-container")
    if wrapper and len(wrapper) == 1 and " " in wrapper[0]:
        raise document.error(("wrapper", 0), f"is a list of words, write {shown(', '.join(wrapper[0].split()))} in it")
    if len(wrapper) > _MOST_WORDS or sum(map(len, wrapper)) > _LONGEST_WRAPPER:
        raise document.error(("wrapper",), "is too long for every rank; put it into a script on the nodes")
    for index, word in enumerate(wrapper):
        if _CONTROL.search(word):
            raise document.error(("wrapper", index), "must be one line without control characters")
        if _SECRET_VALUE.search(word):
            problem = "looks like a secret: it would stand in process lists and reports; keep it on the nodes"
            raise document.error(("wrapper", index), problem)


def _check_env(document: Document, path: Path, env: dict[str, str]) -> None:
    for name, value in env.items():
        if not _ENV_NAME.fullmatch(name):
            raise document.error((*path, name), "is not the name of an environment variable; use A-Z, 0-9 and _")
        if name.startswith("HEALTHCHECK_"):
            raise document.error((*path, name), "is set by healthcheck itself; choose another name")
        if _SECRET_NAME.search(name) or _SECRET_VALUE.search(value):
            raise document.error(
                (*path, name), "looks like a secret: it would stand in process lists and reports; set it on the nodes"
            )
        if _CONTROL.search(value):
            raise document.error((*path, name), "must be one line without control characters")
        if len(value) > 4096:
            raise document.error((*path, name), f"is {len(value)} characters long; at most 4096 reach the nodes")


def _check_stages(document: Document, stages: tuple[Stage, ...]) -> None:
    if not stages:
        raise document.error(("stages",), f"is empty; name at least one of {', '.join(STAGES)}")
    seen: list[str] = []
    for index, stage in enumerate(stages):
        path: Path = ("stages", index)
        if stage.name in seen:
            raise document.error((*path, "name"), f"{stage.name} is listed twice; keep one of the two")
        late = next((other for other in seen if STAGES.index(other) > STAGES.index(stage.name)), None)
        if late is not None:
            raise document.error((*path, "name"), f"{stage.name} must stand before {late}")
        seen.append(stage.name)
        _check_keys(document, path, stage.name)
        _check_stage(document, path, stage)
        if stage.name == "localise" and stage.when == "not_pass" and "multi_node" not in seen:
            raise document.error((*path, "when"), "not_pass asks about multi_node, which this playbook does not run")


def _check_keys(document: Document, path: Path, name: str) -> None:
    allowed = _KEYS_OF.get(name, _BENCHMARK_KEYS)
    given = document.value(path)
    for key in given if isinstance(given, dict) else ():
        if key not in allowed:
            known = ", ".join(sorted(allowed))
            raise document.error((*path, key), f"is not used by the stage {name}; it takes {known}")


def _check_stage(document: Document, path: Path, stage: Stage) -> None:
    for key, value in (("timeout", stage.timeout), ("stall", stage.stall), ("budget", stage.budget)):
        if value is not None and not 1 <= value <= MAX_DURATION_S:
            raise document.error((*path, key), "must lie between 1s and 7d")
    if stage.name not in BENCHMARK_STAGES:
        return
    for key, number, least, most in (
        ("iterations", stage.iterations, 1, 100_000),
        ("warmup", stage.warmup, 0, 10_000),
        ("repeats", stage.repeats, 1, 100),
    ):
        if not least <= number <= most:
            raise document.error((*path, key), f"must be a whole number from {least} to {most:,}, got {number}")
    _check_sizes(document, path, stage)
    if not stage.collectives:
        raise document.error((*path, "collectives"), "is empty; write for example [all_reduce]")
    for index, collective in enumerate(stage.collectives):
        if collective in stage.collectives[:index]:
            raise document.error((*path, "collectives", index), f"{collective} is listed twice; use repeats instead")
    if stage.thresholds is not None:
        check_thresholds(document, (*path, "thresholds"), stage.thresholds)
    _check_env(document, (*path, "env"), stage.env)


def _check_sizes(document: Document, path: Path, stage: Stage) -> None:
    sizes = stage.sizes
    here = (*path, "sizes")
    if not 2 <= sizes.factor <= 1024:
        raise document.error((*here, "factor"), f"must be a whole number from 2 to 1,024, got {sizes.factor}")
    if sizes.max > MAX_SIZE:
        raise document.error(
            (*here, "max"), f"{sizes.max} does not fit on a GPU three times, which nccl-tests needs; use 128G or less"
        )
    if sizes.min > sizes.max:
        raise document.error((*here, "min"), f"{sizes.min} is above max {sizes.max}")
