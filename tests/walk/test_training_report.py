"""A training beside a check-up: kept with the run, told in its report, there again when pages are made again."""

from __future__ import annotations

from pathlib import Path

from healthcheck.model import vitals_log
from healthcheck.parsing.record_codec import encode_document
from tests.golden.training import log
from tests.walk.cli import Shell


def _run(shell: Shell, folder: Path) -> Path:
    shell("run", "quick", "--simulate", "4", "-o", str(folder), "-q")
    return next(path.parent for path in folder.glob("*/record.json"))


def _document(folder: Path) -> Path:
    path = folder / "vitals-log.json"
    path.write_text(encode_document(vitals_log.SCHEMA, log()))
    return path


def test_a_report_tells_the_training_and_can_be_made_again_without_the_file(shell: Shell, tmp_path: Path) -> None:
    run = _run(shell, tmp_path / "runs")
    assert "The training on these nodes" not in (run / "report.md").read_text()
    document = _document(tmp_path)
    shell("report", str(run), "--vitals", str(document))
    told = (run / "report.md").read_text()
    assert "## The training on these nodes" in told
    assert "goodput 68 %" in told
    page = (run / "vitals.html").read_text()
    assert "What became of the wall time?" in page
    assert 'href="vitals.html"' in (run / "report.html").read_text()
    document.unlink()
    before = {name: (run / name).read_bytes() for name in ("report.html", "report.md", "vitals.html")}
    shell("report", str(run))
    assert {name: (run / name).read_bytes() for name in before} == before


def test_a_kept_document_that_is_damaged_costs_no_page(shell: Shell, tmp_path: Path) -> None:
    run = _run(shell, tmp_path / "runs")
    shell("report", str(run), "--vitals", str(_document(tmp_path)))
    (run / "inputs" / "vitals-log.json").write_text("{")
    done = shell("report", str(run))
    assert done.code == 0
    assert "vitals-log.json" in done.err
    assert "The training on these nodes" not in (run / "report.md").read_text()


def test_what_is_no_document_touches_nothing(shell: Shell, tmp_path: Path) -> None:
    run = _run(shell, tmp_path / "runs")
    before = sorted(path.name for path in run.rglob("*"))
    done = shell("report", str(run), "--vitals", str(run / "record.json"))
    assert done.code == 2
    assert "--record" in done.err
    assert sorted(path.name for path in run.rglob("*")) == before
