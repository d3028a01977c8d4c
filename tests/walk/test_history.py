"""`healthcheck history` over run directories, through the command line."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from benchmarks.fleet import Fleet, make_fleet
from healthcheck.edge.history_index import INDEX
from healthcheck.model.host import Host
from healthcheck.model.record import HostRecord
from healthcheck.parsing.record_codec import encode_record
from tests.golden.records import healthy, sick
from tests.walk.cli import Shell

NODES, RUNS = 12, 24
NEWER = "2026-04-14T02:15:03Z"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Fleet]:
    folder = tmp_path_factory.mktemp("fleet")
    return folder, make_fleet(folder, NODES, RUNS, seed=2)


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the terminal of the tests has."""
    monkeypatch.setenv("COLUMNS", "96")


def section(text: str, title: str) -> str:
    return text.partition(f"\n{title}")[2].partition("\n\n")[0]


def test_the_fleet_is_told_with_what_was_planted(shell: Shell, made: tuple[Path, Fleet]) -> None:
    folder, fleet = made
    said = shell("history", "-o", str(folder))
    assert said.code == 0
    assert "SIMULATED" in said.out and "SIMULATED: no run of a real machine" in said.err
    assert all(run in said.out for run in fleet.runs)
    bad = section(said.out, "Not PASS in their last run")
    assert f"{fleet.worse}: DEGRADED, not PASS since" in bad and fleet.runs[fleet.worse_at] in bad
    assert re.search(rf"vbios \S+ -> \S+ on {fleet.worse}", bad)
    assert fleet.flapping in section(said.out, "Flapping (1)")
    falling = section(said.out, "Losing bandwidth beyond noise")
    assert set(re.findall(r"^  (\S+): single_node", falling, re.MULTILINE)) == set(fleet.fading)
    table = said.out.partition("\n\n")[2]
    changed = table.partition(fleet.runs[fleet.driver_at])[2].splitlines()[1]
    assert re.fullmatch(rf" +driver \S+ -> \S+ on {NODES} nodes", changed)
    assert max(map(len, said.out.splitlines())) <= 96


def test_a_host_is_told_run_by_run(shell: Shell, made: tuple[Path, Fleet]) -> None:
    folder, fleet = made
    said = shell("history", "-o", str(folder), "--host", fleet.worse)
    assert said.code == 0
    lines = said.out.splitlines()
    rows = [line for line in lines if any(line[12:].startswith(run) for run in fleet.runs)]
    assert len(rows) == RUNS
    assert [("DEGRADED" in row and "peak.below_healthy" in row) for row in rows] == [
        place >= fleet.worse_at for place in range(RUNS)
    ]
    (spark,) = (line.strip() for line in lines if set(line.strip()) & set("▁█") and "20" not in line)
    assert len(spark) == RUNS and spark[0] == "█" and spark[-1] == "▁"
    away = shell("history", "-o", str(folder), "--host", fleet.away)
    assert away.code == 0 and f"measured in {RUNS - 2} of {RUNS} runs" in away.out
    assert away.out.count("connect.unreachable") == 2


def test_a_narrow_terminal_without_unicode_gets_narrow_ascii(made: tuple[Path, Fleet]) -> None:
    folder, fleet = made
    environment = {**os.environ, "COLUMNS": "80", "PYTHONIOENCODING": "ascii"}
    for words in ((), ("--host", fleet.fading[0])):
        argv = [sys.executable, "-m", "healthcheck", "history", "-o", str(folder), *words]
        said = subprocess.run(argv, env=environment, check=True, capture_output=True, cwd=Path(__file__).parents[2])
        lines = said.stdout.decode("ascii").splitlines()
        assert max(map(len, lines)) <= 80
        assert any(set(line.strip()) <= set("_.-=+*#@") and len(line.strip()) == RUNS for line in lines)
        assert "\\u" not in said.stdout.decode("ascii")


