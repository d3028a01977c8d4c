"""`healthcheck localise`: alone, on an earlier run, as a plan, and with wrong words."""

from __future__ import annotations

import json

import pytest

from tests.walk.cli import Shell

SLOW = ("--simulate", "12", "--fault", "node05:hca=mlx5_2,slow=0.5")


def test_a_search_alone_names_the_slow_card_and_writes_both_lists(shell: Shell) -> None:
    said = shell("localise", *SLOW)
    assert said.code == 1
    assert "11/12 ready" in said.out and "node05/hca:mlx5_2" in said.out
    assert "searching for who slows them, in pairs rail by rail" in said.err
    (folder,) = shell.folders()
    assert "node05" in (folder / "exclude.hosts").read_text()
    assert "node05" not in (folder / "healthy.hosts").read_text()
    page = (folder / "report.md").read_text()
    assert "## Who slowed the fabric" in page and "node05 + node06" in page
    assert "could not be seen" in page


def test_an_earlier_run_is_searched_with_what_it_has_measured(shell: Shell) -> None:
    assert shell("run", "quick", *SLOW).code == 1
    before = shell.record()
    assert before.search is None
    said = shell("localise", "--resume", before.run_id)
    after = shell.record()
    assert said.code == 1 and after.run_id == before.run_id
    assert after.search is not None and after.search.ending == "verified"
    assert after.excluded_hosts == ("node05",)
    slow = next(job for job in after.jobs if job.stage == "multi_node")
    assert slow in before.jobs


def test_a_search_that_ran_out_of_time_goes_on_later(shell: Shell) -> None:
    assert shell("localise", *SLOW, "--budget", "0").code == 1
    assert shell.record().healthy_hosts == ()
    assert shell("localise", "--resume", shell.record().run_id, "--budget", "30m").code == 1
    assert len(shell.record().healthy_hosts) == 11 and len(shell.folders()) == 1


def test_nodes_that_are_fast_together_need_no_search(shell: Shell) -> None:
    said = shell("localise", "--simulate", "8")
    assert said.code == 0 and "8/8 ready" in said.out
    assert shell.record().search is None


def test_the_plan_of_a_search_shows_rounds_and_what_they_take(shell: Shell) -> None:
    said = shell("localise", *SLOW, "--dry-run")
    assert said.code == 0 and not shell.results.exists()
    assert "round 2: 6 pairs" in said.out and "round 3: 6 pairs" in said.out
    assert "node-hours" in said.out
    search = json.loads(shell("plan", "full", "--simulate", "12", "--json").out)["search"]
    assert search["clean"]["rounds"] == 3 and search["worst"]["rounds"] == 15
    assert [len(pairs) for pairs in search["first_rounds"]] == [6, 6]


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--budget", "soon"),
        ("--budget", "30"),
        ("--sensitivity", "0"),
        ("--sensitivity", "95%"),
        ("--sensitivity", "5%%"),
        ("--max-rounds", "0"),
    ],
)
def test_a_wrong_wish_is_refused_before_anything_is_touched(option: str, value: str, shell: Shell) -> None:
    said = shell("localise", *SLOW, option, value)
    assert said.code == 2 and option in said.err
    assert not shell.results.exists()


def test_a_slow_path_that_every_order_crosses_proves_nobody_and_excludes_nobody(shell: Shell) -> None:
    said = shell("run", "full", "--simulate", "8", "--leaf-size", "4", "--fault", "leaf:l1-l2=0.5", "--json", "-q")
    record = json.loads(said.out)
    assert record["findings"][0]["component"] == "path:l1-l2"
    assert record["healthy_hosts"] == record["excluded_hosts"] == []


@pytest.mark.parametrize("nodes", ["9", "10"])
def test_a_small_leaf_behind_a_slow_path_is_not_blamed_for_it(shell: Shell, nodes: str) -> None:
    said = shell("run", "full", "--simulate", nodes, "--leaf-size", "8", "--fault", "leaf:l1-l2=0.5", "--json", "-q")
    record = json.loads(said.out)
    confirmed = [check["component"] for check in record["checks"] if check["rule"] == "slow_node.confirmed"]
    assert confirmed == []
    assert record["excluded_hosts"] == []


def test_two_nodes_cannot_show_which_of_them_is_slow_and_say_so(shell: Shell) -> None:
    said = shell("run", "full", "--simulate", "2", "--fault", "link:node01-node02=0.5", "--json", "-q")
    record = json.loads(said.out)
    assert record["findings"][0]["cause"]["code"] == "cause.slow_pair"
    assert len(record["search"]["rounds"]) == 2
    assert record["excluded_hosts"] == []


@pytest.mark.parametrize("words", [("--fault", "leaf:l1-l2=0.5"), ("--max-rounds", "1"), ("--budget", "0")])
def test_localise_alone_excludes_nobody_for_what_lies_between_or_for_want_of_time(
    shell: Shell, words: tuple[str, ...]
) -> None:
    slow = () if words[0] == "--fault" else ("--fault", "node05:hca=mlx5_2,slow=0.5")
    said = shell("localise", "--simulate", "16", *slow, *words, "--json", "-q")
    record = json.loads(said.out)
    assert record["excluded_hosts"] == record["healthy_hosts"] == []


def test_a_rail_that_dipped_once_is_not_named_beside_the_slow_one(shell: Shell) -> None:
    faults = ("--fault", "node04:hca=mlx5_2,slow=0.65", "--fault", "noise=0.03", "--fault", "dip=0.05")
    said = shell("run", "full", "--simulate", "16", "--seed", "2", *faults, "--json", "-q")
    named = {found["component"] for found in json.loads(said.out)["findings"]}
    assert "node04/hca:mlx5_1" not in named
