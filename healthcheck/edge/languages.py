"""Which language a reader is told in, and its texts: `--lang`, else what the environment says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from healthcheck.errors import InputError
from healthcheck.model.language import ENGLISH, Language
from healthcheck.model.message import PHRASE

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

ENGLISH_NAME = "en"
FOLDERS = {"zh": "zh_Hans"}
"""Name on the command line -> folder of its catalogue, which is the name of the locale in gettext's spelling."""
NAMES = (ENGLISH_NAME, *FOLDERS)
_SIMPLIFIED = frozenset({"zh", "zh_CN", "zh_SG", "zh_Hans", "zh_Hans_CN", "zh_Hans_SG"})
_OF_DATA = f"{PHRASE}."
_SAMPLE = "无法判定：，（）"


def load_language(name: str) -> Language:
    """`en` or `zh`, with its texts; InputError with what there is for any other.

    English costs nothing here: its texts are part of the code.
    """
    if name == ENGLISH_NAME:
        return ENGLISH
    if name not in FOLDERS:
        raise InputError("--lang", f"there is no language {name[:40]!a}; there are {', '.join(NAMES)}")
    return _language(FOLDERS[name].replace("_", "-"), catalogue_file(FOLDERS[name]))


def catalogue_file(folder: str) -> Traversable:
    """The gettext catalogue of a language, as translators edit it."""
    from importlib import resources

    return resources.files("healthcheck") / "locale" / folder / "LC_MESSAGES" / "healthcheck.po"


def language_of(environment: Mapping[str, str], encoding: str | None) -> str:
    """The name of the language that the environment of a shell asks for; English where it asks for none of ours.

    POSIX: of LC_ALL, LC_MESSAGES and LANG the first that is set decides. Traditional Chinese is not ours. A locale, or
    an `encoding` of standard error, that has no Chinese characters gets English, which it can show.
    """
    value = next((environment[name] for name in ("LC_ALL", "LC_MESSAGES", "LANG") if environment.get(name)), "")
    locale, _, codeset = value.partition("@")[0].partition(".")
    shows = all(_shows(name) for name in (codeset, encoding) if name)
    return "zh" if locale in _SIMPLIFIED and shows else ENGLISH_NAME


def _shows(encoding: str) -> bool:
    try:
        _SAMPLE.encode(encoding)
    except (LookupError, UnicodeError):
        return False
    return True


def _language(code: str, file: Traversable) -> Language:
    """The language of a catalogue, of its entries that are done: an unsure one is told in English.

    Babel is imported here: nobody who is told in English pays for it.
    """
    from babel.messages.pofile import read_po

    with file.open("rb") as stream:
        done = [
            (entry.context, str(entry.id), entry.string)
            for entry in read_po(stream, ignore_obsolete=True)
            if entry.context and entry.string and isinstance(entry.string, str) and not entry.fuzzy
        ]
    return Language(
        code,
        {context: told for context, _, told in done if not context.startswith(_OF_DATA)},
        {english: told for context, english, told in done if context.startswith(_OF_DATA)},
    )