def test_json_is_one_document(shell: Shell, made: tuple[Path, Fleet]) -> None:
    folder, fleet = made
    document = json.loads(shell("history", "-o", str(folder), "--json").out)
    assert document["schema"] == "healthcheck.history/1" and document["simulated"] is True
    assert [run["run_id"] for run in document["runs"]] == list(fleet.runs)
    assert {one["host"] for one in document["falling"]} == set(fleet.fading)
    one = json.loads(shell("history", "-o", str(folder), "--json", "--host", fleet.worse).out)
    assert one["bad_now"]["run_id"] == fleet.runs[fleet.worse_at]
    assert len(one["runs"]) == RUNS


def test_since_and_stage_and_collective_narrow_it(shell: Shell, made: tuple[Path, Fleet]) -> None:
    folder, fleet = made
    words = ("history", "-o", str(folder), "--json")
    document = json.loads(shell(*words, "--since", "2025-07-01", "--stage", "multi_node").out)
    assert [run["run_id"] for run in document["runs"]] == list(fleet.runs[18:])
    assert {one["stage"] for run in document["runs"] for one in run["medians"]} == {"multi_node"}
    nothing = shell("history", "-o", str(folder), "--collective", "broadcast")
    assert nothing.code == 3 and "nothing was measured in 24 runs" in nothing.err
    later = shell(*words, "--since", "2030-01-01")
    assert later.code == 3 and "no run since 2030-01-01" in later.err and json.loads(later.out)["runs"] == []
    text = shell("history", "-o", str(folder), "--since", "2030-01-01")
    assert (text.code, text.out) == (3, "")


def test_the_page_is_self_contained_and_has_every_number(shell: Shell, made: tuple[Path, Fleet]) -> None:
    folder, fleet = made
    said = shell("history", "-o", str(folder), "--html", "fleet.html")
    assert said.code == 0 and "wrote fleet.html" in said.err
    page = Path("fleet.html").read_text()
    assert page.count("<svg") == 2 and "<script" not in page and "default-src 'none'" in page
    assert not re.search(r"""(?:src|href)=["'](?!#)|url\((?!#)""", page)
    assert "var(--ink2)" in page and "#0101" not in page
    assert all(run in page for run in fleet.runs)
    document = json.loads(shell("history", "-o", str(folder), "--json").out)
    for run in document["runs"]:
        for one in run["medians"]:
            assert f"{one['busbw_gbyte_s']:.1f}" in page
    assert shell("history", "-o", str(folder), "--host", fleet.worse, "--html", "host.html").code == 0
    assert Path("host.html").read_text().count("<svg") == 1


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--host", "node-03"), "names a host 'node-03'; did you mean node03"),
        (("--host", "\x1b[31m<script>"), r"names a host '\x1b[31m<script>'"),
        (("--since", "yesterday"), "--since: 'yesterday' is no day; write it as 2026-03-14"),
        (("--stage", "single"), "there is no stage 'single'; there are single_node, multi_node"),
        (("--collective", "allreduce"), "there is no collective 'allreduce'; there are all_reduce"),
        (("--platform", "gb200"), "no run is of 'gb200'; there are runs of "),
        (("--html", "none/page.html"), "there is no folder none"),
        (("--html", "."), "is a folder; name a file"),
    ],
)
def test_what_nobody_knows_is_one_sentence(
    shell: Shell, made: tuple[Path, Fleet], words: tuple[str, ...], sentence: str
) -> None:
    said = shell("history", "-o", str(made[0]), *words)
    assert said.code == 2
    assert sentence in said.err.splitlines()[-1] and "\x1b" not in said.err


