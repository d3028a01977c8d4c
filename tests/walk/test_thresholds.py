"""Where the fractions come from: command line, stage, playbook, machine type, 0.70/0.50; the winner is recorded."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from healthcheck.edge.shipped import load_platform
from healthcheck.model.verdict import Verdict
from healthcheck.parsing.record_codec import decode_record
from tests.walk.cli import Shell

A100 = "a100-sxm4-8gpu-8x200"
OF_STAGE, OF_BOOK, OF_MACHINE = (0.66, 0.44), (0.65, 0.45), (0.64, 0.46)


def written(fractions: tuple[float, float]) -> str:
    return f"thresholds: {{healthy: {fractions[0]}, broken: {fractions[1]}}}"


def machine(folder: Path, says: bool) -> str:
    """The shipped A100, with other fractions for one node or with none."""
    text = re.sub(r"^thresholds:\n(?: .*\n)+", "", load_platform(A100)[1], flags=re.MULTILINE)
    assert "thresholds" not in text
    own = f"thresholds: {{single_node: {{healthy: {OF_MACHINE[0]}, broken: {OF_MACHINE[1]}}}}}\n" if says else ""
    path = folder / "machine.yaml"
    path.write_text(text + own)
    return str(path)


def playbook(folder: Path, book: bool = False, stage: bool = False) -> str:
    lines = [
        "name: ladder",
        *([written(OF_BOOK)] if book else []),
        "stages:",
        "  - name: probe",
        "  - name: single_node",
        "    sizes: {min: 1G, max: 8G}",
        *([f"    {written(OF_STAGE)}"] if stage else []),
    ]
    path = folder / "ladder.yaml"
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def won(shell: Shell) -> tuple[float, float, str]:
    """The fractions one node was held against, and who set them."""
    # Runs of one second stand in any order.
    newest = max((folder / "record.json" for folder in shell.folders()), key=lambda path: path.stat().st_mtime_ns)
    record = decode_record(newest.read_bytes(), str(newest))
    (limit,) = [limit for limit in record.provenance.limits if limit.stage == "single_node"]
    return limit.healthy, limit.broken, limit.source.partition("; fractions: ")[2].partition(";")[0]


@pytest.mark.parametrize(
    ("stage", "book", "says", "fractions", "who"),
    [
        (True, True, True, OF_STAGE, "playbook ladder, stage single_node"),
        (False, True, True, OF_BOOK, "playbook ladder"),
        (False, False, True, OF_MACHINE, f"platform {A100}"),
        (False, False, False, (0.7, 0.5), "default"),
    ],
)
def test_the_nearest_wins_and_the_command_line_before_all(
    shell: Shell, tmp_path: Path, stage: bool, book: bool, says: bool, fractions: tuple[float, float], who: str
) -> None:
    words = ("run", playbook(tmp_path, book, stage), "--simulate", "2", "--platform", machine(tmp_path, says), "-q")
    assert shell(*words).code == 0
    assert won(shell) == (*fractions, who)
    assert shell(*words, "--healthy", "0.75", "--broken", "0.55").code == 0
    assert won(shell) == (0.75, 0.55, "command line")
    assert shell(*words, "--healthy", "0.75").code == 0
    assert won(shell) == (0.75, fractions[1], f"command line (healthy), {who} (broken)")
    assert shell(*words, "--broken", "0.55").code == 0
    assert won(shell) == (fractions[0], 0.55, f"{who} (healthy), command line (broken)")


def test_they_decide(shell: Shell) -> None:
    """A healthy A100 reads 77 % of its peak."""
    assert shell("run", "--simulate", "2", "--healthy", "0.8", "-q").code == 4
    assert {host.verdict for host in shell.record().hosts} == {Verdict.DEGRADED}
    assert shell("run", "--simulate", "2", "--healthy", "0.9", "--broken", "0.8", "-q").code == 1


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--healthy", "70"), "--healthy: is a fraction of peak, got 70; write 0.70"),
        (("--healthy", "0"), "--healthy: must be above 0 and at most 1, got 0"),
        (("--broken", "nan"), "--broken: must be above 0 and at most 1, got nan"),
        (
            ("--healthy", "0.5", "--broken", "0.6"),
            "--broken: must not be above healthy, got broken 0.6 with healthy 0.5",
        ),
        (("--broken", "0.8"), "--broken: 0.8 does not go with healthy 0.7 of the default"),
        (("--healthy", "0.4", "--platform", A100), f"--healthy: 0.4 does not go with broken 0.5 of platform {A100}"),
    ],
)
@pytest.mark.parametrize("command", ["run", "plan", "localise"])
def test_what_makes_no_sense_is_refused_before_anything_is_touched(
    shell: Shell, command: str, words: tuple[str, ...], told: str
) -> None:
    said = shell(command, "--simulate", "2", *words)
    assert said.code == 2
    assert told in said.err
    assert not shell.results.exists() or not shell.folders()


def test_a_resumed_run_is_judged_as_it_was_begun(shell: Shell) -> None:
    assert shell("run", "--simulate", "3", "--healthy", "0.8", "-q").code == 4
    path = shell.folders()[-1] / "record.json"
    path.write_text(path.read_text().replace('"state": "complete"', '"state": "interrupted"'))
    assert shell("run", "--resume", str(shell.folders()[-1]), "-q").code == 4
    assert won(shell)[:2] == (0.8, 0.5)
    path.write_text(path.read_text().replace('"state": "complete"', '"state": "interrupted"'))
    assert shell("run", "--resume", str(shell.folders()[-1]), "--healthy", "0.7", "-q").code == 0


def test_a_machine_type_that_is_found_later_yields_to_the_one_that_was_given(shell: Shell, tmp_path: Path) -> None:
    """`--platform auto` says its fractions only after the nodes were looked at."""
    assert shell("run", playbook(tmp_path), "--simulate", "2", "--broken", "0.7", "-q").code == 0
    assert won(shell)[:2] == (0.7, 0.7)
