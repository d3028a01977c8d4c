"""What two runs say beside each other: who moved beyond noise, what could not be compared, and what was changed."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from healthcheck.model.message import Message

SCHEMA = "healthcheck.compare/1"
EXIT_SAME, EXIT_NOT_COMPARABLE, EXIT_WORSE = 0, 3, 4


class Direction(StrEnum):
    """Which way something went from BEFORE to AFTER; `unknown` where one of them does not know."""

    WORSE = "worse"
    BETTER = "better"
    SAME = "same"
    UNKNOWN = "unknown"


class Answer(StrEnum):
    """The first word of the answer. `incomplete`: nothing worse among what was compared, and not all of it was."""

    WORSE = "worse"
    INCOMPARABLE = "incomparable"
    INCOMPLETE = "incomplete"
    BETTER = "better"
    SAME = "same"


class Side(Struct, frozen=True):
    """One of the two runs. `verdict` by its name; `nodes` is how many hosts were named."""

    run_id: str
    started_at: str
    state: str
    verdict: str
    simulated: bool
    platform: str | None
    playbook: str
    nodes: int


class CellChange(Struct, frozen=True):
    """One size and placement over all subjects of a group: medians in GB/s, and what follows from them in per cent.

    `median_change_percent` is the median of the changes, which decides.
    """

    size_bytes: int
    placement: str
    before_gbyte_s: float
    after_gbyte_s: float
    change_percent: float
    median_change_percent: float
    direction: Direction


class GroupChange(Struct, frozen=True):
    """All jobs of one kind side by side: one stage, collective, number of nodes a job, ranks and range of sizes.

    `subjects` are the pairs that were compared: nodes where a job has one node, else jobs. The bandwidths are the
    medians of what each is judged by (`model/judged.py`) over the sizes of both runs; `change_percent` follows.
    `median_change_percent` is what decides: the median over the subjects of the median change of each, size by size.
    `noise_percent` is one standard deviation of the change of one of them, which counts from `bar_percent` on, the
    median from `fleet_bar_percent` on (None for fewer than five subjects: each stands for itself). `saturated` is False
    for the sizes below those that are judged.
    """

    stage: str
    collective: str
    nodes_a_job: int
    n_ranks: int
    saturated: bool
    subjects: int
    before_gbyte_s: float
    after_gbyte_s: float
    change_percent: float
    median_change_percent: float
    noise_percent: float
    bar_percent: float
    fleet_bar_percent: float | None
    noise_from: Message
    direction: Direction
    cells: tuple[CellChange, ...]


class Moved(Struct, frozen=True):
    """One node (or one job of several) that moved beyond noise, or did not move with all the others.

    `hosts` is a folded node set. `from_fleet_percent` is the change beside the median of the others, None where there
    are too few of them. `saturated` is False for the sizes below those that are judged. `size_bytes` and `placement`
    are set where only that size and placement moved. Bandwidths and changes are told as in `GroupChange`.
    `direction` SAME: it did not follow the others.
    """

    stage: str
    collective: str
    hosts: str
    nodes: int
    n_ranks: int
    direction: Direction
    before_gbyte_s: float
    after_gbyte_s: float
    change_percent: float
    median_change_percent: float
    bar_percent: float
    saturated: bool = True
    from_fleet_percent: float | None = None
    size_bytes: int | None = None
    placement: str | None = None


class VerdictChange(Struct, frozen=True):
    """Verdicts (by name) that are not what they were: of hosts (`stage` empty) or of the jobs of a stage.

    `reason` is what AFTER says about it; of what is PASS now and has nothing against it, what BEFORE said that is gone.
    `within_noise`: all numbers of the host are there and none moved.
    """

    hosts: str
    nodes: int
    stage: str
    collective: str
    before: str
    after: str
    direction: Direction
    reason: Message | None
    within_noise: bool = False


class Absent(Struct, frozen=True):
    """Nodes that were measured in one of the two runs only; `reason` is what the other run says of them."""

    hosts: str
    nodes: int
    stages: tuple[str, ...]
    reason: Message


class Change(Struct, frozen=True):
    """A version or setting that differs between the runs; `nodes` is a folded node set, empty where it is of the run.

    Of the `compared` nodes `count` have this change. Of those that were measured in both runs `changed_worse` of
    `changed` and `unchanged_worse` of `unchanged` got worse; `hint` says what that speaks for, None where nobody did.
    """

    name: str
    before: str
    after: str
    nodes: str = ""
    count: int = 0
    compared: int = 0
    changed: int = 0
    changed_worse: int = 0
    unchanged: int = 0
    unchanged_worse: int = 0
    hint: Message | None = None


class Comparison(Struct, frozen=True):
    """Two runs side by side. `not_compared` names everything that could not be, `notes` what a reader should know.

    `compared` are the nodes measured alone in both runs, `worse` and `better` those that moved or were judged so.
    """

    answer: Answer
    exit_code: int
    before: Side
    after: Side
    compared: int
    worse: tuple[str, ...]
    better: tuple[str, ...]
    groups: tuple[GroupChange, ...] = ()
    moved: tuple[Moved, ...] = ()
    verdicts: tuple[VerdictChange, ...] = ()
    missing: tuple[Absent, ...] = ()
    new: tuple[Absent, ...] = ()
    not_compared: tuple[Message, ...] = ()
    changes: tuple[Change, ...] = ()
    notes: tuple[Message, ...] = ()
