"""The record of a run: `record.json`, of which every report is a view. Its keys are read by other programs."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from healthcheck.model.finding import CheckResult, Finding
from healthcheck.model.fleet import FleetSetting
from healthcheck.model.gate import GateRecord
from healthcheck.model.host import Host
from healthcheck.model.measurement import CollectiveRow
from healthcheck.model.message import Message
from healthcheck.model.platform import Limit, Platform
from healthcheck.model.playbook import Playbook
from healthcheck.model.search import SearchRecord
from healthcheck.model.slurm import InJob
from healthcheck.model.verdict import Verdict

SCHEMA = "healthcheck.run/1"


class HostRecord(Struct, frozen=True):
    """One host that was named. `reasons` say why it is not PASS; `tries` of the connection are inside them."""

    name: str
    verdict: Verdict
    reasons: tuple[Message, ...] = ()
    labels: tuple[tuple[str, str], ...] = ()
    may_still_run: bool = False


class JobRecord(Struct, frozen=True):
    """One job. `rows` as parsed; `command` is the exact argv; `raw` is its folder below `raw/`.

    `verdict` None: it ran and was not judged by itself, for it is evidence of a search (docs/adr/0010).
    """

    id: str
    stage: str
    collective: str
    hosts: tuple[str, ...]
    n_ranks: int
    verdict: Verdict | None
    rows: tuple[CollectiveRow, ...] = ()
    command: tuple[str, ...] = ()
    raw: str = ""
    started_at: str = ""
    duration_s: float = 0.0
    reasons: tuple[Message, ...] = ()

    @property
    def judged_as(self) -> Verdict:
        """The verdict; INCONCLUSIVE where nobody judged it, for what was not judged is never green."""
        return Verdict.INCONCLUSIVE if self.verdict is None else self.verdict


class Owner(Struct, frozen=True, omit_defaults=True):
    """Whose run it is: enough to know whether that process is still alive (pid and its start time).

    `in_job` is the Slurm job it is a part of: from another machine, that tells.
    """

    user: str
    machine: str
    pid: int
    pid_started: str
    token: str
    in_job: InJob | None = None


class Provenance(Struct, frozen=True):
    """Where everything came from. `only` is the one stage that was asked for, empty for all of the playbook."""

    tool: str
    versions: dict[str, str] = {}
    limits: tuple[Limit, ...] = ()
    playbook_sha256: str = ""
    hostfile: str = ""
    arguments: tuple[str, ...] = ()
    only: str = ""


class RunRecord(Struct, frozen=True):
    """A whole run. `state` is `incomplete` until the last stage has ended and was judged; `search` if there was one.

    `proven_together` are the hosts of the job that proved them; `healthy_hosts` those among them that are PASS. `gate`
    is what was asked of a gate and what it left out, None for any other run.
    """

    run_id: str
    state: Literal["incomplete", "complete", "interrupted"]
    verdict: Verdict
    exit_code: int | None
    simulated: bool
    started_at: str
    finished_at: str | None
    platform: Platform | None
    playbook: Playbook
    owner: Owner
    hosts: tuple[HostRecord, ...] = ()
    jobs: tuple[JobRecord, ...] = ()
    checks: tuple[CheckResult, ...] = ()
    findings: tuple[Finding, ...] = ()
    healthy_hosts: tuple[str, ...] = ()
    excluded_hosts: tuple[str, ...] = ()
    notes: tuple[Message, ...] = ()
    provenance: Provenance = Provenance(tool="")
    inventory: tuple[Host, ...] = ()
    fleet: tuple[FleetSetting, ...] = ()
    search: SearchRecord | None = None
    proven_together: tuple[str, ...] = ()
    gate: GateRecord | None = None
    schema: str = SCHEMA
