"""What the user names, read from disk: platforms and playbooks of the package or of a file, hosts of `-H`.

Parsing stays in `parsing/`; this file only finds the text and turns what the disk says into one clear sentence.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from healthcheck.edge.given_files import open_given
from healthcheck.edge.places import exists, is_file, is_folder
from healthcheck.errors import InputError
from healthcheck.evaluation.contradictions import contradictions
from healthcheck.model.host import Host
from healthcheck.model.platform import Platform
from healthcheck.model.playbook import Playbook
from healthcheck.parsing.hostfile import MAX_CHARACTERS, looks_like_path, parse_hostfile, parse_hosts
from healthcheck.parsing.platform import parse_platform
from healthcheck.parsing.playbook import parse_playbook
from healthcheck.parsing.strict_yaml import MAX_BYTES, load

_MOST_LISTED = 8
_YAML_ENDINGS = (".yaml", ".yml")


def read_text(path: Path, most_bytes: int) -> str:
    """A UTF-8 text file (or pipe) of at most `most_bytes`; InputError naming it otherwise."""
    where = str(path)
    try:
        with open_given(path) as file:
            data = file.read(most_bytes + 1)
    except FileNotFoundError:
        raise InputError(where, "there is no such file") from None
    except IsADirectoryError:
        raise InputError(where, "is a folder; name a file in it") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "its name is not valid"
        raise InputError(where, f"cannot be read: {reason}") from None
    if len(data) > most_bytes:
        raise InputError(where, f"is larger than {most_bytes / 1e6:g} MB, which none of its kind needs")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputError(where, "is UTF-16 text; save it as UTF-8")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(f"{where}:{line}", "is not UTF-8 text; save it as UTF-8") from None


def shipped_platforms() -> dict[str, Platform]:
    """Every platform of the package by name, sorted; the template is none."""
    platforms = [_platform(text, source) for source, text in _platform_texts().items()]
    return {platform.name: platform for platform in sorted(platforms, key=lambda platform: platform.name)}


def shipped_platform_names() -> tuple[str, ...]:
    """Their names alone, sorted: nothing is parsed."""
    return tuple(sorted(map(_stem, _platform_texts())))


def shipped_playbooks() -> tuple[str, ...]:
    """The names of the playbooks of the package, sorted."""
    return tuple(sorted(_stem(entry.name) for entry in _playbook_folder().iterdir() if _is_yaml(entry.name)))


def shipped_playbook(name: str) -> str:
    """The text of a playbook of the package; InputError with the names there are."""
    names = shipped_playbooks()
    if name not in names:
        raise InputError("playbook", _unknown("playbook", name, names))
    return (_playbook_folder() / f"{name}.yaml").read_text(encoding="utf-8")


def load_platform(name_or_path: str) -> tuple[Platform, str]:
    """A platform by its name or its file, and its text (for `inputs/` of the run). A name of ours wins over a file."""
    texts = _platform_texts()
    source = f"{name_or_path}.yaml"
    if source in texts:
        return _platform(texts[source], source), texts[source]
    path = Path(name_or_path)
    if not name_or_path or (not _means_file(name_or_path) and not is_file(path) and not is_folder(path)):
        raise InputError("platform", _unknown("platform", name_or_path, shipped_platform_names()))
    text = read_text(path, MAX_BYTES)
    return _platform(text, name_or_path), text


def load_playbook(name_or_path: str) -> tuple[Playbook, str]:
    """A playbook by its name or its file, and its text (for `inputs/` of the run). A name of ours wins over a file."""
    if name_or_path in shipped_playbooks():
        text = shipped_playbook(name_or_path)
        return parse_playbook(text, f"{name_or_path}.yaml"), text
    path = Path(name_or_path)
    if not name_or_path or (not _means_file(name_or_path) and not is_file(path) and not is_folder(path)):
        raise InputError("playbook", _unknown("playbook", name_or_path, shipped_playbooks()))
    text = read_text(path, MAX_BYTES)
    return parse_playbook(text, name_or_path), text


def load_hosts(argument: str) -> tuple[tuple[Host, ...], str]:
    """The hosts of `-H` and their text: an existing file is a hostfile, else a node set such as `gpu[001-128]`."""
    path = Path(argument)
    if not argument.strip():
        raise InputError("-H", "names no host; give a hostfile or a node set such as gpu[001-128]")
    if looks_like_path(argument) or _exists(path):
        text = read_text(path, MAX_CHARACTERS)
        return parse_hostfile(text, argument), text
    return parse_hosts(argument, "-H"), f"{argument}\n"


def _platform(text: str, source: str) -> Platform:
    """The platform in `text`, refused where what it says about healthy machines is more than they can reach."""
    platform = parse_platform(text, source)
    for place, problem in contradictions(platform):
        raise load(text, source).error(place, str(problem))
    return platform


def _platform_texts() -> dict[str, str]:
    folder = resources.files("healthcheck.platforms")
    names = sorted(entry.name for entry in folder.iterdir() if _is_yaml(entry.name))
    return {name: (folder / name).read_text(encoding="utf-8") for name in names}


def _playbook_folder() -> Traversable:
    """`shipped/playbooks` of an installed wheel, the top-level `playbooks/` of a working copy."""
    package = resources.files("healthcheck")
    installed = package / "shipped" / "playbooks"
    return installed if installed.is_dir() else Path(str(package)).parent / "playbooks"


def _is_yaml(name: str) -> bool:
    return name.endswith(_YAML_ENDINGS) and not name.startswith(("_", "."))


def _stem(name: str) -> str:
    return name.rpartition(".")[0]


def _means_file(text: str) -> bool:
    return "/" in text or text.endswith(_YAML_ENDINGS)


def _exists(path: Path) -> bool:
    """A file or pipe; a folder that happens to be named like a host is none."""
    return exists(path) and not is_folder(path)


def _unknown(what: str, name: str, names: Iterable[str]) -> str:
    known = list(names)
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.6) or _with_all_parts(name, known)
    many = len(known) > _MOST_LISTED
    listed = f"healthcheck {what} list has the names"
    if near:
        hint = f"; did you mean {' or '.join(near)}?" + (f" {listed}" if many else "")
    else:
        hint = f"; {listed if many else 'there are ' + ', '.join(known)}, or name a file"
    return f"there is no {what} {name!a}{hint}"


def _with_all_parts(name: str, known: Iterable[str]) -> list[str]:
    """Those that have every word of `name`, such as h100; none where they are more than a sentence bears."""
    words = [word for word in name.lower().replace("_", "-").split("-") if word]
    found = [one for one in known if words and all(word in one.split("-") for word in words)]
    return found if len(found) <= _MOST_LISTED else []
