"""From flags to a request: everything read and checked before anything is touched."""

from __future__ import annotations

import hashlib
import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from healthcheck import __version__
from healthcheck.cli.exits import say
from healthcheck.cli.gate_asked import check_min_nodes
from healthcheck.cli.gate_resumed import gate_again
from healthcheck.cli.given_baseline import given_baseline
from healthcheck.cli.search_options import LOCALISE, fraction, search_time_s, with_search
from healthcheck.cli.slurm_asked import TransportName, allocated_hosts, by_steps, launcher_of, srun_engine
from healthcheck.cli.threshold_options import asked_thresholds
from healthcheck.edge.baselines import stored_baseline
from healthcheck.edge.digests import fleet_name
from healthcheck.edge.gate_files import check_places, from_anywhere
from healthcheck.edge.owner import adopt, current_owner, is_dead, still_there
from healthcheck.edge.places import is_file, is_folder
from healthcheck.edge.shipped import load_hosts, load_platform, load_playbook, shipped_platforms
from healthcheck.edge.store import DirectoryStore
from healthcheck.errors import InputError
from healthcheck.model.alert import masked
from healthcheck.model.baseline import Baseline
from healthcheck.model.command import JobOutcome
from healthcheck.model.gate import GateAsked
from healthcheck.model.host import Host
from healthcheck.model.message import say as message
from healthcheck.model.platform import Platform
from healthcheck.model.playbook import Playbook
from healthcheck.model.record import RunRecord
from healthcheck.parsing.nodeset import fold
from healthcheck.parsing.slurm import own_jobs
from healthcheck.parsing.slurm_job import job_id
from healthcheck.ports import PushFile
from healthcheck.wiring import Outside, real_outside, simulated_outside, slurm_outside
from healthcheck.workflows.files_only import read_file
from healthcheck.workflows.request import RunRequest

AUTO = "auto"
OPTIONS = "inputs/options.json"
MOST_ROUNDS = 16
DEFAULT_FOLDER = "/opt/nccl-tests/build"
# What is simulated when nobody says which machine: the common one.
SIMULATED_PLATFORM = "a100-sxm4-8gpu-8x200"


class Asked(Struct, frozen=True):
    """The flags of run, plan, probe and their kin, as typed by the user."""

    hosts: str | None
    playbook: str = "quick"
    platform: str = AUTO
    results: Path = Path("reports")
    simulate: int | None = None
    seed: int = 0
    run_seed: int | None = None
    leaf_size: int = 8
    faults: tuple[str, ...] = ()
    job_seconds: float = 0.0
    ssh_config: Path | None = None
    accept_new_host_keys: bool = False
    allow_busy: bool = False
    allow_degraded: bool = False
    nccl_tests: str | None = None
    push: Path | None = None
    only: str | None = None
    launch_from: str = "first"
    launcher: str | None = None
    transport: TransportName = "auto"
    max_rounds: int | None = None
    budget: str | None = None
    sensitivity: str | None = None
    baseline: Path | None = None
    no_history: bool = False
    healthy: float | None = None
    broken: float | None = None
    gate: GateAsked | None = None


class Inputs(Struct, frozen=True):
    """Everything that was read, with the texts as they stood in the files (kept in `inputs/` of the run)."""

    playbook: Playbook
    playbook_text: str
    platform: Platform | None
    hosts: tuple[Host, ...]
    hosts_text: str
    baseline: Baseline | None = None


# A run as it begins: what is asked for, where it is kept, what was measured before, and the outside world.
Begun = tuple[RunRequest, DirectoryStore, dict[str, JobOutcome], Outside]


