"""What to run: the strict types behind a playbook file (`healthcheck playbook schema` prints them)."""

from __future__ import annotations

from typing import Literal, get_args

from msgspec import Struct, field

from healthcheck.model.collective import Collective
from healthcheck.model.platform import Thresholds
from healthcheck.model.units import Bytes, Seconds

StageName = Literal["probe", "single_node", "multi_node", "localise"]
# In the order in which a playbook may name them.
STAGES: tuple[str, ...] = get_args(StageName)
PROBE_STAGE = "probe"
BENCHMARK_STAGES = ("single_node", "multi_node")


class Sizes(Struct, frozen=True, forbid_unknown_fields=True):
    """The sweep: from `min` to `max`, each `factor` times the one before."""

    min: Bytes = field(default_factory=lambda: Bytes(512 << 20))
    max: Bytes = field(default_factory=lambda: Bytes(8 << 30))
    factor: int = 2


class Stage(Struct, frozen=True, forbid_unknown_fields=True):
    """One stage. What a kind of stage does not use is refused by `parsing.playbook`.

    `on_fail` / `on_degraded`: what happens to a node whose own job was not good enough: `exclude` (measured,
    not used in later jobs), `stop` (end the run after this stage), `continue`.
    """

    name: StageName
    collectives: tuple[Collective, ...] = (Collective.ALL_REDUCE,)
    sizes: Sizes = field(default_factory=Sizes)
    iterations: int = 20
    warmup: int = 5
    repeats: int = 1
    check: bool = True
    timeout: Seconds = field(default_factory=lambda: Seconds(600))
    stall: Seconds = field(default_factory=lambda: Seconds(180))
    on_fail: Literal["exclude", "stop", "continue"] = "exclude"
    on_degraded: Literal["exclude", "stop", "continue"] = "continue"
    thresholds: Thresholds | None = None
    unsaturated_ok: bool = False
    when: Literal["always", "not_pass"] = "always"
    budget: Seconds | None = None
    env: dict[str, str] = {}


class NcclTests(Struct, frozen=True, forbid_unknown_fields=True):
    """Where the binaries are on the nodes (`path`, a folder), or the local build folder to copy (`push`)."""

    path: str | None = None
    push: str | None = None


class Gate(Struct, frozen=True, forbid_unknown_fields=True):
    """Whether a DEGRADED run blocks (exit 4) or passes (exit 0)."""

    degraded: Literal["block", "allow"] = "block"


class Playbook(Struct, frozen=True, forbid_unknown_fields=True):
    """A whole playbook. `thresholds` None means: the platform's, else 0.70 / 0.50.

    `pins` are versions every node has to have, by the names of `model.fleet.PINNABLE`; `550.*` is a pattern.
    `baseline` is a file that `healthcheck baseline` wrote; a path begins at the folder of the playbook. `wrapper` are
    words that stand in front of the nccl-tests program of every rank, such as those that enter a container.
    """

    name: str
    stages: tuple[Stage, ...]
    description: str = ""
    platform: str = "auto"
    thresholds: Thresholds | None = None
    nccl_tests: NcclTests = NcclTests()
    launcher: Literal["mpirun", "hydra", "srun", "srun:pmix", "srun:pmi2"] = "mpirun"
    env: dict[str, str] = {}
    gate: Gate = Gate()
    pins: dict[str, str] = {}
    baseline: str | None = None
    wrapper: tuple[str, ...] = ()

    def stage(self, name: str) -> Stage | None:
        """The stage of that name, None when the playbook has none."""
        return next((stage for stage in self.stages if stage.name == name), None)
