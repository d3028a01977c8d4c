"""docs/integrations: a dashboard and alert rules that speak of metrics and labels that are really written."""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path

import pytest
import yaml
from msgspec.structs import replace

from healthcheck.model.gate import GateAsked, GateRecord
from healthcheck.reporting.prometheus import PREFIX, metrics
from tests.golden.records import healthy, sick

FOLDER = Path(__file__).parents[3] / "docs" / "integrations"
DASHBOARD = json.loads((FOLDER / "grafana-dashboard.json").read_text(encoding="utf-8"))
RULES = yaml.safe_load((FOLDER / "prometheus-rules.yml").read_text(encoding="utf-8"))["groups"][0]["rules"]
TESTS = yaml.safe_load((FOLDER / "prometheus-rules.test.yml").read_text(encoding="utf-8"))["tests"]
PANELS = DASHBOARD["panels"]
# Prometheus and node_exporter say where a series comes from.
FROM_OUTSIDE = {"instance", "job", "simulated"}
LABELS = {
    f"{PREFIX}_{metric.name}": {*metric.labels, *FROM_OUTSIDE}
    for metric in itertools.chain(metrics(healthy()), metrics(replace(sick(), gate=GateRecord(GateAsked(300.0)))))
}
EXPRESSIONS = [
    *(target["expr"] for panel in PANELS for target in panel["targets"]),
    *(rule["expr"] for rule in RULES),
    *(one["series"] for test in TESTS for one in test["input_series"] if one["series"].startswith(PREFIX)),
]


def _used(expression: str) -> dict[str, set[str]]:
    """Each metric of an expression with the labels it is asked by."""
    found: dict[str, set[str]] = {}
    for name, asked in re.findall(rf"\b({PREFIX}_\w+)(?:\{{(.*?)\}})?", expression):
        found.setdefault(name, set()).update(re.findall(r"(\w+)\s*(?:=~|!~|!=|=)", asked or ""))
    return found


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_every_expression_asks_for_metrics_and_labels_that_are_written(expression: str) -> None:
    used = _used(expression)
    assert used
    for name, labels in used.items():
        assert labels <= LABELS[name]
        assert "simulated" in labels
    grouped = set(re.findall(r"\w+", " ".join(re.findall(r"(?:by|on|without)\s*\((.*?)\)", expression))))
    assert grouped <= set.intersection(*(LABELS[name] for name in used))


@pytest.mark.parametrize("panel", PANELS, ids=lambda panel: str(panel["title"]))
def test_every_panel_says_what_it_shows_by_labels_it_has(panel: dict[str, object]) -> None:
    assert panel["title"]
    assert panel["description"]
    assert panel["type"] in ("stat", "table", "timeseries", "bargauge")
    assert panel["datasource"] == {"type": "prometheus", "uid": "${datasource}"}
    targets = panel["targets"]
    assert isinstance(targets, list)
    assert len({target["refId"] for target in targets}) == len(targets) > 0
    for target in targets:
        assert target["datasource"] == panel["datasource"]
        known = set.intersection(*(LABELS[name] for name in _used(target["expr"])))
        assert set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"])) <= known
        # A table is one moment; a series over time has a name for each line.
        assert (target["format"] == "table") == (panel["type"] == "table")
        assert target["instant"] == (panel["type"] != "timeseries")
        assert target["range"] != target["instant"]
        assert target["legendFormat"] or panel["type"] == "table"


def test_panels_have_their_own_numbers_and_places() -> None:
    assert len({panel["id"] for panel in PANELS}) == len(PANELS)
    taken: set[tuple[int, int]] = set()
    for panel in PANELS:
        place = panel["gridPos"]
        cells = set(
            itertools.product(range(place["x"], place["x"] + place["w"]), range(place["y"], place["y"] + place["h"]))
        )
        assert place["x"] + place["w"] <= 24
        assert not taken & cells
        taken |= cells


def test_the_dashboard_can_be_imported_anywhere() -> None:
    assert DASHBOARD["id"] is None
    assert DASHBOARD["schemaVersion"] >= 36
    variables = {one["name"]: one for one in DASHBOARD["templating"]["list"]}
    used = set(re.findall(r"\$\{?(\w+)", json.dumps(DASHBOARD))) - {"__all"}
    assert used == set(variables)
    for one in variables.values():
        if one["type"] == "query":
            ((name, labels),) = _used(one["definition"]).items()
            asked = re.fullmatch(r"label_values\(.*, (\w+)\)", one["definition"])
            assert asked is not None
            assert {asked[1], *labels} <= LABELS[name]
    assert variables["simulated"]["current"]["value"] == "false"


def test_the_words_of_verdicts_are_those_of_the_numbers() -> None:
    (mapping,) = next(panel for panel in PANELS if panel["title"].startswith("Verdict"))["fieldConfig"]["defaults"][
        "mappings"
    ]
    words = {value: one["text"] for value, one in mapping["options"].items()}
    assert words == {"0": "SKIPPED", "1": "PASS", "2": "DEGRADED", "3": "INCONCLUSIVE", "4": "FAIL"}


def test_each_alert_says_how_urgent_it_is_and_what_to_do_and_leaves_rehearsals_alone() -> None:
    names = [rule["alert"] for rule in RULES]
    assert len(set(names)) == len(names)
    for rule in RULES:
        assert rule["labels"]["severity"] in ("page", "ticket")
        assert rule["annotations"]["summary"]
        assert rule["annotations"]["description"]
        assert rule["expr"].count('simulated="false"') == len(re.findall(rf"\b{PREFIX}_", rule["expr"]))
        known = set.intersection(*(LABELS[name] for name in _used(rule["expr"])))
        assert set(re.findall(r"\$labels\.(\w+)", str(rule["annotations"]))) <= known


def test_each_alert_is_shown_to_fire_and_to_stay_silent() -> None:
    cases = [case for test in TESTS for case in test["alert_rule_test"]]
    assert {case["alertname"] for case in cases if case.get("exp_alerts")} == {rule["alert"] for rule in RULES}
    assert {case["alertname"] for case in cases if not case.get("exp_alerts")} == {rule["alert"] for rule in RULES}
