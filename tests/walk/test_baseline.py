"""From healthy runs to a baseline to a verdict, and the past that a run finds by itself, through the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from healthcheck.model.finding import CheckResult, RuleResult
from healthcheck.model.verdict import Verdict
from healthcheck.parsing.baseline import parse_baseline
from tests.walk.cli import Said, Shell

PLAYBOOK = """
name: short
stages:
  - {name: probe}
  - {name: single_node, sizes: {min: 1G, max: 2G}, iterations: 5}
"""
# 7 % less than it was: above 70 % of peak, and above 90 % of what machines of this kind read.
SLOWER = ("--fault", "node03:nvlink=0.93")
SLOW_FABRIC = ("--leaf-size", "2", "--fault", "leaf:l1-l2=0.93")


@pytest.fixture
def measure(shell: Shell) -> Shell:
    """A shell with a short playbook at hand."""
    Path("short.yaml").write_text(PLAYBOOK)
    return shell


def run(shell: Shell, *words: str, playbook: str = "short.yaml") -> Said:
    return shell("run", playbook, "--simulate", "4", "-q", *words)


def healthy(shell: Shell, *words: str, n: int = 3) -> list[str]:
    """The run ids of `n` runs that PASS."""
    for _ in range(n):
        assert run(shell, "--no-history", *words).code == 0
    return [folder.name for folder in shell.folders()]


def bandwidth(shell: Shell, host: str) -> CheckResult:
    return next(
        check
        for check in shell.record().checks
        if check.check == "bandwidth.busbw" and str(check.component) == host and check.stage == "single_node"
    )


def history(shell: Shell, host: str) -> RuleResult:
    return next(rule for rule in bandwidth(shell, host).rules if rule.rule == "history")


def notes(shell: Shell) -> list[str]:
    return [str(note) for note in shell.record().notes if note.code.startswith("baseline.")]


def test_healthy_runs_make_a_baseline_that_finds_who_got_worse(measure: Shell) -> None:
    ids = healthy(measure)
    said = measure("baseline", *ids, "-o", "fleet.json")
    assert said.code == 0
    assert said.out == "wrote fleet.json, SIMULATED: 16 medians of 4 nodes from 3 runs on a100-sxm4-8gpu-8x200\n"
    assert "widest spread: " in said.err
    assert Path("fleet.json").stat().st_mode & 0o777 == 0o600
    assert run(measure, "--baseline", "fleet.json").code == 0
    assert history(measure, "node03").verdict is Verdict.PASS
    run(measure, "--baseline", "fleet.json", *SLOWER)
    found = history(measure, "node03")
    assert found.verdict is Verdict.DEGRADED
    assert str(found.message).endswith("(baseline fleet.json)")
    assert bandwidth(measure, "node03").verdict is Verdict.DEGRADED
    assert history(measure, "node02").verdict is Verdict.PASS


def test_a_run_remembers_what_its_nodes_used_to_read(measure: Shell) -> None:
    healthy(measure)
    run(measure, *SLOWER)
    found = history(measure, "node03")
    assert found.verdict is Verdict.DEGRADED
    assert str(found.message).endswith("(history of 3 runs)")
    kept = (measure.folders()[-1] / "inputs" / "baseline.json").read_text()
    assert len(parse_baseline(kept, "kept").runs) == 3


def test_the_past_can_be_left_alone(measure: Shell) -> None:
    healthy(measure)
    run(measure, "--no-history", *SLOWER)
    assert history(measure, "node03").verdict is Verdict.SKIPPED
    assert not (measure.folders()[-1] / "inputs" / "baseline.json").exists()


def test_another_seed_is_another_fleet(measure: Shell) -> None:
    ids = healthy(measure)
    run(measure, "--seed", "7")
    assert history(measure, "node03").verdict is Verdict.SKIPPED
    other = measure.folders()[-1].name
    said = measure("baseline", *ids, other)
    assert said.code == 2
    assert said.err == f"error: {other}: has seed 7 and {ids[0]} has 0: another seed simulates other machines\n"


def test_a_file_remembers_which_fleet_was_simulated(measure: Shell) -> None:
    ids = healthy(measure, "--seed", "3")
    assert measure("baseline", *ids).code == 0
    assert parse_baseline(Path("baseline.json").read_text(), "file").fleet == "seed 3"
    assert run(measure, "--seed", "3", "--baseline", "baseline.json").code == 0
    n = len(measure.folders())
    said = run(measure, "--baseline", "baseline.json")
    assert (said.code, len(measure.folders())) == (2, n)
    assert "baseline.json was made of seed 3 and these nodes are seed 0: another seed simulates other" in said.err
    run(measure, "--no-history")
    other = measure.folders()[-1].name
    assert measure("rejudge", other, "--baseline", "baseline.json").code == 2


def test_the_same_machines_measured_again_read_something_else(measure: Shell) -> None:
    """Without it every simulated run of one seed has the same numbers, and no spread can be rehearsed."""
    for month in ("1", "2", "3"):
        assert run(measure, "--no-history", "--run-seed", month).code == 0
    said = measure("baseline", "reports", "--json")
    assert said.code == 0
    assert max(each["spread_gbyte_s"] for each in json.loads(said.out)["widest"]) > 0
    assert parse_baseline(Path("baseline.json").read_text(), "file").fleet == "seed 0"
    assert run(measure, "--run-seed", "4", "--baseline", "baseline.json").code == 0
    refused = measure("run", "-H", "node01", "--run-seed", "4")
    assert refused.code == 2 and "--run-seed: chooses the noise of a simulated cluster" in refused.err


def test_a_run_with_a_planted_fault_is_no_past(measure: Shell) -> None:
    """Its other nodes are as healthy as ever; but who planted a fault plays, and the next one plays something else."""
    healthy(measure, n=2)
    run(measure, "--fault", "node01:busy")
    run(measure)
    assert history(measure, "node03").verdict is Verdict.SKIPPED


def test_other_settings_are_no_past(measure: Shell) -> None:
    healthy(measure)
    Path("ring.yaml").write_text(PLAYBOOK.replace("name: short", "name: ring\nenv: {NCCL_ALGO: Ring}"))
    assert run(measure, playbook="ring.yaml").code == 0
    assert history(measure, "node03").verdict is Verdict.SKIPPED
    Path("loud.yaml").write_text(PLAYBOOK.replace("name: short", "name: loud\nenv: {NCCL_DEBUG: INFO}"))
    run(measure, playbook="loud.yaml")
    assert history(measure, "node03").verdict is Verdict.PASS


@pytest.mark.parametrize("damage", ["index", "record", "both"])
def test_a_damaged_past_stops_no_run(measure: Shell, damage: str) -> None:
    ids = healthy(measure, n=4)
    run(measure)  # makes the index
    if damage != "record":
        for index in measure.results.glob("history*"):
            index.write_bytes(index.read_bytes()[:200] + b"\x00\xff{")
    if damage != "index":
        record = measure.results / ids[0] / "record.json"
        record.write_bytes(record.read_bytes()[:1000])
    assert run(measure).code == 0
    assert history(measure, "node03").verdict is Verdict.PASS
    told = [note for note in notes(measure) if "cannot be read" in note]
    assert len(told) == (damage != "index")


def test_a_playbook_names_a_baseline_beside_itself_and_the_option_wins(measure: Shell, tmp_path: Path) -> None:
    ids = healthy(measure)
    mine = tmp_path / "mine"
    mine.mkdir()
    assert measure("baseline", *ids, "-o", "mine/usual.json").code == 0
    (mine / "book.yaml").write_text(PLAYBOOK.replace("name: short", "name: short\nbaseline: usual.json"))
    assert run(measure, playbook="mine/book.yaml").code == 0
    assert str(history(measure, "node03").message).endswith("(baseline mine/usual.json)")
    (mine / "usual.json").rename("other.json")
    assert run(measure, "--baseline", "other.json", playbook="mine/book.yaml").code == 0
    assert str(history(measure, "node03").message).endswith("(baseline other.json)")
    said = run(measure, playbook="mine/book.yaml")
    assert (said.code, said.err) == (2, "error: mine/usual.json: there is no such file\n")


def test_a_resumed_run_needs_the_file_no_more(measure: Shell) -> None:
    """What it is judged by lies in its own folder."""
    ids = healthy(measure)
    assert measure("baseline", *ids, "-o", "fleet.json").code == 0
    run(measure, "--baseline", "fleet.json", *SLOWER)
    before = bandwidth(measure, "node03")
    Path("fleet.json").unlink()
    folder = measure.folders()[-1]
    record = json.loads((folder / "record.json").read_text())
    record.update(state="interrupted", exit_code=130)
    (folder / "record.json").write_text(json.dumps(record))
    measure("run", "--resume", str(folder), "-q")
    assert bandwidth(measure, "node03") == before


def test_nodes_that_a_baseline_does_not_know_are_named(measure: Shell) -> None:
    ids = healthy(measure)
    assert measure("baseline", *ids).code == 0
    said = measure("run", "short.yaml", "--simulate", "6", "-q", "--baseline", "baseline.json")
    assert said.code == 0
    assert notes(measure) == ["baseline baseline.json says nothing of node[05-06]: these nodes are not held against it"]


def test_a_playbook_for_real_machines_can_be_rehearsed(measure: Shell) -> None:
    ids = healthy(measure)
    assert measure("baseline", *ids).code == 0
    real = Path("baseline.json").read_text().replace('"simulated": true', '"simulated": false')
    Path("real.json").write_text(real)
    Path("book.yaml").write_text(PLAYBOOK.replace("name: short", "name: short\nbaseline: real.json"))
    run(measure, *SLOWER, playbook="book.yaml")
    assert history(measure, "node03").verdict is Verdict.SKIPPED
    assert notes(measure) == [
        "baseline real.json is of real machines and these are simulated: nothing is held against it"
    ]


def test_a_baseline_of_another_machine_type_found_late_is_noted_and_not_asked(measure: Shell) -> None:
    ids = healthy(measure)
    assert measure("baseline", *ids).code == 0
    other = Path("baseline.json").read_text().replace("a100-sxm4-8gpu-8x200", "h100-sxm5-8gpu-8x400")
    Path("h100.json").write_text(other)
    run(measure, "--baseline", "h100.json", *SLOWER)
    assert history(measure, "node03").verdict is Verdict.SKIPPED
    made_of = "baseline h100.json was made of h100-sxm5-8gpu-8x400 and these nodes are a100-sxm4-8gpu-8x200"
    assert notes(measure) == [f"{made_of}: nothing is held against it"]


def test_what_a_baseline_cannot_speak_of_is_refused_before_anything_is_touched(measure: Shell) -> None:
    ids = healthy(measure)
    assert measure("baseline", *ids).code == 0
    real = Path("baseline.json").read_text().replace('"simulated": true', '"simulated": false')
    Path("real.json").write_text(real)
    n = len(measure.folders())
    for words, says in (
        (
            ("-H", "node[01-04]", "--baseline", "baseline.json"),
            "baseline.json is of simulated machines and these are real",
        ),
        (("--simulate", "4", "--baseline", "real.json"), "real.json is of real machines and these are simulated"),
        (
            ("-H", "gpu[01-04]", "--baseline", "real.json"),
            "real.json says nothing of any of these nodes; it knows 4 such",
        ),
        (
            ("--simulate", "4", "--platform", "a100-sxm4-8gpu-4x200", "--baseline", "baseline.json"),
            "baseline.json was made of a100-sxm4-8gpu-8x200 and these nodes are judged as a100-sxm4-8gpu-4x200",
        ),
    ):
        said = measure("run", "short.yaml", *words)
        assert said.code == 2
        assert said.err.startswith(f"error: --baseline: {says}")
    assert len(measure.folders()) == n


def test_runs_are_named_by_id_by_folder_or_all_at_once(measure: Shell, tmp_path: Path) -> None:
    ids = healthy(measure)
    by_folder = [str(measure.results / run_id) for run_id in ids]
    for words in (ids, by_folder, ["reports"], [f"{folder}/record.json" for folder in by_folder]):
        said = measure("baseline", *words, "--json")
        summary = json.loads(said.out)
        assert (said.code, sorted(summary["runs"]), summary["medians"]) == (0, sorted(ids), 16)
        assert summary["hosts"] == ["node01", "node02", "node03", "node04"]
    said = measure("baseline", *ids, "reports")
    assert (said.code, said.err) == (
        2,
        f"error: {min(ids)}: is given twice; a run counts once, so name each only once\n",
    )
    assert measure("baseline", str(tmp_path / "gone")).code == 2


def test_a_sick_run_is_no_baseline(measure: Shell) -> None:
    healthy(measure, n=2)
    run(measure, "--fault", "node02:nvlink=0.5")
    Path("kept.json").write_text("as it was")
    said = measure("baseline", "reports", "-o", "kept.json")
    assert said.code == 2
    sick = measure.folders()[-1].name
    assert (
        said.err == f"error: {sick}: is not healthy: its verdict is FAIL and node02 was not PASS; leave the run out\n"
    )
    assert Path("kept.json").read_text() == "as it was"


@pytest.mark.parametrize("place", ["reports", "no/such/folder/base.json"])
def test_a_place_that_cannot_be_written_is_one_sentence(measure: Shell, place: str) -> None:
    healthy(measure)
    said = measure("baseline", "reports", "-o", place)
    assert said.code == 2
    assert said.err.startswith("error: -o: ")
    assert said.err.count("\n") == 1


def test_the_plan_and_doctor_read_it_too(measure: Shell) -> None:
    healthy(measure)
    assert measure("baseline", "reports").code == 0
    said = measure("plan", "short.yaml", "--simulate", "6", "--baseline", "baseline.json")
    assert "baseline baseline.json: 3 runs on a100-sxm4-8gpu-8x200" in said.out
    assert "it covers 4 of 6 nodes" in said.out
    document = measure("plan", "short.yaml", "--simulate", "6", "--baseline", "baseline.json", "--json").out
    assert json.loads(document)["baseline"]["hosts_covered"] == 4
    Path("broken.json").write_text("{")
    checks = json.loads(measure("doctor", "--baseline", "broken.json", "--json").out)["checks"]
    told = next(check for check in checks if check["check"] == "baseline")
    assert told["ok"] is False
    assert told["message_en"].startswith("broken.json:1: is cut off or not JSON")


def test_a_search_holds_all_nodes_against_the_file_too(measure: Shell) -> None:
    """7 % less of everybody together is above 70 % of peak and above 90 % of what machines of this kind read."""
    Path("together.yaml").write_text(
        f"{PLAYBOOK}  - {{name: multi_node, sizes: {{min: 1G, max: 2G}}, iterations: 5}}\n"
    )
    for _ in range(3):
        assert run(measure, "--no-history", playbook="together.yaml").code == 0
    assert measure("baseline", "reports").code == 0
    search = ("localise", "--playbook", "together.yaml", "--simulate", "4", "-q")
    assert measure(*search, "--baseline", "baseline.json").code == 0
    assert measure(*search, *SLOW_FABRIC).code == 0
    assert measure(*search, *SLOW_FABRIC, "--baseline", "baseline.json").code == 4
    fabric = next(check for check in measure.record().checks if check.stage == "multi_node" and check.rules)
    assert fabric.rule == "history.worse"


@pytest.mark.parametrize("command", ["run", "localise"])
def test_a_run_that_goes_on_is_held_against_nothing_new(measure: Shell, command: str) -> None:
    healthy(measure)
    assert measure("baseline", "reports").code == 0
    folder = measure.folders()[-1]
    record = json.loads((folder / "record.json").read_text())
    record.update(state="interrupted", exit_code=130)
    (folder / "record.json").write_text(json.dumps(record))
    said = measure(command, "--resume", str(folder), "--baseline", "baseline.json")
    assert said.code == 2
    assert f"healthcheck rejudge {folder} --baseline baseline.json" in said.err
    assert json.loads((folder / "record.json").read_text()) == record
