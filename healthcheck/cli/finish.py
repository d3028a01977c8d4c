"""The end of a run: pages written, one line on stdout, the story on stderr."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from healthcheck.cli.alerts import tell
from healthcheck.cli.exits import EXIT_INCONCLUSIVE, out, say
from healthcheck.cli.gate_end import settle_lists
from healthcheck.cli.terminal import WIDEST, has_colour, painted, width
from healthcheck.edge.earlier import settled_earlier
from healthcheck.edge.history_index import DirectoryIndex
from healthcheck.errors import StoreError
from healthcheck.model.record import RunRecord
from healthcheck.parsing.record_codec import encode_record
from healthcheck.ports import RunStore
from healthcheck.reporting.summary import stdout_line, terminal_summary
from healthcheck.reporting.text_width import wrapped
from healthcheck.workflows.pages import write_pages

if TYPE_CHECKING:
    from healthcheck.cli.alerts import Told
    from healthcheck.cli.console import Watcher
    from healthcheck.cli.options import Loudness


def finish(
    record: RunRecord, store: RunStore, as_json: bool, loud: Loudness, watching: Watcher, told: Told | None = None
) -> RunRecord:
    """Write the pages and the line of the history; then either the record as JSON or the one line on stdout, and last
    whoever is `told`: no slow service holds up the line. The record as it was told: without its lists no gate passes.

    `watching` is closed in between: what it redraws has to be gone before the end is told.
    """
    failed: StoreError | None = None
    # The lists come before the pages: a job waits for them.
    record, listed = settle_lists(record, store)
    try:
        write_pages(record, store, settled_earlier(record, store))
    except StoreError as error:
        failed = error
    notes = DirectoryIndex(store.folder.parent).add(store.folder)
    watching.close()
    if not loud.quiet and failed is None:
        tell_end(record, store.folder, loud.verbose)
        for note in (*listed, *notes):
            say_wrapped(str(note))
    if failed is not None and record.state == "complete":
        # What is told is what the process ends with; the verdict on the nodes stays what was measured.
        record = replace(record, exit_code=EXIT_INCONCLUSIVE)
    try:
        if as_json:
            out(encode_record(record).decode().rstrip("\n"))
        else:
            out(stdout_line(record) + (", report not written" if failed is not None else ""))
    finally:
        if told is not None:
            tell(told, record, store.folder, loud.quiet)
    if failed is not None:
        again = f"healthcheck report {shlex.quote(str(store.folder))}"
        raise StoreError(f"{failed}; the record is whole, but not every page of it could be written: {again}")
    return record


def tell_end(record: RunRecord, folder: Path, verbose: bool) -> None:
    """The end of the story, with a blank line on either side, as wide as the terminal."""
    colour = has_colour(sys.stderr)
    say()
    for line in terminal_summary(record, min(WIDEST, width(sys.stderr)), shown(folder), verbose):
        say(painted(line) if colour else line)
    say()


def say_wrapped(text: str) -> None:
    """A sentence on stderr, as wide as the terminal."""
    for line in wrapped(text, min(WIDEST, width(sys.stderr)), break_long=False):
        say(line)


def shown(path: Path) -> str:
    """Relative to the working directory where that is shorter."""
    try:
        return str(path.resolve().relative_to(Path.cwd()))
    except (ValueError, OSError):  # the latter where the working directory was deleted meanwhile
        return str(path)
