"""A baseline file: back as it was written, and strict (the mistakes stand in tests/fixtures/wrong_inputs)."""

from __future__ import annotations

import json

from healthcheck.model.baseline import Baseline, Usual
from healthcheck.parsing.baseline import encode_baseline, hosts_of, parse_baseline

USUAL = Usual("single_node", "all_reduce", "gpu-01", 8, 8 << 30, "out_of_place", 231.4, 0.6, 6)
TOGETHER = Usual("multi_node", "all_reduce", "gpu-[01-02]", 16, 8 << 30, "in_place", 190.2, 0.0, 3)
BASELINE = Baseline(
    "a100-sxm4-8gpu-8x200",
    False,
    ("20260114T021503Z-qhzt", "20260211T021507Z-lmrb"),
    (TOGETHER, USUAL),
    "baseline é.json",
    "2026-04-01T00:00:00Z",
    "healthcheck 0.1.0",
)


def test_what_is_written_is_read_back() -> None:
    assert parse_baseline(encode_baseline(BASELINE), "base.json") == BASELINE


def test_an_entry_is_a_line() -> None:
    """So that two baselines can be read side by side."""
    text = encode_baseline(BASELINE)
    assert sum("median_gbyte_s" in line for line in text.splitlines()) == 2
    assert json.loads(text)["schema"] == "healthcheck.baseline/1"
    assert text.startswith('{\n "schema": ')


def test_node_sets_are_read_in_any_spelling() -> None:
    """A run looks for its own spelling; another one of the same nodes would never be found."""
    text = encode_baseline(BASELINE).replace("gpu-[01-02]", "gpu-02,gpu-01")
    assert parse_baseline(text, "base.json").usual[0].hosts == "gpu-[01-02]"


def test_an_ipv6_host_is_a_host() -> None:
    text = encode_baseline(BASELINE).replace("gpu-01", "fe80::1").replace("gpu-[01-02]", "gpu-02,fe80::1")
    together, alone = parse_baseline(text, "base.json").usual
    assert (hosts_of(together), hosts_of(alone)) == (("gpu-02", "fe80::1"), ("fe80::1",))


def test_a_file_saved_by_a_windows_editor_is_read() -> None:
    text = "\ufeff" + encode_baseline(BASELINE).replace("\n", "\r\n")
    assert parse_baseline(text, "base.json") == BASELINE
