"""`healthcheck rejudge RUN`: the same record where nothing changed, another where something did, the run untouched."""

from __future__ import annotations

import hashlib
import json
import shutil
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from healthcheck.edge.store import earlier_runs
from healthcheck.model.finding import CheckResult
from healthcheck.model.record import RunRecord
from healthcheck.model.verdict import Verdict
from healthcheck.parsing.record_codec import decode_record
from tests.walk.cli import Said, Shell

FAULTS = ("node01:unreachable", "node02:busy", "node03:corrupt", "node04:driver=535.54.03", "node05:hca=mlx5_2,down")
SEVERAL = tuple(word for fault in FAULTS for word in ("--fault", fault))
CHECK_UPS = {
    "healthy": ("run", "quick", "--simulate", "3"),
    "under load": ("run", "quick", "--simulate", "2", "--job-seconds", "20"),
    "one node": ("run", "quick", "--simulate", "1"),
    "the looks alone": ("probe", "--simulate", "3", "--fault", "node01:gpus=7"),
    "one stage": ("run", "full", "--simulate", "2", "--only", "single_node"),
    "own limits": ("run", "quick", "--simulate", "3", "--fault", "node03:nvlink=0.6", "--healthy", "0.55"),
    "repeats and collectives": ("run", "monthly", "--simulate", "2"),
    "allowed busy": ("run", "quick", "--simulate", "2", "--fault", "node02:busy", "--allow-busy"),
    "search of a node": ("run", "full", "--simulate", "6", "--fault", "node05:intermittent=0.5"),
    "search of a link": ("run", "full", "--simulate", "8", "--fault", "link:node04-node05=0.5"),
    "search alone": ("localise", "--simulate", "6", "--fault", "node05:intermittent=0.5"),
    "several": ("run", "quick", "--simulate", "8", *SEVERAL),
    **{
        fault: ("run", "quick", "--simulate", "3", "--fault", f"node03:{fault}")
        for fault in ("hang", "gdr=off", "socket", "nvlink=0.3")
    },
}


def _run(shell: Shell, *words: str) -> Path:
    shell(*words, "-q")
    return shell.folders()[-1]


def _rejudged(folder: Path) -> RunRecord:
    path = folder / "rejudged" / "record.json"
    return decode_record(path.read_bytes(), str(path))


