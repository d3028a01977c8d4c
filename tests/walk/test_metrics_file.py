"""`--metrics-file` where node_exporter reads through a symbolic link: the link stays, and what it leads to is new."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.walk.cli import Shell

HEALTHY = ("run", "quick", "--simulate", "4", "-q")


@pytest.mark.parametrize("before", ["old", None])
def test_a_link_stays_and_what_it_leads_to_is_written_whole(shell: Shell, tmp_path: Path, before: str | None) -> None:
    (tmp_path / "textfile").mkdir()
    (tmp_path / "data").mkdir()
    link, target = tmp_path / "textfile" / "healthcheck.prom", tmp_path / "data" / "metrics"
    link.symlink_to("../data/metrics")
    if before is not None:
        target.write_text(before)
        was = target.stat().st_ino
    assert shell(*HEALTHY, "--metrics-file", str(link)).code == 0
    assert link.is_symlink() and link.read_bytes() == (shell.folders()[-1] / "metrics.prom").read_bytes()
    assert [path.name for path in target.parent.iterdir()] == ["metrics"]
    assert before is None or target.stat().st_ino != was, "whoever reads the old one never sees half of the new one"


@pytest.mark.parametrize("leads_to", ["gone/metrics", "healthcheck.prom", "/dev/null"])
def test_a_link_to_no_place_for_a_file_is_told_before_anything_is_touched(
    shell: Shell, tmp_path: Path, leads_to: str
) -> None:
    link = tmp_path / "healthcheck.prom"
    link.symlink_to(leads_to)
    said = shell(*HEALTHY, "--metrics-file", str(link))
    assert said.code == 2 and said.err.startswith("error: --metrics-file: ") and said.err.count("\n") == 1
    assert link.readlink() == Path(leads_to) and not shell.results.exists()
