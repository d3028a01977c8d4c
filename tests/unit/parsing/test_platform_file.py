"""Platform files: no number without a sign of life, none without a source."""

from __future__ import annotations

from pathlib import Path

import pytest

import healthcheck
from healthcheck.errors import InputError
from healthcheck.parsing.platform import parse_platform

FOLDER = Path(healthcheck.__file__).parent / "platforms"
FILES = sorted(FOLDER.glob("*.yaml"))
GOOD = (FOLDER / "a100-sxm4-8gpu-4x200.yaml").read_text(encoding="utf-8")


_RATE = "line_rate_gbyte_s: {value: 250, source: the data sheet of it}"
_FEWER = (
    "intra_of_fewer_gbyte_s: [{{gpus: {}, value: 9, source: its board}}, {{gpus: {}, value: 9, source: its board}}]"
)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_platform_of_the_package_is_right_and_named_after_its_file(file: Path) -> None:
    platform = parse_platform(file.read_text(encoding="utf-8"), file.name)
    assert file.stem in (platform.name, "_template")
    sources = [platform.intra_busbw_gbyte_s.source, *(known.source for known in platform.known_good_gbyte_s)]
    assert all(len(source) > 10 for source in sources)


@pytest.mark.parametrize(("nics", "total"), [(8, 200), (4, 100), (1, 25)])
def test_the_a100_platforms_differ_in_their_network(nics: int, total: float) -> None:
    file = FOLDER / f"a100-sxm4-8gpu-{nics}x200.yaml"
    platform = parse_platform(file.read_text(encoding="utf-8"), file.name)
    assert platform.nic_sum_gbyte_s == total
    assert platform.intra_busbw_gbyte_s.value == 300
    assert 0.8 * total < platform.known_good_gbyte_s[1].value <= total


@pytest.mark.parametrize(
    ("old", "new", "key", "says"),
    [
        ("count: 4", "count: 0", "nics.rate_gbit_s", "must be 0 where count is 0, got 200"),
        ("count: 4", "count: -4", "nics.count", "got -4"),
        ("count: 8", "count: eight", "gpu.count", "expected a whole number, got 'eight'"),
        ("rate_gbit_s: 200", "rate_gbit_s: 0", "nics.rate_gbit_s", "above 0"),
        ("rate_gbit_s: 200", "rate_gbit_s: .nan", "nics.rate_gbit_s", "got nan"),
        ("rate_gbit_s: 200", "rate_gbit_s: .inf", "nics.rate_gbit_s", "got inf"),
        ("rate_gbit_s: 200", "rate_gbyte_s: 25", "nics.rate_gbyte_s", "did you mean rate_gbit_s?"),
        ("value: 300", "value: -300", "intra_busbw_gbyte_s.value", "above 0"),
        ("link_layer: InfiniBand", "link_layer: Infiniband", "nics.link_layer", "did you mean InfiniBand?"),
        ("peak_basis: raw", "peak_basis: row", "peak_basis", "did you mean raw?"),
        ("names: [A100-SXM4-40GB, A100-SXM4-80GB, A100-SXM-80GB]", "names: []", "gpu.names", "is empty"),
        ("names: [A100-SXM4-40GB,", "names: [' ',", "gpu.names[0]", "not empty"),
        ("  source: https://github.com/stas00", "  source: ''\n  #", "intra_busbw_gbyte_s.source", "not empty"),
        ("  source: https://github.com/stas00", "  #", "intra_busbw_gbyte_s", "the key source is missing"),
        ("  multi_node: {healthy: 0.70", "  multi_node: {healthy: 70", "thresholds.multi_node.healthy", "write 0.70"),
        ("  multi_node: {", "  multinode: {", "thresholds.multinode", "did you mean multi_node?"),
        ("  single_node: {healthy: 0.70", "  single_node: {healthy: x", "thresholds.single_node.healthy", "got 'x'"),
        ("    value: 86", "    value: fast", "known_good_gbyte_s[1].value", "a number, got 'fast'"),
        ("  - min_nodes: 2\n", "  - min_nodes: 0\n", "known_good_gbyte_s[1].min_nodes", "at least 1"),
        ("peak_basis: raw", "peak_basis: effective", "peak_basis", "needs the key line_rate_gbyte_s"),
        ("peak_basis: raw", _RATE, "line_rate_gbyte_s", "is for peak_basis effective"),
        (
            "peak_basis: raw",
            f"peak_basis: effective\n{_RATE}",
            "line_rate_gbyte_s.value",
            "below intra_busbw_gbyte_s 300",
        ),
        ("peak_basis: raw", "nvlink_nodes: 0", "nvlink_nodes", "from 1 to 256, got 0"),
        (
            "peak_basis: raw",
            _FEWER.format(8, 3),
            "intra_of_fewer_gbyte_s[0].gpus",
            "from 2 to 7, fewer than a node has",
        ),
        ("peak_basis: raw", _FEWER.format(4, 4), "intra_of_fewer_gbyte_s[1].gpus", "4 stands here twice"),
        (
            "  link_layer:",
            "  slot_gbyte_s: {value: 48, source: Gen5 x16}\n  link_layer:",
            "nics.slot_gbyte_s.value",
            "leave it out",
        ),
        ("    value: 86", "    gpus: 9\n    value: 86", "known_good_gbyte_s[1].gpus", "from 1 to gpu.count 8, got 9"),
        (
            "    value: 86",
            "    algorithm: rings\n    value: 86",
            "known_good_gbyte_s[1].algorithm",
            "did you mean ring?",
        ),
        (
            "    value: 86",
            "    collective: allreduce\n    value: 86",
            "known_good_gbyte_s[1].collective",
            "did you mean all_reduce?",
        ),
        (
            "    max_nodes: 1\n",
            "    max_nodes: 2\n",
            "known_good_gbyte_s[1].min_nodes",
            "2 is among the nodes of known_good_gbyte_s[0]",
        ),
        ("    max_nodes: 1\n", "", "known_good_gbyte_s[1].min_nodes", "already, for the same job"),
        ("name: a100-sxm4-8gpu-4x200", "name: a b", "name", "letters, digits"),
        ("title: 8 x", "titel: 8 x", "titel", "did you mean title?"),
    ],
)
def test_what_is_wrong_is_said_with_line_and_key(old: str, new: str, key: str, says: str) -> None:
    text = GOOD.replace(old, new, 1)
    assert text != GOOD
    with pytest.raises(InputError) as caught:
        parse_platform(text, "p.yaml")
    where, _, rest = str(caught.value).partition(": ")
    file, _, line = where.partition(":")
    assert file == "p.yaml"
    assert int(line) > 0
    assert rest.startswith(f"{key}: ")
    assert says in rest


def test_readings_of_different_jobs_may_stand_for_the_same_nodes() -> None:
    gpus, algorithm = "    gpus: 4\n    value: 86", "    algorithm: tree\n    value: 86"
    for other in (gpus, algorithm):
        text = GOOD.replace("    max_nodes: 1\n", "", 1).replace("    value: 86", other, 1)
        assert len(parse_platform(text, "p.yaml").known_good_gbyte_s) == 3


def test_a_node_without_published_nics_has_none() -> None:
    text = GOOD.replace("count: 4", "count: 0", 1).replace("rate_gbit_s: 200", "rate_gbit_s: 0", 1)
    nics = parse_platform(text, "p.yaml").nics
    assert (nics.count, nics.each_gbyte_s) == (0, 0)
