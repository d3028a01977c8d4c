"""What machines used to read: the medians of healthy runs, for `--baseline FILE` and for the rule about the past."""

from __future__ import annotations

from msgspec import Struct

SCHEMA = "healthcheck.baseline/1"

# Fewer runs say nothing about the spread between runs.
LEAST_RUNS = 3
PLACEMENTS = ("out_of_place", "in_place")
WORSE_FRACTION = 0.05
# A spread that lets half of the bandwidth go would find nobody worse, whatever became of the machine.
LEAST_BAR_FRACTION = 0.5


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

    @property
    def bar_gbyte_s(self) -> float:
        """Below this a reading is worse than it used to be: 5 % under the median, and its own spread further down."""
        return (1 - WORSE_FRACTION) * self.median_gbyte_s - self.spread_gbyte_s

    @property
    def most_spread_gbyte_s(self) -> float:
        """A spread from here on leaves a bar of half of the median or less, which says nothing about health."""
        return (1 - WORSE_FRACTION - LEAST_BAR_FRACTION) * self.median_gbyte_s

    @property
    def is_limit(self) -> bool:
        """Whether the bar lies above half of the median."""
        return self.spread_gbyte_s < self.most_spread_gbyte_s


class Baseline(Struct, frozen=True, forbid_unknown_fields=True):
    """The file `healthcheck baseline` writes. `runs` are the ids it was made of, `platform` their machine type.

    `source` says where the numbers came from, for the record: a file, or the history of the nodes; a file does not
    know its own name, so it is empty there. `created_at` (UTC) and `tool` say when and by whom it was written.
    `fleet` says which simulated machines these are (`seed 7`): those of another seed only have the same names. It is
    empty for real machines, and where nobody can tell.
    """

    platform: str
    simulated: bool
    runs: tuple[str, ...]
    usual: tuple[Usual, ...]
    source: str = ""
    created_at: str = ""
    tool: str = ""
    fleet: str = ""
    schema: str = SCHEMA
