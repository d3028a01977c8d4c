"""Who hears of a run besides whoever started it: the options of run, gate, localise and probe, and the end of a run."""

from __future__ import annotations

import contextlib
import errno
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from healthcheck.cli.exits import lacking, say
from healthcheck.edge.metrics_file import check_metrics_file, write_metrics
from healthcheck.edge.notify_addresses import read_addresses
from healthcheck.edge.places import is_file
from healthcheck.edge.store import RECORD
from healthcheck.errors import HealthcheckError, InputError
from healthcheck.model.alert import Alert, NotifyOn
from healthcheck.model.message import Message
from healthcheck.model.message import say as message
from healthcheck.model.record import RunRecord

if TYPE_CHECKING:
    from healthcheck.model.history import PastRun
    from healthcheck.ports import Notifier


NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO})
"""A disk that is full, or that the kernel gave up on."""
OF_A_BUDGET = 0.05
"""How much of the budget of a gate an alert may take on top."""


class Told(Struct, frozen=True):
    """Who is told, when, and where the metrics go. None of it is kept with the run: addresses are secrets."""

    notifier: Notifier | None
    when: NotifyOn
    metrics_file: Path | None


def told_of(notify: list[str] | None, notify_on: str, metrics_file: Path | None) -> Told:
    """The wishes as values; InputError for the first that is wrong."""
    try:
        when = NotifyOn(notify_on)
    except ValueError:
        # Not repeated: an address may have been typed here by mistake.
        raise InputError("--notify-on", f"must be one of {', '.join(NotifyOn)}") from None
    if metrics_file is not None:
        check_metrics_file(metrics_file)
    addresses = read_addresses(notify or (), os.environ)
    if not addresses:
        return Told(None, when, metrics_file)
    from healthcheck.edge.notify import AppriseNotifier

    return Told(AppriseNotifier(addresses), when, metrics_file)


def tell(told: Told, record: RunRecord, folder: Path, quiet: bool) -> None:
    """Write the metrics and send what is due. What fails is a note on stderr, also where it is to be quiet: nobody
    else would say so."""
    _tell_metrics(told, record, quiet)
    if told.notifier is None:
        return
    from healthcheck.evaluation.alert_due import INTERRUPTED_BY_HAND, is_due
    from healthcheck.reporting.alert import alert_of

    before = _before(record, folder)
    if is_due(told.when, record, before):
        alert = alert_of(record, str(folder.absolute() / "report.html"), before)
        _send(told.notifier, alert, _limit_s(record), quiet)
    elif not quiet and record.exit_code == INTERRUPTED_BY_HAND:
        _note(message("notify.not_due_stopped"))
    elif not quiet:
        code = (
            "notify.not_due" if before is not None and before.verdict == record.verdict.name else "notify.not_due_first"
        )
        _note(message(code, verdict=record.verdict.name, when=told.when.value))


def tell_lost(told: Told, record: RunRecord, folder: Path, problem: str, quiet: bool) -> None:
    """The same for a run whose results folder failed on the way; whatever it was to be told of, this is told."""
    _tell_metrics(told, record, quiet)
    if told.notifier is not None:
        from healthcheck.reporting.alert import alert_of_lost

        alert = alert_of_lost(record, problem, str(folder.absolute()), kept=is_file(folder / RECORD))
        _send(told.notifier, alert, _limit_s(record), quiet)


def tell_not_begun(told: Told, error: InputError, quiet: bool) -> None:
    """Where the disk has no room for a run to begin, nobody may sit there to read the error."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, OSError):
        cause = cause.__cause__
    if told.notifier is not None and cause is not None and cause.errno in NO_ROOM:
        from healthcheck.edge.notify import LIMIT_S
        from healthcheck.reporting.alert import alert_of_none

        _send(told.notifier, alert_of_none(str(error), socket.gethostname()), LIMIT_S, quiet)


@contextlib.contextmanager
def told_if_broken(told: Told | None, folder: Path | None, quiet: bool) -> Iterator[None]:
    """Whatever is wrong with healthcheck in the block is told of, too: who hears nothing takes it for a PASS. Of the
    error itself nothing is said, which may hold anything, and no failing alert hides it."""
    try:
        yield
    except HealthcheckError:
        raise
    except Exception as error:
        if told is not None and told.notifier is not None:
            with contextlib.suppress(Exception):
                _send_broken(told.notifier, lacking(error), folder, quiet)
        raise


def _send_broken(notifier: Notifier, lacked: str | None, folder: Path | None, quiet: bool) -> None:
    from healthcheck.edge.notify import LIMIT_S
    from healthcheck.reporting.alert import alert_of_broken

    kept = "" if folder is None else str(folder.absolute())
    _send(notifier, alert_of_broken(lacked, socket.gethostname(), kept), LIMIT_S, quiet)


def _tell_metrics(told: Told, record: RunRecord, quiet: bool) -> None:
    if told.metrics_file is not None:
        problem = write_metrics(record, told.metrics_file)
        if problem is not None:
            _note(problem)
        elif not quiet:
            _note(message("notify.metrics", file=str(told.metrics_file)))


def _send(notifier: Notifier, alert: Alert, limit_s: float, quiet: bool) -> None:
    for delivery in notifier.send(alert, limit_s):
        place, service, problem = delivery.place, delivery.service, delivery.problem
        if problem is not None:
            _note(message("notify.lost", place=place, service=service, problem=problem))
        elif not quiet:
            _note(message("notify.sent", place=place, service=service))


def _limit_s(record: RunRecord) -> float:
    """A job waits for a gate, which promises to end with its budget."""
    from healthcheck.edge.notify import LIMIT_S

    return LIMIT_S if record.gate is None else min(LIMIT_S, OF_A_BUDGET * record.gate.asked.budget_s)


def _before(record: RunRecord, folder: Path) -> PastRun | None:
    """The run this one's verdict is held against; a past that cannot be read is none."""
    from healthcheck.edge.history_index import DirectoryIndex
    from healthcheck.evaluation.alert_due import last_alike

    try:
        return last_alike(record, DirectoryIndex(folder.parent).past().runs)
    except (HealthcheckError, OSError, ValueError):
        return None


def _note(what: Message) -> None:
    say(str(message("cli.note", what=what)))