def test_where_no_run_is_there_is_nothing_to_tell(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    said = shell("history", "-o", "empty")
    assert said.code == 3 and said.out == ""
    assert said.err == "no run below empty; a run is a folder with a record.json in it\n"
    fleet = json.loads(shell("history", "-o", "empty", "--json").out)
    assert (fleet["schema"], fleet["runs"]) == ("healthcheck.history/1", [])
    host = json.loads(shell("history", "-o", "empty", "--json", "--host", "node01").out)
    assert (host["host"], host["runs"]) == ("node01", [])


def test_a_folder_that_is_not_there_or_is_a_run_is_bad_input(shell: Shell, tmp_path: Path) -> None:
    said = shell("history", "-o", "nowhere", "--json")
    assert (said.code, said.out) == (2, "") and "-o: there is no folder nowhere" in said.err
    assert not (tmp_path / "nowhere").exists()
    keep(shell, "20260314T021503Z-qhzt", encode_record(healthy()))
    said = shell("history", "-o", "reports/20260314T021503Z-qhzt")
    assert said.code == 2
    assert f"-o: reports/20260314T021503Z-qhzt is one run; name the folder above it, {shell.results}" in said.err


def test_a_trend_is_of_one_machine_type(shell: Shell) -> None:
    """Two types are no trend: the newer run would look like a loss of the older machines."""
    older, newer = "20260314T021503Z-qhzt", "20260414T021503Z-nvwk"
    record = healthy()
    assert record.platform is not None
    keep(shell, older, encode_record(record))
    other = replace(record.platform, name="h100-sxm5-8gpu-8x400")
    keep(shell, newer, encode_record(replace(record, run_id=newer, started_at=NEWER, platform=other)))
    said = shell("history")
    assert said.code == 0 and newer in said.out and older not in said.out
    name = record.platform.name
    assert f"left out: 1 run of other machine types than {other.name}; --platform shows it: {name}" in said.err
    that = json.loads(shell("history", "--platform", name, "--json").out)
    assert ([run["run_id"] for run in that["runs"]], that["platform"]) == ([older], name)
    assert that["left_out_other_types"] == {other.name: 1}


def test_an_interrupted_run_counts_no_node_as_pass(shell: Shell) -> None:
    keep(shell, "20260314T021503Z-qhzt", encode_record(replace(healthy(), state="interrupted")))
    said = shell("history")
    assert "interrupted" in said.out and "/8" not in said.out


def keep(shell: Shell, name: str, data: bytes) -> None:
    folder = shell.results / name
    folder.mkdir(parents=True)
    (folder / "record.json").write_bytes(data)


def test_real_and_simulated_runs_are_never_one_trend(shell: Shell) -> None:
    keep(shell, "20260314T021503Z-qhzt", encode_record(healthy()))
    keep(shell, "20260314T021503Z-mvkd", encode_record(sick()))
    real = shell("history")
    assert real.code == 0 and "1 run of 8 nodes" in real.out and "SIMULATED" not in real.out
    assert real.err == "left out: 1 simulated run; --simulated shows it\n"
    models = shell("history", "--simulated")
    assert models.code == 0 and "SIMULATED" in models.out and "qhzt" not in models.out
    assert "1 run of real machines" in models.err


def keep_simulated(shell: Shell, day: int, seed: int | None, *, names: tuple[str, ...] = ()) -> str:
    """A run of day `day`; its id. `seed` None: behind SSH, where nobody knows. `names`: only these hosts."""
    run_id = f"202603{day:02d}T021503Z-abcd"
    record = replace(sick(), run_id=run_id, started_at=f"2026-03-{day:02d}T02:15:03Z")
    if names:
        record = replace(record, hosts=tuple(host for host in record.hosts if host.name in names))
    keep(shell, run_id, encode_record(record))
    if seed is not None:
        (shell.results / run_id / "inputs").mkdir()
        (shell.results / run_id / "inputs" / "options.json").write_text(json.dumps({"simulate": 8, "seed": seed}))
    return run_id


def told(said: str) -> set[str]:
    return set(re.findall(r"^\S+  (\d{8}T\d{6}Z-\w{4})", said, re.MULTILINE))


def test_simulated_runs_of_two_seeds_are_two_fleets(shell: Shell) -> None:
    """Another seed simulates other machines, and they have the same names."""
    zero = {keep_simulated(shell, day, 0) for day in (1, 2, 4)}
    seven = {keep_simulated(shell, day, 7) for day in (3, 5)}
    newest = shell("history")
    assert told(newest.out) == seven
    assert "left out: 3 simulated runs of other seeds, which are other machines; --seed shows them: 0\n" in newest.err
    assert told(shell("history", "--simulated", "--seed", "0").out) == zero
    document = json.loads(shell("history", "--json").out)
    assert (document["seed"], document["left_out_other_seeds"]) == (7, {"0": 3})


def test_one_host_is_told_of_the_seed_that_names_it(shell: Shell) -> None:
    old = keep_simulated(shell, 1, 0)
    keep_simulated(shell, 2, 7, names=("node01",))
    assert told(shell("history", "--host", "node03").out) == {old}


def test_runs_whose_seed_nobody_can_tell_are_told_by_themselves(shell: Shell) -> None:
    unknown = keep_simulated(shell, 1, None)
    known = keep_simulated(shell, 2, 0)
    said = shell("history")
    assert told(said.out) == {known}
    assert "left out: 1 simulated run of a seed that nobody can tell\n" in said.err
    later = keep_simulated(shell, 3, None)
    assert told(shell("history").out) == {unknown, later}


@pytest.mark.parametrize(
    ("seed", "says"),
    [(0, "no simulated run is of seed 9; there are runs of 0"), (None, "nobody can tell the seed of these runs")],
)
def test_a_seed_that_no_run_has_is_named(shell: Shell, seed: int | None, says: str) -> None:
    keep_simulated(shell, 1, seed)
    said = shell("history", "--seed", "9")
    assert said.code == 2 and said.err.startswith("error: --seed: ") and says in said.err


def test_real_machines_have_no_seed(shell: Shell) -> None:
    keep(shell, "20260314T021503Z-qhzt", encode_record(healthy()))
    said = shell("history", "--seed", "0")
    assert (said.code, said.err) == (2, "error: --seed: real machines have no seed; it goes with --simulated\n")


def test_a_damaged_record_is_named_and_the_others_are_told(shell: Shell) -> None:
    keep(shell, "20260314T021503Z-qhzt", encode_record(healthy()))
    keep(shell, "20260414T021503Z-gone", encode_record(healthy())[:1000])
    said = shell("history")
    assert said.code == 0 and "qhzt" in said.out
    assert "20260414T021503Z-gone/record.json cannot be read as a run record" in said.err


def test_a_host_that_was_never_measured_is_nothing_to_tell(shell: Shell) -> None:
    keep(shell, "20260314T021503Z-mvkd", encode_record(sick()))
    said = shell("history", "--host", "node07")
    assert said.code == 3 and "node07: named in 1 run, never measured, SIMULATED" in said.out
    assert "nothing was measured" in said.err


def test_hostile_names_reach_neither_terminal_nor_page(shell: Shell) -> None:
    evil = '<img src=x onerror="alert(1)">\x1b[31m'
    record = healthy(1)
    job = replace(record.jobs[0], hosts=(evil,))
    record = replace(
        record,
        hosts=(HostRecord(evil, record.hosts[0].verdict), HostRecord("node02", max(record.verdict, sick().verdict))),
        jobs=(job,),
        inventory=(Host(name="node02", address="node02"),),
    )
    keep(shell, "20260314T021503Z-qhzt", encode_record(record))
    for words in ((), ("--host", evil)):
        said = shell("history", "--html", "page.html", *words)
        assert said.code == 0 and "\x1b" not in said.out + said.err
        page = Path("page.html").read_text()
        assert "<img" not in page and "\x1b" not in page


def test_a_run_is_in_the_history_when_it_ends(shell: Shell) -> None:
    assert shell("run", "quick", "--simulate", "3", "-q").code == 0
    run_id = shell.record().run_id
    assert run_id.encode() in (shell.results / INDEX).read_bytes()
    said = shell("history", "--host", "node02")
    assert said.code == 0 and run_id in said.out


def test_a_run_is_none_the_worse_where_the_history_cannot_be_written(shell: Shell) -> None:
    shell.results.mkdir()
    (shell.results / INDEX).mkdir()
    (shell.results / INDEX / "in the way").write_text("")
    said = shell("run", "quick", "--simulate", "3")
    assert said.code == 0
    assert "the index over the runs could not be kept" in said.err
