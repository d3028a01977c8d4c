"""A run that is killed at any moment can be cleaned: what it starts on a node was in its record before."""

from __future__ import annotations

import pytest

from healthcheck.errors import InputError
from healthcheck.model.command import Command
from healthcheck.model.host import Host
from healthcheck.ports import Running, Sink
from healthcheck.simulator.transport import SimTransport
from tests.walk.cli import Shell


@pytest.mark.parametrize("words", [("run",), ("gate",), ("run", "--fault", "leaf:l1-l2=0.5", "--leaf-size", "2")])
def test_all_that_is_started_on_a_node_can_be_found_by_the_record_of_then(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    whole = SimTransport.start
    started: list[str] = []

    def noted(self: SimTransport, host: Host, command: Command, sink: Sink) -> Running:
        try:
            record = shell.record()
        except (OSError, InputError):
            started.append("without a record")
        else:
            known = host.name in {one.name for one in record.inventory} and record.owner.token in command.token
            started.append("known" if known and record.state == "incomplete" else f"unknown: {command.token}")
        return whole(self, host, command, sink)

    monkeypatch.setattr(SimTransport, "start", noted)
    shell(*words, "--simulate", "4", "-q")
    assert len(started) > 8 and set(started) == {"known"}
