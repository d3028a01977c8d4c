"""A run as it lies on disk, read back to be judged again: its raw output and its looks, and what of them is gone."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from msgspec.structs import replace

from healthcheck.errors import InputError, StoreError
from healthcheck.evaluation.integrity import RAW_GONE
from healthcheck.model.circumstances import LookMade
from healthcheck.model.collective import Collective
from healthcheck.model.command import CollectiveJob, CommandResult, ExitKind, JobOutcome
from healthcheck.model.component import node
from healthcheck.model.finding import CheckResult
from healthcheck.model.host import Host
from healthcheck.model.measurement import OutputState, ParsedOutput, ParseWarning
from healthcheck.model.message import say
from healthcheck.model.node import NodeFacts
from healthcheck.model.playbook import PROBE_STAGE
from healthcheck.model.record import JobRecord, RunRecord
from healthcheck.model.verdict import Verdict
from healthcheck.ports import RunStore
from healthcheck.probes import gpu_state
from healthcheck.probes.batch import split
from healthcheck.probes.read import read_node
from healthcheck.workflows.raw_output import exit_code_of, launch_error, read_output, sizes

RAW_CHECK = "run.raw"
_UNDER_LOAD = frozenset({gpu_state.LOADED_CLOCKS_CHECK, gpu_state.LOADED_PCIE_CHECK})


def stored_outcomes(record: RunRecord, store: RunStore) -> tuple[JobOutcome, ...]:
    """The jobs of a record in its order, each read again from what it printed. A damaged one says so in a warning.

    What was measured later than the record was written is not among them: nobody has judged it.
    """
    kept = store.outcomes()
    return tuple(
        _read_again(kept[job.id], store) if job.id in kept else _unknown(job, record, store) for job in record.jobs
    )


def _read_again(outcome: JobOutcome, store: RunStore) -> JobOutcome:
    job, damage = outcome.job, ""
    raw = store.raw_text_files(job.id, job.stage)
    try:
        output = read_output(raw, outcome.argv, exit_code_of(outcome.result))
        error = launch_error(raw, outcome.result)
        left = sizes(raw)
    except (StoreError, OSError) as problem:
        return replace(outcome, output=_nothing(str(problem).replace(f"{store.folder}/", "")))
    for path, now, then in zip(raw, left, outcome.raw_bytes or left, strict=True):
        if now != then:
            damage = f"{_below(path, store)} has {now} of {then} bytes"
    logs = sum(_size(path) for _, path in store.nccl_logs(job.id, job.stage))
    if logs < outcome.nccl_bytes and not damage:
        damage = f"the NCCL logs in {_below(raw[0].parent, store)} have {logs} of {outcome.nccl_bytes} bytes"
    if damage:
        output = replace(output, warnings=(*output.warnings, ParseWarning(RAW_GONE, damage)))
    return replace(outcome, output=output, launch_error=error)


def _unknown(job: JobRecord, record: RunRecord, store: RunStore) -> JobOutcome:
    """A job of which only the record tells: how it ended is gone, so nothing it printed proves anything."""
    hosts = job.hosts
    if job.collective not in set(Collective) or not hosts:
        raise InputError(record.run_id, f"its record names a job {job.id!a} of {job.collective!a}, which is none")
    raw, _ = store.raw_text_files(job.id, job.stage)
    planned = CollectiveJob(
        id=job.id,
        stage=job.stage,
        collective=Collective(job.collective),
        hosts=hosts,
        ranks_per_host=(job.n_ranks // len(hosts),) * len(hosts),
        launch_host=hosts[0],
        min_bytes=0,
        max_bytes=0,
        factor=2,
        iterations=0,
        warmup=0,
        check=False,
        timeout_s=0.0,
    )
    result = CommandResult(ExitKind.EXITED, None, job.duration_s)
    damage = f"{_below(raw.parent, store)}/outcome.json cannot be read"
    return JobOutcome(planned, job.command, job.started_at, result, _nothing(damage))


def _nothing(damage: str) -> ParsedOutput:
    return ParsedOutput(OutputState.EMPTY, None, None, warnings=(ParseWarning(RAW_GONE, damage),))


def stored_facts(host: Host, when: str, made: LookMade, store: RunStore) -> NodeFacts | CheckResult:
    """What a node answered, read again; a result that says so where the answer is gone."""
    text = store.look(host.name, when) or ""
    answers = split(text, made.nonce)
    if answers and len(text) == made.characters:
        return read_node(host.name, answers, (made.asked_s, made.answered_s))
    folder = store.raw_text_files(host.name, PROBE_STAGE)[0].parent
    message = say("rejudge.look_gone", path=f"{_below(folder, store)}/{when}")
    return CheckResult(RAW_CHECK, node(host.name), Verdict.INCONCLUSIVE, message, "raw.gone", PROBE_STAGE)


def missing_under_load(
    checks: Collection[CheckResult], jobs: Mapping[str, Collection[JobOutcome]], store: RunStore
) -> Iterator[CheckResult]:
    """Hosts that were judged by a look under load which is gone. `jobs`: those of each host alone."""
    judged = dict.fromkeys(
        (check.component.host, check.stage) for check in checks if check.check in _UNDER_LOAD and check.component.host
    )
    for host, stage in judged:
        own = [outcome.job for outcome in jobs.get(host or "", ()) if outcome.job.stage == stage]
        if own and all(store.under_load(job.id, stage) is None for job in own):
            raw, _ = store.raw_text_files(own[-1].id, stage)
            message = say("rejudge.under_load_gone", path=f"{_below(raw.parent, store)}/under_load")
            yield CheckResult(RAW_CHECK, node(host or ""), Verdict.INCONCLUSIVE, message, "raw.gone", stage)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _below(path: Path, store: RunStore) -> str:
    """A path as it stands in the run directory."""
    return str(path.relative_to(store.folder))
