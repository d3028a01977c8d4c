"""Whatever happened in a check-up, judged again from its raw output it comes out the same, at every moment of it."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from healthcheck.edge.clock import SystemClock
from healthcheck.edge.store import DirectoryStore
from healthcheck.model.playbook import Playbook, Stage
from healthcheck.model.record import RunRecord
from healthcheck.model.units import Seconds
from healthcheck.parsing.record_codec import encode_record
from healthcheck.workflows.rejudge import StoredRun, as_asked, rejudge
from tests.property.checkups import PLATFORM, CheckUp, Turn, run
from tests.property.test_no_check_up_lies import SWEEP, check_ups


class JudgedAgain(DirectoryStore):
    """A store that judges again what was measured so far, whenever a record is written."""

    def save_record(self, record: RunRecord) -> None:
        super().save_record(record)
        circumstances = self.circumstances()
        assert circumstances is not None
        stored = StoredRun(self.load_record(), circumstances)
        request = as_asked(stored, "test", {PLATFORM.name: PLATFORM}, None)
        again = rejudge(stored, request, DirectoryStore(self.folder, SystemClock())).record
        assert encode_record(again).decode().splitlines() == encode_record(record).decode().splitlines()


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(check_ups())
def test_a_check_up_judged_again_is_the_same(asked: CheckUp) -> None:
    with tempfile.TemporaryDirectory() as folder:
        run(asked, Path(folder), JudgedAgain)


FAULTS = ("node03:hca=mlx5_2,rate=0.5", "node02:hang", "node04:nvlink=0.6", "link:node01-node02=0.4", "node03:corrupt")


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(st.sampled_from(FAULTS), unique=True, max_size=2),
    st.sampled_from((None, Turn("node05", 4, "busy"), Turn("node06", 5, "unreachable"))),
    st.sampled_from(((), (18,), (22,), (25,))),
)
def test_a_search_judged_again_is_the_same(faults: list[str], turn: Turn | None, interrupts: tuple[int, ...]) -> None:
    stages = (
        Stage("probe"),
        Stage("single_node", sizes=SWEEP, stall=Seconds(30), on_fail="continue"),
        Stage("multi_node", sizes=SWEEP, stall=Seconds(30)),
        Stage("localise", when="not_pass"),
    )
    asked = CheckUp(6, Playbook("drawn", stages), tuple(faults), (turn,) if turn else (), interrupts=interrupts)
    with tempfile.TemporaryDirectory() as folder:
        run(asked, Path(folder), JudgedAgain)
