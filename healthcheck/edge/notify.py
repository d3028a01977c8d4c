"""Alerts through apprise, which is optional (`pip install 'healthcheck[notify]'`) and imported only when asked for.

An address is a secret. What apprise and the libraries below it log, and the texts of their exceptions, may hold it:
both are dropped. All that leaves this file is the name of the service and one of a few reasons of our own.
"""

from __future__ import annotations

import html
import logging
import queue
import re
import threading
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING

from healthcheck.edge.clock import SystemClock
from healthcheck.edge.notify_addresses import Address
from healthcheck.errors import InputError
from healthcheck.model.alert import Alert, Delivery
from healthcheck.model.message import Message, say
from healthcheck.model.verdict import Verdict
from healthcheck.reporting.markdown import escaped

if TYPE_CHECKING:
    from apprise import NotifyBase

LIMIT_S = 10.0
"""Seconds for all addresses together, from the first byte to the last answer."""
INSTALL = "pip install 'healthcheck[notify]'"
_STATUS = re.compile(r"\berror=(\d{3})\.?$")
_LOGGER = "apprise"
_UNREACHABLE = "connection error"
_KINDS = {Verdict.PASS: "success", Verdict.DEGRADED: "warning", Verdict.FAIL: "failure"}


class AppriseNotifier:
    """ports.Notifier for any number of addresses, all told at once."""

    def __init__(self, addresses: Sequence[Address]) -> None:
        """InputError where apprise is not installed, or does not know an address: nothing was sent then."""
        _mute()
        self._services = [_service(address) for address in addresses]

    @property
    def names(self) -> tuple[str, ...]:
        """The services by name, in the order of their addresses."""
        return tuple(map(_name, self._services))

    def send(self, alert: Alert, limit_s: float = LIMIT_S) -> tuple[Delivery, ...]:
        """Tell all of them. Never raises, and takes no longer than the limit: who has not answered then is told of."""
        clock = SystemClock()
        ends_at = clock.monotonic() + limit_s
        answers: queue.SimpleQueue[tuple[int, Message | None]] = queue.SimpleQueue()
        problems: dict[int, Message | None] = {}
        for place, service in enumerate(self._services):
            # A daemon: one that hangs must not keep this process from ending.
            thread = threading.Thread(target=_tell, args=(place, service, alert, answers), daemon=True)
            try:
                thread.start()
            except RuntimeError:
                problems[place] = say("notify.problem.thread")
        late = say("notify.problem.time", seconds=limit_s)
        try:
            while len(problems) < len(self._services):
                place, problem = answers.get(timeout=max(0.0, ends_at - clock.monotonic()))
                problems[place] = problem
        except queue.Empty:
            pass
        except KeyboardInterrupt:
            late = say("notify.problem.stopped")
        return tuple(Delivery(place + 1, name, problems.get(place, late)) for place, name in enumerate(self.names))


class _Heard(logging.Handler):
    """What apprise logged on this thread, as one of our own reasons: of the text three digits are kept at most."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._thread = threading.get_ident()
        self.problem = say("notify.problem.refused")

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the reason, drop the text."""
        if record.thread != self._thread:
            return
        text = record.getMessage()
        found = _STATUS.search(text)
        if found is not None:
            code = "notify.problem.redirect" if found[1].startswith("3") else "notify.problem.status"
            self.problem = say(code, status=int(found[1]))
        elif _UNREACHABLE in text.lower():
            self.problem = say("notify.problem.connection")


def _mute() -> None:
    """Without a handler of its own a library writes its warnings, with the address in them, to stderr."""
    root = logging.getLogger()
    if not any(isinstance(handler, logging.NullHandler) for handler in root.handlers):
        root.addHandler(logging.NullHandler())
    logging.getLogger(_LOGGER).propagate = False
    warnings.simplefilter("ignore")


def _service(address: Address) -> NotifyBase:
    try:
        from apprise import Apprise, AppriseAsset
    except ImportError:
        raise InputError(address.where, f"alerts need apprise, which is not installed: {INSTALL}") from None
    # What is sent to a redirect is a GET without the alert, and would count as delivered.
    asset = AppriseAsset(
        app_id="healthcheck", app_desc="healthcheck", app_url="", async_mode=False, http_redirects=False
    )
    try:
        service = Apprise.instantiate(address.url, asset=asset, suppress_exceptions=True)
    except Exception:  # noqa: BLE001 - whatever a plugin does with a wrong address, its text may hold it
        service = None
    if service is None:
        raise InputError(
            address.where,
            "is no address that apprise knows, or lacks a part of one; it is not repeated here because it may be a "
            "secret (docs/howto/alerts.md shows how each service is spelled)",
        )
    return service


def _name(service: NotifyBase) -> str:
    return str(service.service_name)


def _tell(
    place: int, service: NotifyBase, alert: Alert, answers: queue.SimpleQueue[tuple[int, Message | None]]
) -> None:
    """Tell one of them, on a thread of its own."""
    heard = _Heard()
    logger = logging.getLogger(_LOGGER)
    logger.addHandler(heard)
    try:
        sent = _send(service, alert)
    except Exception:  # noqa: BLE001 - the text of any exception may hold the address
        sent = False
    finally:
        logger.removeHandler(heard)
    answers.put((place, None if sent else heard.problem))


def _send(service: NotifyBase, alert: Alert) -> bool:
    """Not through `Apprise.notify`: its workers are waited for when a process ends, however long they hang."""
    from apprise import NotifyFormat, NotifyType
    from apprise.conversion import convert_between

    spelled = service.resolve_format()
    title, body = alert.title, alert.plain
    if spelled == NotifyFormat.MARKDOWN:
        title, body = escaped(title), alert.markdown
    elif spelled == NotifyFormat.HTML:
        title = html.escape(title)
        body = convert_between(NotifyFormat.MARKDOWN, NotifyFormat.HTML, alert.markdown)  # type: ignore[no-untyped-call]
    if service.title_maxlen > 0:  # it has a field of its own, which is never read as Markdown or HTML
        title = alert.title
    kind = NotifyType(_KINDS.get(alert.verdict, "info"))
    return bool(service.notify(title=title, body=body, notify_type=kind, body_format=spelled))
