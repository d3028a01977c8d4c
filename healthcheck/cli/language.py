"""Which language a command speaks: that of `--lang`, else the one that the environment of the shell asks for.

Pages and standard error are told in it. Standard output is data, which scripts read: the line of a run, JSON documents
and exit codes are never translated; what else is printed there is, but only where `--lang` asks for it.
Sentences about wrong input stay English: they name options, files and keys, and are what people search for.
"""

from __future__ import annotations

from contextlib import AbstractContextManager

import typer


def speak(context: typer.Context, lang: str | None) -> str | None:
    """The callback of `--lang`: everything told until the command ends is told in this language."""
    if context.resilient_parsing:
        return lang
    import os
    import sys

    from healthcheck.edge.languages import ENGLISH_NAME, language_of, load_language
    from healthcheck.model.language import speaking

    name = language_of(os.environ, getattr(sys.stderr, "encoding", None)) if lang is None else lang
    if name != ENGLISH_NAME:
        context.with_resource(speaking(load_language(name)))
    return lang


def in_english() -> AbstractContextManager[None]:
    """What is kept, or read by programs: records, JSON documents, the line of a run."""
    from healthcheck.model.language import ENGLISH, speaking

    return speaking(ENGLISH)


def on_stdout(lang: str | None, as_json: bool = False) -> AbstractContextManager[None]:
    """Around what is printed on standard output; `lang` as given with `--lang`."""
    from healthcheck.model.language import speaking, spoken

    return in_english() if lang is None or as_json else speaking(spoken())