def _digests(folder: Path) -> dict[str, str]:
    """Every file of a run but those of another judgement."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file() and "rejudged" not in path.parts
    }


@pytest.mark.parametrize("name", CHECK_UPS)
def test_where_nothing_changed_the_same_record_comes_out(shell: Shell, name: str) -> None:
    folder = _run(shell, *CHECK_UPS[name])
    before = _digests(folder)
    said = shell("rejudge", folder.name)
    assert (folder / "rejudged" / "record.json").read_bytes() == (folder / "record.json").read_bytes()
    assert (folder / "rejudged" / "report.html").read_bytes() == (folder / "report.html").read_bytes()
    assert said.code == json.loads((folder / "record.json").read_bytes())["exit_code"]
    assert "nothing has changed" in said.err
    assert _digests(folder) == before


@pytest.fixture
def healthy(shell: Shell) -> Path:
    return _run(shell, "run", "quick", "--simulate", "4", "--job-seconds", "20")


def test_another_machine_type_is_judged_by_its_own_peak(shell: Shell, healthy: Path) -> None:
    said = shell("rejudge", str(healthy), "--platform", "a100-sxm4-8gpu-1x200")
    record = _rejudged(healthy)
    assert said.code == record.exit_code == 3
    assert said.out.startswith("INCONCLUSIVE 0/4 ready")
    (above,) = [check for check in record.checks if check.check == "bandwidth.busbw" and check.stage == "multi_node"]
    assert above.rule == "peak.above" and above.verdict is Verdict.INCONCLUSIVE
    assert "the run: PASS -> INCONCLUSIVE" in said.err
    assert record.platform is not None and record.platform.name == "a100-sxm4-8gpu-1x200"
    assert [str(note) for note in record.notes if note.code == "rejudge.note_with"] == [
        "judged again from stored raw output with the platform a100-sxm4-8gpu-1x200; every result was made anew"
    ]


def test_tighter_limits_say_who_falls_below_them_and_why(shell: Shell, healthy: Path) -> None:
    said = shell("rejudge", str(healthy), "--healthy", "0.95")
    record = _rejudged(healthy)
    assert said.code == 4 and record.verdict is Verdict.DEGRADED
    assert {host.verdict for host in record.hosts} == {Verdict.DEGRADED}
    assert record.healthy_hosts == ()
    assert "node01: PASS -> DEGRADED, because busbw " in said.err
    assert {limit.healthy for limit in record.provenance.limits} == {0.95}
    assert shell("rejudge", str(healthy), "--healthy", "0.95", "--allow-degraded").code == 0
    assert shell("rejudge", str(healthy)).code == 0, "each judgement begins with the run, not with the one before"


def test_a_corrected_file_of_the_platform_is_a_platform_too(shell: Shell, healthy: Path, tmp_path: Path) -> None:
    written = json.loads((healthy / "inputs" / "platform.json").read_text())
    peaks = written["intra_busbw_gbyte_s"]
    written["intra_busbw_gbyte_s"] = {collective: 3 * peak for collective, peak in peaks.items()}
    written["known_good_gbyte_s"] = []  # what was published of the slower machine would contradict the peak
    mine = tmp_path / "mine.json"
    mine.write_text(json.dumps(written))
    assert shell("rejudge", str(healthy), "--platform", str(mine)).code == 1
    assert {host.verdict for host in _rejudged(healthy).hosts} == {Verdict.FAIL}
    assert shell("rejudge", str(healthy), "--platform", "auto").code == 0


def test_with_json_the_new_record_is_printed_and_nothing_else(shell: Shell, healthy: Path) -> None:
    said = shell("rejudge", str(healthy), "--healthy", "0.95", "--json")
    assert said.out.encode() == (healthy / "rejudged" / "record.json").read_bytes()


def test_a_judgement_is_private_replaces_the_last_one_and_is_no_run(shell: Shell, healthy: Path) -> None:
    (healthy / "rejudged").mkdir()
    (healthy / "rejudged" / "old").write_text("from the last time")
    assert shell("rejudge", str(healthy), "--healthy", "0.95").code == 4
    rejudged = healthy / "rejudged"
    assert stat.S_IMODE(rejudged.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in rejudged.iterdir()} == {0o600}
    assert not (rejudged / "old").exists()
    assert [path.name for path in healthy.iterdir() if path.name.startswith(".")] == []
    assert earlier_runs(shell.results) == (healthy,)
    assert shell("report", str(rejudged)).out.startswith("DEGRADED")


def test_a_link_in_its_place_is_replaced_and_not_followed(shell: Shell, healthy: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "mine").write_text("keep")
    (healthy / "rejudged").symlink_to(elsewhere)
    assert shell("rejudge", str(healthy)).code == 0
    assert [path.name for path in elsewhere.iterdir()] == ["mine"]
    assert not (healthy / "rejudged").is_symlink()


def test_the_search_is_as_bad_as_the_job_it_explains_and_left_out_where_there_is_none(shell: Shell) -> None:
    folder = _run(shell, *CHECK_UPS["search of a link"])

    def links(record: RunRecord) -> list[CheckResult]:
        return [check for check in record.checks if check.check == "localise.link"]

    record = decode_record((folder / "record.json").read_bytes(), "record.json")
    assert {check.verdict for check in links(record)} == {Verdict.FAIL}
    assert shell("rejudge", str(folder), "--healthy", "0.9", "--broken", "0.2").code == 4
    softer = _rejudged(folder)
    assert {check.verdict for check in links(softer)} == {Verdict.DEGRADED}
    assert softer.search == record.search


@pytest.fixture
def unsearched(shell: Shell) -> Said:
    folder = _run(shell, *CHECK_UPS["healthy"])
    return shell("rejudge", str(folder), "--healthy", "0.99")


def test_where_nobody_has_searched_it_is_said(unsearched: Said) -> None:
    assert unsearched.code == 4 and "nobody has searched" in unsearched.err


def _delete(path: Path) -> None:
    path.unlink()


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def _empty(path: Path) -> None:
    path.write_bytes(b"")


ALONE = "raw/single_node/single_node.all_reduce.node02"


@pytest.mark.parametrize("damage", [_delete, _cut])
@pytest.mark.parametrize("name", ["stdout", "outcome.json", "nccl/*/*", "under_load"])
def test_what_is_gone_of_a_job_proves_nothing(
    shell: Shell, healthy: Path, name: str, damage: Callable[[Path], None]
) -> None:
    (victim,) = healthy.glob(f"{ALONE}/{name}")
    damage(victim)
    said = shell("rejudge", str(healthy))
    record = _rejudged(healthy)
    by_name = {host.name: host for host in record.hosts}
    assert said.code == 3 and by_name["node02"].verdict is Verdict.INCONCLUSIVE
    assert ALONE in str(by_name["node02"].reasons[0])
    assert {by_name[other].verdict for other in ("node01", "node03", "node04")} == {Verdict.PASS}
    assert "node02" not in record.healthy_hosts
    finding = next(found for found in record.findings if found.component.host == "node02")
    assert finding.cause.code == "cause.raw_gone"


def test_a_job_without_raw_output_is_not_what_its_record_said(shell: Shell, healthy: Path) -> None:
    shutil.rmtree(healthy / "raw" / "multi_node")
    said = shell("rejudge", str(healthy))
    record = _rejudged(healthy)
    (job,) = [job for job in record.jobs if job.stage == "multi_node"]
    assert said.code == 3 and job.verdict is Verdict.INCONCLUSIVE and job.rows == ()
    assert record.healthy_hosts == ()
    assert "multi_node.all_reduce.4nodes" in said.err and "outcome.json cannot be read" in said.err


@pytest.mark.parametrize("damage", [_cut, _empty])
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_node_whose_answer_is_gone_is_not_green(
    shell: Shell, healthy: Path, when: str, damage: Callable[[Path], None]
) -> None:
    damage(healthy / "raw" / "probe" / "node03" / when)
    assert shell("rejudge", str(healthy)).code == 3
    by_name = {host.name: host for host in _rejudged(healthy).hosts}
    assert by_name["node03"].verdict is Verdict.INCONCLUSIVE
    assert any(f"raw/probe/node03/{when}" in str(reason) for reason in by_name["node03"].reasons)


def test_wrong_values_stay_a_failure_in_what_is_left(shell: Shell) -> None:
    folder = _run(shell, "run", "quick", "--simulate", "2", "--fault", "node02:corrupt")
    stdout = folder / "raw" / "single_node" / "single_node.all_reduce.node02" / "stdout"
    stdout.write_bytes(stdout.read_bytes().rpartition(b"# Out of bounds")[0])
    assert shell("rejudge", str(folder)).code == 1


def _without_circumstances(folder: Path) -> None:
    (folder / "raw" / "circumstances.json").unlink()


def _of_another_version(folder: Path) -> None:
    record = json.loads((folder / "record.json").read_text())
    (folder / "record.json").write_text(json.dumps(record | {"schema": "healthcheck.run/0"}))


def _foreign(folder: Path) -> None:
    (folder / "record.json").write_text('{"some": "thing"}')


def _cut_circumstances(folder: Path) -> None:
    _cut(folder / "raw" / "circumstances.json")


def _of_a_later_version(folder: Path) -> None:
    path = folder / "raw" / "circumstances.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"schema": "healthcheck.circumstances/9"}))


def _with_a_strange_job(folder: Path) -> None:
    record = json.loads((folder / "record.json").read_text())
    record["jobs"][0] |= {"id": "x", "collective": "all_at_once"}
    (folder / "record.json").write_text(json.dumps(record))


@pytest.mark.parametrize(
    "spoil",
    [
        _without_circumstances,
        _of_another_version,
        _foreign,
        _cut_circumstances,
        _of_a_later_version,
        _with_a_strange_job,
    ],
)
def test_what_cannot_be_judged_again_is_one_sentence(
    shell: Shell, healthy: Path, spoil: Callable[[Path], None]
) -> None:
    spoil(healthy)
    said = shell("rejudge", str(healthy))
    assert said.code == 2 and said.out == ""
    assert said.err.startswith("error: ") and said.err.count("\n") == 1
    assert not (healthy / "rejudged").exists()


def test_a_judgement_is_not_judged_again_itself(shell: Shell, healthy: Path) -> None:
    shell("rejudge", str(healthy))
    said = shell("rejudge", str(healthy / "rejudged"))
    assert said.code == 2 and str(healthy) in said.err


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("--platform", "no-such-machine"), "no-such-machine"),
        (("--healthy", "95"), "--healthy"),
        (("--broken", "0.9"), "--broken"),
        (("--baseline", "nothing.json"), "nothing.json"),
    ],
)
def test_a_mistake_in_what_is_asked_touches_nothing(
    shell: Shell, healthy: Path, words: tuple[str, ...], named: str
) -> None:
    said = shell("rejudge", str(healthy), *words)
    assert said.code == 2 and named in said.err and said.err.count("\n") == 1
    assert not (healthy / "rejudged").exists()


def test_the_past_a_run_was_judged_by_is_kept_and_another_one_may_be_given(shell: Shell) -> None:
    for seed in ("1", "1", "1", "1"):
        folder = _run(shell, "run", "quick", "--simulate", "2", "--seed", seed)
    assert (folder / "inputs" / "baseline.json").exists()
    shutil.rmtree(shell.folders()[0])
    assert shell("rejudge", str(folder)).code == 0
    assert (folder / "rejudged" / "record.json").read_bytes() == (folder / "record.json").read_bytes()
    better = json.loads((folder / "inputs" / "baseline.json").read_text())
    for usual in better["usual"]:
        usual["median_gbyte_s"] *= 1.2
    (shell.results.parent / "better.json").write_text(json.dumps(better))
    said = shell("rejudge", str(folder), "--baseline", "better.json")
    assert said.code == 4
    assert {
        check.rule for check in _rejudged(folder).checks if check.check == "bandwidth.busbw" and check.verdict > 1
    } == {"history.worse"}
