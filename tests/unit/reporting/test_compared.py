"""What a comparison looks like on a terminal, on stdout and in JSON."""

from __future__ import annotations

import json
import re
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from healthcheck.evaluation.comparison import compare
from healthcheck.model.comparison import Comparison
from healthcheck.model.digest import DigestMessage, RunDigest
from healthcheck.model.fleet import FleetSetting, FleetValue
from healthcheck.reporting.compared import compared_line, compared_lines, document
from healthcheck.reporting.compared_html import render_comparison
from healthcheck.reporting.compared_view import percent
from tests.unit.evaluation.two_runs import names, run, without_numbers

PAGE = Path(__file__).parents[3] / "docs" / "howto" / "compare.md"
NASTY = "550\x1b[31m<b>\u202e"


def simulated(of: RunDigest) -> RunDigest:
    return replace(of, simulated=True)


def example() -> Comparison:
    """Half of the nodes got a new driver; two of those lost 6 and 4 %, and one node does not answer any more."""
    hosts = names(16)
    gone = hosts[12]
    after = run(
        hosts,
        seed=2,
        speed={hosts[2]: 0.94, hosts[4]: 0.96},
        driver=dict.fromkeys(hosts[:8], "570.124.06"),
    )
    after = without_numbers(after, gone, "INCONCLUSIVE", "no answer on port 22: Connection refused")
    together = replace(after.jobs[-1], hosts=tuple(host for host in hosts if host != gone), n_ranks=120)
    after = replace(after, verdict="INCONCLUSIVE", jobs=(*after.jobs[:-1], together))
    return compare(simulated(run(hosts, seed=1)), simulated(after))


def test_the_example_of_the_documentation_is_what_the_code_prints() -> None:
    page = PAGE.read_text()
    assert "\n".join(compared_lines(example(), 96)) in page
    assert compared_line(example()) in page


def test_the_first_word_and_the_numbers_of_the_line() -> None:
    hosts = names(64)
    line = compared_line(compare(run(hosts, seed=1), run(hosts, seed=2, speed=dict.fromkeys(hosts[:3], 0.9))))
    assert re.match(r"WORSE 3 of 64 nodes, fleet -?\+?0\.\d % \(noise 0\.\d %\), between nodes ", line)
    same = compared_line(compare(run(hosts, seed=1), run(hosts, seed=2)))
    assert same.startswith("SAME 64 nodes, fleet ")


@pytest.mark.parametrize(("value", "text"), [(-3.04, "-3.0 %"), (0.42, "+0.4 %"), (-0.02, "0.0 %"), (0.02, "0.0 %")])
def test_a_change_has_a_sign_and_zero_has_none(value: float, text: str) -> None:
    assert percent(value) == text


@pytest.mark.parametrize("width", [96, 80, 60, 40])
def test_nothing_is_wider_than_the_terminal(width: int) -> None:
    assert max(map(len, compared_lines(example(), width))) <= width


def test_many_that_moved_are_folded() -> None:
    hosts = names(512)
    found = compare(run(hosts, seed=1), run(hosts, seed=2, speed=dict.fromkeys(hosts[:200], 0.9)))
    lines = compared_lines(found, 96)
    assert len(lines) < 60
    assert any("and 192 more, single_node all_reduce" in line for line in lines)


def nasty() -> Comparison:
    hosts = (*names(5), NASTY)
    after = run(hosts, seed=2, speed={NASTY: 0.8})
    after = replace(
        after,
        fleet=(FleetSetting("driver", (FleetValue(NASTY, "node0001", 1),)),),
        hosts=(*after.hosts[:5], replace(after.hosts[5], verdict="FAIL", reasons=(DigestMessage("x", NASTY),))),
    )
    return compare(run(hosts, seed=1), after)


def test_names_and_versions_are_shown_as_text() -> None:
    for line in (*compared_lines(nasty(), 96), compared_line(nasty())):
        assert "\x1b" not in line and "\u202e" not in line
    assert any("\\x1b[31m<b>" in line for line in compared_lines(nasty(), 96))


def test_on_the_page_names_and_versions_are_text_too_and_nothing_is_fetched() -> None:
    page = render_comparison(nasty())
    assert "<b>\\" not in page and "&lt;b&gt;" in page and "\x1b" not in page
    assert "<script" not in page and "http://" not in page and "https://" not in page
    assert "SIMULATED" in render_comparison(example())
    for one in ("node0003", "570.124.06", "Something got worse.", "16 nodes together before, 15 now"):
        assert one in render_comparison(example())


def test_the_document_holds_everything_and_no_bare_code() -> None:
    found = example()
    whole = json.loads(msgspec.json.encode(document(found)))
    assert whole["schema"] == "healthcheck.compare/1"
    assert (whole["answer"], whole["exit_code"], whole["worse"]) == ("worse", 4, ["node0003", "node0005"])
    assert set(whole) == {"schema", "line", *found.__struct_fields__}
    assert whole["missing"][0]["reason"]["message_en"] == "no answer on port 22: Connection refused"
    assert [group["stage"] for group in whole["groups"]] == ["single_node"]
    assert len(whole["groups"][0]["cells"]) == 6


def test_the_documentation_names_every_key_of_the_document() -> None:
    page = PAGE.read_text()
    whole = json.loads(msgspec.json.encode(document(example())))
    for key in whole:
        assert f"`{key}`" in page
    for part in ("groups", "moved", "missing", "changes", "verdicts"):
        for key in whole[part][0]:
            assert f"`{key}`" in page, f"{part}: {key}"