def read_inputs(asked: Asked) -> tuple[Inputs, Outside]:
    """Read playbook, platform and hosts and pick the outside world; InputError for the first that is wrong."""
    _refuse_what_no_record_holds(asked)
    search_time_s(asked.budget)
    fraction(asked.sensitivity)
    playbook, playbook_text = load_playbook(asked.playbook)
    if asked.only == LOCALISE or asked.gate is not None:
        playbook = with_search(playbook)
    name = asked.platform if asked.platform != AUTO else playbook.platform
    platform = None if name == AUTO else load_platform(name)[0]
    asked_thresholds(asked.healthy, asked.broken, playbook, platform)
    if asked.only is not None and playbook.stage(asked.only) is None:
        stages = ", ".join(stage.name for stage in playbook.stages)
        raise InputError("--only", f"{asked.only!r} is not a stage of playbook {playbook.name}; it has {stages}")
    if asked.simulate is not None:
        if launcher_of(asked.launcher, playbook) == "srun" or asked.transport == "srun":
            raise InputError("--simulate", "cannot be used together with srun: no Slurm knows simulated nodes")
        if asked.hosts is not None:
            raise InputError("--simulate", "cannot be used together with -H: choose simulated or real hosts")
        model = platform or load_platform(SIMULATED_PLATFORM)[0]
        outside, hosts = _simulated(asked, asked.simulate, model)
        _check_launch_from(asked, hosts)
        baseline = given_baseline(
            asked.baseline, playbook, asked.playbook, hosts, platform, simulated=True, fleet=fleet_name(asked.seed)
        )
        return Inputs(playbook, playbook_text, platform, hosts, "", baseline), outside
    if asked.faults:
        raise InputError("--fault", "plants a fault in a simulated cluster; it needs --simulate N")
    if asked.run_seed is not None:
        raise InputError("--run-seed", "chooses the noise of a simulated cluster; it needs --simulate N")
    hosts, hosts_text = load_hosts(asked.hosts) if asked.hosts is not None else allocated_hosts()
    _check_launch_from(asked, hosts)
    if asked.ssh_config is not None and not is_file(asked.ssh_config):
        raise InputError("--ssh-config", f"there is no file {asked.ssh_config}")
    baseline = given_baseline(asked.baseline, playbook, asked.playbook, hosts, platform, simulated=False)
    outside = _reached(asked, playbook, len(hosts))
    return Inputs(playbook, playbook_text, platform, hosts, hosts_text, baseline), outside


def _reached(asked: Asked, playbook: Playbook, n_hosts: int) -> Outside:
    """The hosts through SSH, or through steps of the allocation we are in."""
    slurm = srun_engine(asked.launcher, playbook, asked.transport)
    if by_steps(asked.transport, slurm):
        assert slurm is not None
        return slurm_outside(slurm, n_hosts)
    return real_outside(asked.ssh_config, asked.accept_new_host_keys, n_hosts)


def _simulated(asked: Asked, n: int, model: Platform) -> tuple[Outside, tuple[Host, ...]]:
    return simulated_outside(
        n, model, asked.seed, asked.faults, asked.leaf_size, asked.job_seconds, run_seed=asked.run_seed
    )


def _refuse_what_no_record_holds(asked: Asked) -> None:
    """Bytes that are no UTF-8, and a folder on the nodes that would mean another place on each of them."""
    for option, value in (
        ("-o", asked.results),
        ("--push", asked.push),
        ("--nccl-tests", asked.nccl_tests),
        ("--baseline", asked.baseline),
    ):
        text = str(value or "")
        if any("\ud800" <= char <= "\udfff" or not (char.isprintable()) for char in text):
            raise InputError(option, f"{text!a} is not one line of UTF-8 text; a report could not hold it")
    if asked.nccl_tests is not None and not asked.nccl_tests.startswith("/"):
        raise InputError("--nccl-tests", f"must be absolute, such as {DEFAULT_FOLDER}, got {asked.nccl_tests!a}")


def _check_launch_from(asked: Asked, hosts: Sequence[Host]) -> None:
    if asked.launch_from not in ("first", "local", *(host.name for host in hosts)):
        of = asked.hosts or f"the {len(hosts)} simulated nodes"
        raise InputError("--launch-from", f"{asked.launch_from!r} is neither first, local nor a host of {of}")


