"""What machines used to read: the medians of healthy runs, for `--baseline FILE` and for the rule about the past."""

from __future__ import annotations

from msgspec import Struct

SCHEMA = "healthcheck.baseline/1"

# Fewer runs say nothing about the spread between runs.
LEAST_RUNS = 3
PLACEMENTS = ("out_of_place", "in_place")


class Usual(Struct, frozen=True, forbid_unknown_fields=True):
    """Bus bandwidth of one job at one size and placement over `n` healthy runs, in GB/s (10^9).

    `hosts` is a folded node set: one name for a job of one node. `placement` is out_of_place or in_place.
    `spread_gbyte_s` is the standard deviation as the median absolute deviation gives it (1.4826 x MAD).
    """

    stage: str
    collective: str
    hosts: str
    n_ranks: int
    size_bytes: int
    placement: str
    median_gbyte_s: float
    spread_gbyte_s: float
    n: int


class Baseline(Struct, frozen=True, forbid_unknown_fields=True):
    """The file `healthcheck baseline` writes. `runs` are the ids it was made of, `platform` their machine type.

    `source` says where the numbers came from, for the record: a file, or the history of the nodes; a file does not
    know its own name, so it is empty there. `created_at` (UTC) and `tool` say when and by whom it was written.
    """

    platform: str
    simulated: bool
    runs: tuple[str, ...]
    usual: tuple[Usual, ...]
    source: str = ""
    created_at: str = ""
    tool: str = ""
    schema: str = SCHEMA
