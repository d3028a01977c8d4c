"""Bring the catalogues of translations up to date with the English texts: `make messages`, then read `git diff`.

A text that is new gets an empty entry, one whose English changed is marked fuzzy (its translation is told only once a
translator has looked at it and removed the mark), one that is gone is removed. Files of done translations may be given,
`{"code": "text"}` in JSON each: they fill their entries.
"""

from __future__ import annotations

import hashlib
import io
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from babel.messages.catalog import Catalog, Message
from babel.messages.pofile import read_po, write_po

from healthcheck.edge.gpu_peaks import shipped_peaks
from healthcheck.edge.languages import FOLDERS, catalogue_file
from healthcheck.edge.shipped import shipped_platforms
from healthcheck.model.message import PHRASE
from healthcheck.model.platform import Platform
from healthcheck.model.texts import CATALOGUE_EN

# No dates and no names: the file changes when a text does.
_HEAD = """\
# Texts of healthcheck. Entries are made by `make messages`; translate what follows msgstr and remove `#, fuzzy`.
# msgctxt is the code of the text; that of a text in platforms/ is `phrase.` and a digest. Placeholders in braces stay
# as they are; a pair of words such as {{n:node|nodes}} exists in English only. Verdict words, commands, names and units
# are not translated.
msgid ""
msgstr ""
"Project-Id-Version: healthcheck\\n"
"Language: {locale}\\n"
"MIME-Version: 1.0\\n"
"Content-Type: text/plain; charset=utf-8\\n"
"Content-Transfer-Encoding: 8bit\\n"

"""


def english() -> dict[str, str]:
    """Every text there is, by its code: those of the code, of the machine types and of the table of peaks.

    The latter have a digest of their English for a code: a changed one is another text.
    """
    found = dict.fromkeys(text for platform in shipped_platforms().values() for text in _words(platform))
    found.update(dict.fromkeys(row.note for row in shipped_peaks() if row.note))
    codes = {f"{PHRASE}.{hashlib.sha256(text.encode()).hexdigest()[:8]}": text for text in found}
    assert len(codes) == len(found), "two texts have one digest"
    return {**CATALOGUE_EN, **codes}


def _words(platform: Platform) -> Iterator[str]:
    """Its title and its sources, but for those that are nothing but an address."""
    yield platform.title
    rates = [platform.intra_busbw_gbyte_s, platform.nics.slot_gbyte_s, platform.line_rate_gbyte_s]
    sources = [platform.nics.source, *(rate.source for rate in rates if rate is not None)]
    sources += [fewer.source for fewer in platform.intra_of_fewer_gbyte_s]
    sources += [known.source for known in platform.known_good_gbyte_s]
    yield from (source for source in sources if " " in source)


def updated(old: str, locale: str, english: Mapping[str, str], done: Mapping[str, str] | None = None) -> str:
    """The text of a catalogue after the English ones became `english` and the translations in `done` were made."""
    before = {entry.context: entry for entry in read_po(io.BytesIO(old.encode())) if entry.context}
    made = Catalog(locale=locale, charset="utf-8")
    for code, text in english.items():
        entry = before.get(code) or Message(text, context=code)
        translation, fuzzy = str(entry.string or ""), entry.fuzzy or entry.id != text
        if done is not None and code in done:
            translation, fuzzy = done[code], False
        made.add(text, translation, context=code, flags={"fuzzy"} if fuzzy and translation else set())
    for entry in made:
        # Our placeholders are checked by our own test; `70 % of` is no format of C.
        entry.flags.difference_update({"python-format", "python-brace-format"})
    written = io.BytesIO()
    write_po(written, made, width=0, omit_header=True)
    return _HEAD.format(locale=locale) + written.getvalue().decode()


def main(files: list[str]) -> None:
    """Write every catalogue again."""
    done: dict[str, str] = {}
    for name in files:
        done.update(json.loads(Path(name).read_text(encoding="utf-8")))
    for locale in FOLDERS.values():
        path = Path(str(catalogue_file(locale)))
        old = path.read_text(encoding="utf-8") if path.exists() else ""
        texts = english()
        path.write_text(updated(old, locale, texts, done), encoding="utf-8")
        print(f"{len(texts)} texts in {path}")


if __name__ == "__main__":
    main(sys.argv[1:])