def new_request(asked: Asked, inputs: Inputs, run_id: str) -> RunRequest:
    """The request of a new run."""
    push, push_folder = _push_files(asked, inputs.playbook)
    real = asked.simulate is None
    slurm = srun_engine(asked.launcher, inputs.playbook, asked.transport) if real else None
    allocation = (job_id(os.environ) or "") if real and asked.hosts is None else ""
    return RunRequest(
        run_id=run_id,
        owner=current_owner(),
        hosts=inputs.hosts,
        playbook=inputs.playbook,
        platform=inputs.platform,
        platforms=shipped_platforms(),
        tool=f"healthcheck {__version__}",
        binary_folder=asked.nccl_tests or inputs.playbook.nccl_tests.path or DEFAULT_FOLDER,
        push=push,
        push_folder=push_folder,
        launch_from="local" if slurm is not None else asked.launch_from,
        launcher=launcher_of(asked.launcher, inputs.playbook),
        only=asked.only,
        allow_busy=asked.allow_busy,
        allow_degraded=asked.allow_degraded,
        simulated=asked.simulate is not None,
        playbook_sha256=hashlib.sha256(inputs.playbook_text.encode()).hexdigest(),
        hostfile=asked.hosts or (fold(host.name for host in inputs.hosts) if allocation else ""),
        arguments=masked(tuple(sys.argv[1:])),
        slurm_jobs=own_jobs(os.environ),
        slurm=slurm,
        allocation=allocation,
        max_rounds=asked.max_rounds or MOST_ROUNDS,
        budget_s=search_time_s(asked.budget),
        sensitivity=fraction(asked.sensitivity),
        thresholds=asked_thresholds(asked.healthy, asked.broken, inputs.playbook, inputs.platform),
        baseline=inputs.baseline,
        history=not asked.no_history,
        gate=asked.gate,
    )


def _push_files(asked: Asked, playbook: Playbook) -> tuple[tuple[PushFile, ...], str]:
    """The executables to copy and the cache folder they go to; the folder's name is the digest of the content."""
    wanted = asked.push or (Path(playbook.nccl_tests.push) if playbook.nccl_tests.push else None)
    if wanted is None:
        return (), ""
    where = "--push" if asked.push else f"playbook {playbook.name}, nccl_tests.push"
    if not is_folder(wanted):
        raise InputError(where, f"{wanted} is not a folder; give the build folder of nccl-tests")
    names = sorted({collective.binary for stage in playbook.stages for collective in stage.collectives})
    digest = hashlib.sha256()
    files = []
    for name in names:
        path = wanted / name
        if not is_file(path):
            raise InputError(where, f"there is no {name} in {wanted}; build nccl-tests with MPI=1")
        try:
            digest.update(read_file(path))
        except OSError as error:
            raise InputError(where, f"{path} cannot be read: {error.strerror}") from None
        files.append(PushFile(name, 0o700, source=str(path.resolve())))
    return tuple(files), f"bin/{digest.hexdigest()[:16]}"


def encode_asked(asked: Asked) -> str:
    """The flags of a run, for `inputs/` of the run, so that `--resume` needs none of them again."""
    push, baseline = (None if path is None else path.resolve() for path in (asked.push, asked.baseline))
    ssh_config = None if asked.ssh_config is None else asked.ssh_config.absolute()
    gate = None if asked.gate is None else from_anywhere(asked.gate)
    absolute = replace(asked, push=push, baseline=baseline, ssh_config=ssh_config, gate=gate)
    return msgspec.json.format(msgspec.json.encode(absolute, enc_hook=str), indent=1).decode() + "\n"


def _asked_before(store: DirectoryStore, asked: Asked) -> Asked:
    """The flags the run was started with; of those given now, only the ones about reaching the hosts count."""
    path = store.folder / OPTIONS
    try:
        before = msgspec.json.decode(read_file(path), type=Asked, dec_hook=lambda kind, text: kind(text))
    except (OSError, msgspec.MsgspecError) as error:
        raise InputError(str(path), f"is missing or damaged, so the run cannot be resumed: {error}") from None
    return replace(
        before,
        results=asked.results,
        ssh_config=asked.ssh_config or before.ssh_config,
        accept_new_host_keys=asked.accept_new_host_keys,
        allow_busy=asked.allow_busy or before.allow_busy,
        allow_degraded=asked.allow_degraded or before.allow_degraded,
        max_rounds=asked.max_rounds or before.max_rounds,
        budget=asked.budget or before.budget,
        sensitivity=asked.sensitivity or before.sensitivity,
        healthy=before.healthy if asked.healthy is None else asked.healthy,
        broken=before.broken if asked.broken is None else asked.broken,
        no_history=asked.no_history or before.no_history,
    )


