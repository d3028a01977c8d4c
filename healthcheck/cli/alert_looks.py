"""What `healthcheck doctor` says of the addresses of alerts: can they be used and, asked to send, do they take one."""

from __future__ import annotations

import os
import socket

from healthcheck.cli.examine import Look
from healthcheck.edge.notify_addresses import OPTION, VARIABLE, read_addresses
from healthcheck.errors import InputError
from healthcheck.model.alert import Alert
from healthcheck.model.message import say
from healthcheck.model.verdict import Verdict
from healthcheck.reporting.markdown import escaped

TEST_TITLE = "healthcheck: test message"


def alert_looks(notify: list[str] | None, send: bool) -> tuple[Look, ...]:
    """Nothing where no address is given. With `send` a message goes out to each, else none."""
    if not notify and VARIABLE not in os.environ:
        if send:
            raise InputError("--send", f"needs an address, from {OPTION} or from {VARIABLE}")
        return ()
    try:
        addresses = read_addresses(notify or (), os.environ)
        if not addresses:
            return ()
        from healthcheck.edge.notify import AppriseNotifier

        notifier = AppriseNotifier(addresses)
    except InputError as error:
        return (Look("notify", False, say("doctor.input", problem=str(error))),)
    if not send:
        services = ", ".join(notifier.names)
        return (Look("notify", True, say("notify.parses", n=len(addresses), services=services)),)
    text = str(say("notify.test", machine=socket.gethostname()))
    looks = []
    for told in notifier.send(Alert(TEST_TITLE, text, escaped(text), Verdict.SKIPPED)):
        place, service, problem = told.place, told.service, told.problem
        if problem is None:
            looks.append(Look("notify", True, say("notify.delivered", place=place, service=service)))
        else:
            looks.append(Look("notify", False, say("notify.test_lost", place=place, service=service, problem=problem)))
    return tuple(looks)
