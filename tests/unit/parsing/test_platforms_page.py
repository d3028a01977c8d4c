"""docs/platforms.md holds the numbers of the files, and explains every key that a file can have."""

from __future__ import annotations

from pathlib import Path

from healthcheck.edge.shipped import load_platform, shipped_platforms
from healthcheck.model.collective import Collective
from healthcheck.model.platform import GpuSpec, KnownGood, NicSpec, OfFewer, Platform

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "platforms.md").read_text(encoding="utf-8")


def row(platform: Platform) -> str:
    """A machine type as a row of the table."""
    nics, raw = platform.nics, platform.line_rate_gbyte_s
    inside = f"{platform.intra_busbw_gbyte_s.value:g}" + ("" if raw is None else f" of {raw.value:g}")
    between = "–"
    if nics.count:
        between = f"{nics.count} x {nics.rate_gbit_s:g} {nics.link_layer} = {platform.nic_sum_gbyte_s:g}"
    known = [known for known in platform.known_good_gbyte_s if _of_whole_nodes(known, platform)]
    return f"| `{platform.name}` | {inside} | {between} | {'; '.join(map(_known, known)) or '–'} |"


def _of_whole_nodes(known: KnownGood, platform: Platform) -> bool:
    return known.collective is Collective.ALL_REDUCE and known.gpus in (None, platform.gpu.count)


def _known(known: KnownGood) -> str:
    nodes = f"{known.min_nodes}"
    if known.max_nodes is None:
        nodes += "+"
    elif known.max_nodes != known.min_nodes:
        nodes += f"-{known.max_nodes}"
    return f"{nodes}: {known.value:g}" + ("" if known.algorithm is None else f" {known.algorithm}")


def test_the_table_holds_the_numbers_of_the_files() -> None:
    rows = [line for line in PAGE.splitlines() if line.startswith("| `") and line.count("|") == 5]
    assert rows == [row(platform) for platform in shipped_platforms().values()]


def test_every_key_of_a_file_is_explained() -> None:
    keys = {key for kind in (Platform, GpuSpec, NicSpec, OfFewer, KnownGood) for key in kind.__struct_fields__}
    assert {key for key in keys if f"`{key}`" not in PAGE and f".{key}`" not in PAGE} == set()


def test_the_template_passes_the_check_and_shows_every_key() -> None:
    file = ROOT / "healthcheck" / "platforms" / "_template.yaml"
    platform, text = load_platform(str(file))
    assert platform.name == "my-gpu-8gpu-8x400"
    for kind in (Platform, GpuSpec, NicSpec, OfFewer, KnownGood):
        assert [key for key in kind.__struct_fields__ if f"{key}:" not in text] == []