def new_run(asked: Asked, metrics: Path | None = None) -> Begun:
    """A run of its own, with its directory and what was read in it. `metrics` is written to at its end."""
    inputs, outside = read_inputs(asked)
    # Made before the run directory, so that a mistake in the push folder touches nothing.
    request = new_request(asked, inputs, run_id="")
    if asked.gate is not None:
        check_min_nodes(asked.gate, len(inputs.hosts))
        given = (asked.hosts, asked.playbook, asked.platform, asked.baseline, asked.ssh_config)
        check_places(asked.gate, (str(one) for one in given if one is not None), asked.results, metrics)
    texts = {
        "inputs/playbook.yaml": inputs.playbook_text,
        "inputs/hostfile": inputs.hosts_text,
        OPTIONS: encode_asked(asked),
    }
    store = DirectoryStore.create(asked.results, outside.clock, texts)
    return request.named(store.folder.name), store, {}, outside


def resumed_run(asked: Asked, run: str, metrics: Path | None = None) -> Begun:
    """An earlier run, taken over by this process, with what it measured already."""
    from healthcheck.edge.clock import SystemClock

    store = DirectoryStore.open(run, asked.results, SystemClock())
    record = store.load_record()
    search = asked.only == LOCALISE
    _refuse_resume(record, run, search=search)
    if asked.baseline is not None:
        instead = shlex.join(("healthcheck", "rejudge", run, "--baseline", str(asked.baseline)))
        raise InputError("--baseline", f"a run stays with what it was begun with; finish it, then {instead}")
    asked = _asked_before(store, asked)
    if asked.gate is not None:
        check_places(asked.gate, (), store.folder.parent, metrics)
    if asked.simulate is not None:
        model = record.platform or load_platform(SIMULATED_PLATFORM)[0]
        outside, _ = _simulated(asked, asked.simulate, model)
    else:
        outside = _reached(asked, record.playbook, len(record.inventory))
    playbook = with_search(record.playbook) if search else record.playbook
    inputs = Inputs(playbook, "", record.platform, record.inventory, "", stored_baseline(store.folder))
    earlier = store.outcomes()
    gate = gate_again(asked.gate, asked.budget, record, earlier.values(), run, SystemClock().now(), search=search)
    owner = adopt(record.owner)
    request = replace(
        new_request(asked, inputs, record.run_id),
        owner=owner,
        simulated=record.simulated,
        playbook_sha256=record.provenance.playbook_sha256,
        hostfile=record.provenance.hostfile,
        arguments=record.provenance.arguments,
        gate=None if gate is None else gate.asked,
        gate_before=gate,
    )
    # From here on it is ours: a second --resume would take the first one's processes for leftovers, and end them.
    store.save_record(replace(record, state="incomplete", exit_code=None, owner=owner))
    return request, DirectoryStore(store.folder, outside.clock), earlier, outside


def _refuse_resume(record: RunRecord, run: str, *, search: bool) -> None:
    """A run that is whole may still be searched in."""
    if record.state == "complete" and not search:
        raise InputError("--resume", f"{run} is complete; start a new run, or look at it with healthcheck report {run}")
    if not is_dead(record.owner) and record.state == "incomplete":
        raise InputError("--resume", f"{run} {still_there(record.owner)}")


def in_process(record: RunRecord) -> bool:
    """Whether the hosts of a run exist only inside healthcheck. Stand-ins behind a hostfile are real hosts to us."""
    return record.simulated and not record.provenance.hostfile


def tell_leftovers(records: Sequence[RunRecord]) -> None:
    """Name the runs of this user whose owner is dead: processes of theirs may still be on the nodes."""
    for record in records:
        leftover = message("run.leftover", run_id=record.run_id, user=record.owner.user)
        say(str(message("cli.note", what=leftover)))
