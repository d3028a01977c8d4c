"""Two runs of which one did not tell a setting: nobody knows whether that changed."""

from __future__ import annotations

from msgspec.structs import replace

from healthcheck.evaluation.comparison import compare
from healthcheck.model.fleet import FleetSetting, FleetValue
from healthcheck.parsing.nodeset import fold
from tests.unit.evaluation.two_runs import names, run


def test_a_setting_that_one_run_did_not_tell_is_listed_and_not_weighed() -> None:
    hosts = names(8)
    fast, slow = run(hosts, seed=1), run(hosts, seed=2, speed=dict.fromkeys(hosts, 0.9))
    (driver,) = fast.fleet
    alone, both = (driver,), (driver, replace(driver, name="kernel"))
    for fleets in ((alone, both), (both, alone)):
        found = compare(*(replace(side, fleet=fleet) for side, fleet in zip((fast, slow), fleets, strict=True)))
        (kernel,) = [change for change in found.changes if change.name == "kernel"]
        assert "(not told)" in (kernel.before, kernel.after)
        assert (kernel.changed, str(kernel.hint)) == (0, "cannot be compared: one of the runs did not tell it")


def test_a_node_that_did_not_tell_is_not_one_without_the_change() -> None:
    hosts = names(8)
    before = run(hosts, seed=1)
    (driver,) = before.fleet
    kernel = replace(driver, name="kernel")
    after = run(hosts, seed=2, speed=dict.fromkeys(hosts[:3], 0.8))
    told = (FleetValue("570.124.06", fold(hosts[:2]), 2), FleetValue("550.90.07", fold(hosts[3:]), 5))
    found = compare(
        replace(before, fleet=(driver, kernel)), replace(after, fleet=(FleetSetting("driver", told), kernel))
    )
    hints = {change.after: str(change.hint) for change in found.changes}
    assert hints["570.124.06"] == "consistent with it: 2 of 2 with it are worse, 0 of 5 without it"
    assert hints["(not told)"].startswith("cannot be compared")
