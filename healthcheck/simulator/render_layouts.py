"""How each version of nccl-tests and rccl-tests lays out its output, and what a table of it is about.

Formats: the printf strings of nccl-tests from 2017 to 2.19.6 and of rccl-tests. The versions in `LAYOUTS` were compared
with true outputs byte for byte; the rest of `ERAS` follows the same strings.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from healthcheck.model.collective import Collective


class Layout(Struct, frozen=True, kw_only=True):
    """What differs between versions; the defaults are those of 2.10.

    `first`: milliseconds, other column names, no units, no `#` in front of settings and footer. `type_width`: of the
    column. `wrong_count`: the columns redop, root and #wrong (before: only those a collective has, and `error`).
    `redop_named`: collectives without one print `none` (before: nothing). `fitted_numbers`: as many decimals as fit,
    and what else came with 2.17.3. `header_end`: trailing blanks of names and units. `size_step`: shared buffers are
    cut to multiples of so many bytes a rank. `failed_exit`: exit code of a run with wrong results,
    `failed_source_line`: where the line after the footer says it was found. `too_many_exit`: exit code when a rank has
    no GPU. `per_iteration`: whether it knows `-I`. `rccl`: which of the three ways of rccl-tests to say who it is
    (`nranks`, `version`, `synced`).
    """

    first: bool = False
    type_width: int = 8
    wrong_count: bool = False
    redop_named: bool = True
    group: bool = False
    full_bus: bool = False
    starting_line: bool = False
    version_line: bool = False
    fitted_numbers: bool = False
    header_end: int = 0
    end_line: bool = False
    unalign: bool = False
    per_iteration: bool = False
    default_warmup: int = 5
    size_step: int = 1
    failed_exit: int = 1
    failed_source_line: int | None = None
    too_many_exit: int = 2
    rccl: str | None = None


_V2_10 = Layout()
_V2_13_0 = replace(_V2_10, wrong_count=True, redop_named=False)
_V2_13 = replace(_V2_13_0, redop_named=True, group=True)
_V2_14 = replace(_V2_13, full_bus=True)
_V2_16 = replace(_V2_14, starting_line=True, default_warmup=1, size_step=16)
_V2_17_3 = replace(_V2_16, fitted_numbers=True, failed_exit=6, too_many_exit=5)
_V2_17_4 = replace(_V2_17_3, version_line=True)
_V2_17_6 = replace(_V2_17_4, header_end=21)
# The source line of 2.17.10 is a guess near its neighbours: no true output of that failure was at hand.
_V2_17 = replace(_V2_17_4, header_end=1, end_line=True, failed_exit=7, failed_source_line=1364)
_V2_18 = replace(_V2_17, unalign=True)
_V2_19 = replace(_V2_18, per_iteration=True, failed_source_line=1454)
_E1 = Layout(first=True, type_width=6)
LAYOUTS: dict[str, Layout] = {
    "2.10.1": _V2_10,
    "2.13.10": _V2_13,
    "2.16.9": _V2_16,
    "2.17.10": _V2_17,
    "2.19.6": _V2_19,
}
# One version of each era, by the names of docs/reading-nccl-tests.md; the oldest do not print it.
ERAS: dict[str, tuple[str, Layout]] = {
    "E1": ("1.0.0", _E1),
    "E2": ("2.0.0", replace(_V2_10, type_width=6)),
    "E3": ("2.10.1", _V2_10),
    "E4a": ("2.13.0", _V2_13_0),
    "E4b": ("2.13.10", _V2_13),
    "E4c": ("2.14.1", _V2_14),
    "E4d": ("2.16.9", _V2_16),
    "E5a": ("2.17.3", _V2_17_3),
    "E5b": ("2.17.5", _V2_17_4),
    "E5c": ("2.17.6", _V2_17_6),
    "E5d": ("2.17.10", _V2_17),
    "E5e": ("2.18.2", _V2_18),
    "E5f": ("2.19.6", _V2_19),
    "newest": ("2.20.0 (b4d5bee)", _V2_19),
    "rccl-nranks": ("develop:e0bc7f6", replace(_V2_10, full_bus=True, rccl="nranks")),
    "rccl-version": ("develop:4a65e8d", replace(_V2_13_0, redop_named=True, full_bus=True, rccl="version")),
    "rccl-synced": ("2.17.9-develop:4a65e8d", replace(_V2_17, rccl="synced")),
}


class Device(Struct, frozen=True):
    """One device line. `bus_id` is `0000:07:00`, domain:bus:device in hex; `group` is the colour under a split."""

    rank: int
    pid: int
    host: str
    index: int
    bus_id: str
    model: str
    group: int = 0


class Extras(Struct, frozen=True):
    """Options that change the columns: -C, -S, -I, -M; of rccl-tests the columns of the algorithm, and -O 0."""

    cpu_time: bool = False
    timestamps: bool = False
    per_iteration: bool = False
    memory: bool = False
    algorithm: bool = False
    in_place_only: bool = False


class TableHead(Struct, frozen=True):
    """All that stands above the rows. Sizes in bytes; `factor` 0 or 1 means steps of `step_bytes`.

    `era`, a key of `ERAS`, prints as that era does; without it `version` must be one of `LAYOUTS`.
    """

    version: str
    collective: Collective
    devices: tuple[Device, ...]
    min_bytes: int
    max_bytes: int
    factor: int = 2
    step_bytes: int = 1 << 20
    threads: int = 1
    gpus: int = 1
    warmup: int = 5
    iterations: int = 20
    check: int = 1
    nccl_code: int = 22907
    era: str | None = None
    extras: Extras = Extras()

    @property
    def layout(self) -> Layout:
        """How this version prints."""
        return ERAS[self.era][1] if self.era is not None else LAYOUTS[self.version]

    @property
    def halves(self) -> tuple[str, ...]:
        """The placements that are printed."""
        if self.layout.first and self.collective is Collective.BROADCAST:
            return ("out_of_place",)
        return ("in_place",) if self.extras.in_place_only else ("out_of_place", "in_place")

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns between type and time."""
        if self.layout.wrong_count or self.collective is Collective.REDUCE:
            return ("redop", "root")
        if self.collective in ROOTED:
            return ("root",)
        if self.collective in REDUCING or (self.collective is Collective.ALLTOALL and not self.layout.first):
            return ("redop",)
        return ()


ROOTED = frozenset({Collective.BROADCAST, Collective.REDUCE, Collective.GATHER, Collective.SCATTER})
REDUCING = frozenset({Collective.ALL_REDUCE, Collective.REDUCE_SCATTER, Collective.REDUCE})
