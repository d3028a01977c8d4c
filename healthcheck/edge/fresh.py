"""What earlier runs in the results folder found of each node alone, for a gate that need not measure it again."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from healthcheck.edge.digests import simulated_fleet
from healthcheck.edge.history_index import DirectoryIndex
from healthcheck.edge.store import CIRCUMSTANCES
from healthcheck.errors import HealthcheckError
from healthcheck.model.circumstances import Circumstances
from healthcheck.model.gate import EarlierPass, Passport
from healthcheck.model.history import PastRun
from healthcheck.model.verdict import Verdict
from healthcheck.parsing.circumstances import decode_circumstances
from healthcheck.parsing.run_history import instant
from healthcheck.workflows.files_only import read_file

ALONE = "single_node"
_PASS = Verdict.PASS.name
_NOTHING_AGAINST = (_PASS, Verdict.SKIPPED.name)
_FOUND = (Verdict.FAIL.name, Verdict.DEGRADED.name)


class FolderPasses:
    """ports.Passes over the run directories below `results`. `seed` is that of a cluster this process simulates."""

    def __init__(self, results: Path, seed: int | None = None) -> None:
        self._results = results
        self._seed = seed

    def newest(self, run_id: str, simulated: bool, hosts: Collection[str], since_s: float) -> Mapping[str, EarlierPass]:
        """Of each host what the newest run says of it; a run in which something was held against it says that."""
        found: dict[str, EarlierPass] = {}
        began: dict[str, str] = {}
        try:
            runs = DirectoryIndex(self._results).past(hosts).runs
        except (HealthcheckError, OSError, ValueError):
            return found
        for run in reversed(runs):
            if instant(run.started_at).timestamp() < since_s:
                break
            if run.run_id == run_id or run.simulated != simulated or not self._same_fleet(run):
                continue
            # Of runs of one second nobody knows which was the last: what speaks against a node counts.
            settled = {host for host in found if began[host] != run.started_at or found[host].found != _PASS}
            for one in self._of(run, frozenset(hosts) - settled):
                if one.host not in found or one.found != _PASS:
                    found[one.host], began[one.host] = one, run.started_at
        return found

    def _same_fleet(self, run: PastRun) -> bool:
        fleet = simulated_fleet(self._results / run.folder)
        return (None if fleet is None else fleet.seed) == self._seed

    def _of(self, run: PastRun, wanted: Collection[str]) -> Iterator[EarlierPass]:
        alone: dict[str, list[str]] = {}
        for job in run.jobs:
            if job.stage == ALONE and len(job.hosts) == 1:
                alone.setdefault(job.hosts[0], []).append(job.verdict)
        kept: Circumstances | None = None
        for host in run.hosts:
            verdicts = alone.get(host.name, [])
            # A run that was cut off has something against everybody; what it found out counts.
            bad = host.verdict in _FOUND or (run.state == "complete" and host.verdict not in _NOTHING_AGAINST)
            if host.name not in wanted or not (bad or (verdicts and run.state == "complete")):
                continue
            kept = kept or self._circumstances(run)
            missed = next((name for name in verdicts if name != Verdict.PASS.name), Verdict.PASS.name)
            yield EarlierPass(
                host=host.name,
                run_id=run.run_id,
                measured_s=instant(kept.oldest_job or run.started_at).timestamp(),
                found=host.verdict if bad else missed,
                passport=kept.passports.get(host.name, Passport()),
                playbook_sha256=run.playbook_sha256,
                platform_sha256=kept.platform_sha256,
                thresholds=kept.thresholds,
                baseline_sha256=kept.baseline_sha256,
                measured=kept.alone,
            )

    def _circumstances(self, run: PastRun) -> Circumstances:
        """What was kept beside the raw output; nothing where it is gone, so that nothing is known to be the same."""
        path = self._results / run.folder / CIRCUMSTANCES
        try:
            return decode_circumstances(read_file(path), str(path))
        except (HealthcheckError, OSError, ValueError):
            return Circumstances()
