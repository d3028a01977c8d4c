"""Short pieces of work on many hosts: what they print is kept, and nobody waits for a hung one after the end."""

from __future__ import annotations

import threading

import pytest

from healthcheck.model.host import Host
from healthcheck.workflows.engine import Cancel
from healthcheck.workflows.fanout import Capture, visit

HOSTS = tuple(Host(f"n{number}", f"n{number}") for number in range(3))


def test_shouting_on_one_stream_does_not_cost_the_other_its_answer() -> None:
    capture = Capture(bound=100)
    for _ in range(50):
        capture.stderr(b"noise " * 10)
    capture.stdout(b"answer")
    assert capture.out == "answer" and len(capture.err) == 100


def test_a_consumer_that_gives_up_does_not_wait_for_a_hung_host() -> None:
    held = threading.Event()
    given_up: list[str] = []

    def work(host: Host) -> str:
        if host.name != "n0" and not held.wait(20):
            given_up.append(host.name)
        return host.name

    with pytest.raises(RuntimeError, match="enough"):
        for _ in visit(HOSTS, work, Cancel(), 3):
            raise RuntimeError("enough")
    waited_for = tuple(given_up)
    held.set()
    assert waited_for == ()
