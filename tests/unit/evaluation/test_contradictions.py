"""A machine type that contradicts itself is refused with file, line and key, before anything is held against it."""

from __future__ import annotations

from pathlib import Path

import pytest

import healthcheck
from healthcheck.edge.shipped import load_platform, shipped_platforms
from healthcheck.errors import InputError
from healthcheck.evaluation.contradictions import contradictions

FOLDER = Path(healthcheck.__file__).parent / "platforms"
P4DE = (FOLDER / "a100-sxm4-8gpu-4x100-efa.yaml").read_text(encoding="utf-8")


def test_no_shipped_type_contradicts_itself() -> None:
    found = {name: list(contradictions(platform)) for name, platform in shipped_platforms().items()}
    assert {name: bad for name, bad in found.items() if bad} == {}


@pytest.mark.parametrize(
    ("old", "new", "key", "says"),
    [
        ("value: 78.3", "value: 300", "[1].value", "300 GB/s is above the 98.438 that such a job can reach at most"),
        # A tree reaches 78 between two nodes; between a thousand nobody can.
        ("max_nodes: 2", "max_nodes: 1000", "[1].value", "78.3 GB/s is above the 52"),
        ("    max_nodes: 2\n", "", "[1].value", "78.3 GB/s is above the 52"),
        ("value: 78.3", "algorithm: ring\n    value: 78.3", "[1].value", "above the 52.5"),
        ("value: 78.3", "algorithm: nvls\n    value: 78.3", "[1].algorithm", "such machines cannot use nvls"),
        ("value: 78.3", "algorithm: sharp\n    value: 78.3", "[1].algorithm", "such machines cannot use sharp"),
        ("value: 78.3", "collective: hypercube\n    value: 78.3", "[1].min_nodes", "a job that has no peak here"),
        ("count: 4\n  rate_gbit_s: 100", "count: 0\n  rate_gbit_s: 0", "[1].min_nodes", "a job that has no peak here"),
    ],
)
def test_what_cannot_be_is_refused_with_its_line(old: str, new: str, key: str, says: str, tmp_path: Path) -> None:
    text = P4DE.replace(old, new, 1)
    assert text != P4DE
    file = tmp_path / "mine.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        load_platform(str(file))
    where, _, rest = str(caught.value).partition(": ")
    name, _, line = where.rpartition(":")
    assert name == str(file)
    assert text.splitlines()[int(line) - 1].strip().removeprefix("- ").startswith(key.rpartition(".")[2])
    assert rest.startswith(f"known_good_gbyte_s{key}: ")
    assert says in rest


@pytest.mark.parametrize(
    ("value", "says"),
    [("23.1", "23.1 GB/s is 7.7 % of the peak of such a job, 300"), ("209.9", "209.9 GB/s is 69.9 % of the peak")],
)
def test_what_the_file_itself_would_call_slow_is_not_known_to_be_good(value: str, says: str, tmp_path: Path) -> None:
    text = (FOLDER / "a100-sxm4-8gpu-8x200.yaml").read_text(encoding="utf-8").replace("value: 231 ", f"value: {value} ")
    file = tmp_path / "mine.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        load_platform(str(file))
    line = next(number for number, one in enumerate(text.splitlines(), 1) if f"value: {value}" in one)
    assert str(caught.value).startswith(f"{file}:{line}: known_good_gbyte_s[0].value: {says}")
    assert "by the thresholds of this file" in str(caught.value)
