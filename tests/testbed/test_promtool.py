"""What we write for Prometheus, read by its own promtool: metrics, alert rules with their tests, the dashboard."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.testbed

FOLDER = Path(__file__).parents[2] / "docs" / "integrations"


def _promtool(*words: str, given: str = "") -> str:
    """What it said on both streams; it must have found nothing wrong."""
    done = subprocess.run(
        ["promtool", *words], cwd=FOLDER, input=given, capture_output=True, text=True, timeout=60, check=False
    )
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    return said


@pytest.mark.parametrize(
    ("code", "faults"), [(0, ()), (1, ("--fault", "node05:nvlink=0.4")), (1, ("--fault", "node03:gpus=7"))]
)
def test_the_metrics_of_a_run_have_nothing_for_promtool_to_remark(
    tmp_path: Path, code: int, faults: tuple[str, ...]
) -> None:
    words = (sys.executable, "-m", "healthcheck", "run", "full", "--simulate", "8", *faults)
    done = subprocess.run((*words, "--metrics-file", "x.prom"), cwd=tmp_path, timeout=120, check=False)
    assert done.returncode == code
    assert _promtool("check", "metrics", given=(tmp_path / "x.prom").read_text()) == ""


def test_the_alert_rules_are_rules_and_their_tests_pass() -> None:
    assert "SUCCESS" in _promtool("check", "rules", "prometheus-rules.yml")
    assert "SUCCESS" in _promtool("test", "rules", "prometheus-rules.test.yml")


def test_the_expressions_of_the_dashboard_are_expressions(tmp_path: Path) -> None:
    """As recording rules: promtool reads those with the parser of Prometheus."""
    panels = json.loads((FOLDER / "grafana-dashboard.json").read_text(encoding="utf-8"))["panels"]
    expressions = [target["expr"] for panel in panels for target in panel["targets"]]
    rules = [{"record": f"panel:{place}", "expr": expr} for place, expr in enumerate(expressions)]
    file = tmp_path / "panels.yml"
    file.write_text(json.dumps({"groups": [{"name": "panels", "rules": rules}]}))
    assert f"{len(expressions)} rules found" in _promtool("check", "rules", str(file))
