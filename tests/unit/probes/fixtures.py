"""Recorded answers of nodes: `#rc N`, stdout, `#stderr`, stderr."""

from __future__ import annotations

from pathlib import Path
from typing import Never

from msgspec.structs import replace

from healthcheck.model.node import NodeFacts
from healthcheck.model.platform import GpuSpec, NicSpec, Platform, Sourced
from healthcheck.model.reading import Evidence, Reading, ReadingState
from healthcheck.probes.batch import PartOutput, PartState

FOLDER = Path(__file__).parents[2] / "fixtures" / "probes"

DGX_A100 = Platform(
    name="a100-sxm4-8gpu-8x200",
    title="DGX A100",
    gpu=GpuSpec(names=("A100-SXM4",), count=8),
    nics=NicSpec(count=8, rate_gbit_s=200.0, link_layer="InfiniBand", source="test"),
    intra_busbw_gbyte_s=Sourced(240.0, "test"),
)


def answer(probe: str, name: str) -> PartOutput:
    """One fixture as the output of a part."""
    text = (FOLDER / probe / f"{name}.txt").read_text()
    head, _, rest = text.partition("\n")
    stdout, _, stderr = rest.partition("#stderr\n")
    return PartOutput(probe, int(head.removeprefix("#rc ")), stdout.rstrip("\n"), stderr.rstrip("\n"), PartState.ENDED)


def said(stdout: str, rc: int = 0, stderr: str = "", state: PartState = PartState.ENDED) -> PartOutput:
    """An answer made up in a test."""
    return PartOutput("made_up", rc, stdout, stderr, state)


def unreachable(host: str, why: str = "not asked") -> NodeFacts:
    """The facts about a node that gave no answer at all."""
    nothing = Reading[Never](ReadingState.UNREACHABLE, None, (Evidence(host, why),))
    needed = NodeFacts(host, nothing, nothing, nothing, nothing, nothing)
    looks = (name for name in NodeFacts.__struct_fields__ if isinstance(getattr(needed, name), Reading))
    return replace(needed, identity=nothing, **dict.fromkeys(looks, nothing))
