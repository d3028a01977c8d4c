"""What does a simulated node answer? Exactly the commands healthcheck sends, and nothing else."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from healthcheck.launchers.rank_log import ALL, LOWEST_PID, RANK_MARK, TAKE_MARK, frame
from healthcheck.model.host import Host
from healthcheck.probes.batch import PROBE_MARK
from healthcheck.probes.leftovers import SWEEP_END, SWEEP_MARK
from healthcheck.simulator import mpi_texts
from healthcheck.simulator.benchmark import (
    Run,
    collective_of,
    failing_rank,
    lacking_gpus,
    parse_options,
    pid_of,
    reply,
)
from healthcheck.simulator.cluster import Ran, SimCluster, SimNode
from healthcheck.simulator.nccl_log import rank_log
from healthcheck.simulator.nodes import CACHE, MPI_VERSION, USER_ID, probe_batch
from healthcheck.simulator.rank_settings import selected
from healthcheck.simulator.reply import Reply, at_once
from healthcheck.workflows.cleanup import TIDY_MARK

HASH_NAME = "healthcheck-hash"
NOT_ANSWERED = "simulated node: only what healthcheck sends is answered\n"


def answer(cluster: SimCluster, host: Host, argv: Sequence[str], files: Mapping[str, bytes]) -> Reply:
    """The reply of `host` to `argv`; `files` are those pushed to it, by absolute path.

    A command that healthcheck does not send ends with exit code 127.
    """
    node = cluster.node(host.name)
    if node is None:
        return at_once(stderr=NOT_ANSWERED, exit_code=127)
    words = tuple(argv)
    if words == ("true",):
        return at_once()
    if words[:2] == ("sh", "-c") and len(words) > 4 and words[3] == PROBE_MARK:
        return probe_batch(cluster, node, words[4:])
    if words[:2] == ("sh", "-c") and len(words) > 3 and words[3] in (SWEEP_MARK, HASH_NAME):
        return at_once(f"{SWEEP_END}\n") if words[3] == SWEEP_MARK else _user_and_hashes(words[4:], files)
    if words[:2] == ("sh", "-c") and words[3:4] == (TIDY_MARK,) and len(words) == 5:
        return Reply(removes=f"{CACHE}/{words[4]}".rstrip("/"))
    if words[:2] == ("sh", "-c") and words[3:4] == (TAKE_MARK,) and len(words) == 9:
        return at_once(_taken_logs(cluster, host.name, words[4:]))
    program = words[0].rpartition("/")[2] if words else ""
    if program in ("mpirun", "mpiexec"):
        return at_once(MPI_VERSION) if words[1:] == ("--version",) else _mpirun(cluster, node, words, files)
    if program == "sha256sum":
        return _sha256sum(words[1:], files)
    return at_once(stderr=NOT_ANSWERED, exit_code=127)


class _Launch(Struct, frozen=True):
    """An mpirun command line, read. `hosts` are (name, slots), `env` what it hands on to the ranks, `log_folder` where
    they write their NCCL logs, empty for nowhere."""

    hosts: tuple[tuple[str, int], ...]
    processes: int
    program: str
    arguments: tuple[str, ...]
    env: tuple[tuple[str, str], ...] = ()
    log_folder: str = ""


def _mpirun(cluster: SimCluster, node: SimNode, argv: tuple[str, ...], files: Mapping[str, bytes]) -> Reply:
    launch = _read_launch(node, argv, files)
    if isinstance(launch, Reply):
        return launch
    collective = collective_of(launch.program)
    if collective is None:
        return at_once(stderr=mpi_texts.no_executable(node.name, launch.program), exit_code=132)
    unknown = [name for name, _ in launch.hosts if name not in cluster.nodes]
    if unknown:
        return at_once(stderr=mpi_texts.unresolvable(unknown[0]), exit_code=255)
    dead = [name for name, _ in launch.hosts if cluster.nodes[name].unreachable and name != node.name]
    if dead:
        return at_once(stderr=mpi_texts.refused(dead[0]), exit_code=255)
    ranks = _placed(launch)
    if sum(ranks) < launch.processes:
        return at_once(stderr=mpi_texts.too_few_slots(launch.processes, launch.program), exit_code=1)
    try:
        options = parse_options(launch.arguments)
    except ValueError as error:
        return at_once(stderr=f"{error}\n", exit_code=255)
    hosts = tuple(name for (name, _), count in zip(launch.hosts, ranks, strict=True) if count)
    ranks = tuple(count for count in ranks if count)
    key = f"{collective.value} {' '.join(hosts)} {ranks[0]}{selected(launch.env)}"
    run = Run(cluster, collective, hosts, ranks, options, f"{key} #{cluster.times_run(key)}", env=launch.env)
    return _started(run, launch)


def _started(run: Run, launch: _Launch) -> Reply:
    """The program on its nodes, with what mpirun adds when it fails."""
    answered = reply(run)
    run.cluster.put_to_work(run.hosts, answered.duration_s)
    # A process without a GPU ends before NCCL says a word, and takes the others with it.
    if launch.log_folder and lacking_gpus(run) is None:
        run.cluster.leave_logs(launch.log_folder, Ran(run.hosts, run.ranks, run.options.sizes, launch.env))
    if answered.exit_code == 0 or answered.hangs:
        return answered
    return replace(answered, stderr=answered.stderr + mpi_texts.nonzero_exit(failing_rank(run), answered.exit_code))


def _read_launch(node: SimNode, argv: tuple[str, ...], files: Mapping[str, bytes]) -> _Launch | Reply:
    at = next((index for index, word in enumerate(argv) if word.rpartition("/")[2].endswith("_perf")), len(argv))
    if at == len(argv):
        return at_once(stderr=NOT_ANSWERED, exit_code=127)
    options = argv[1:at]
    hosts: list[tuple[str, int]] = [(node.name, 1)]
    processes = 0
    for name, value in itertools.pairwise(options):
        if name in ("-np", "-n", "--np", "-c") and value.isdigit():
            processes = int(value)
        elif name in ("--hostfile", "-hostfile", "--machinefile", "-f"):
            content = files.get(value)
            if content is None:
                return at_once(stderr=mpi_texts.no_hostfile(value), exit_code=1)
            hosts = [_host_and_slots(line) for line in content.decode().splitlines() if line.strip()]
        elif name in ("--host", "-host", "-H", "-hosts"):
            hosts = [_host_and_slots(word) for word in value.split(",")]
    local = ("localhost", "127.0.0.1")
    hosts = [(node.name if name in local else name, slots) for name, slots in hosts]
    env = tuple(_environment(options))
    marks = [index for index, word in enumerate(options) if word == RANK_MARK]
    # A log file that the playbook asks for is not in a folder of ours.
    folder = options[marks[-1] + 1] if marks and "NCCL_DEBUG_FILE" not in dict(env) else ""
    processes = processes or sum(slots for _, slots in hosts)
    return _Launch(tuple(hosts), processes, argv[at], argv[at + 1 :], env, folder)


def _environment(options: Sequence[str]) -> Iterator[tuple[str, str]]:
    """`-x NAME=VALUE` of Open MPI, `-genv NAME VALUE` of hydra."""
    for index, word in enumerate(options[:-1]):
        if word == "-x" and "=" in options[index + 1]:
            name, _, value = options[index + 1].partition("=")
            yield name, value
        elif word == "-genv" and index + 2 < len(options):
            yield options[index + 1], options[index + 2]


def _host_and_slots(text: str) -> tuple[str, int]:
    """`name slots=8` or `name:8`; one slot where none is given."""
    name, *rest = text.split()
    head_name, colon, slots = name.rpartition(":")
    if colon and slots.isdigit():
        return head_name, int(slots)
    given = next((word.partition("=")[2] for word in rest if word.startswith("slots=")), "1")
    return name, int(given) if given.isdigit() else 1


def _placed(launch: _Launch) -> tuple[int, ...]:
    """Ranks a host, filled slot by slot in the order of the list."""
    left = launch.processes
    placed = []
    for _, slots in launch.hosts:
        placed.append(min(slots, left))
        left -= placed[-1]
    return tuple(placed)


def _taken_logs(cluster: SimCluster, host: str, words: Sequence[str]) -> str:
    """The NCCL logs of one job from this node; then none of any job is there. Written only when somebody asks."""
    nonce, _, folder, limit, which = words
    ran = cluster.take_logs(host).get(folder)
    if ran is None or which not in (ALL, LOWEST_PID) or int(limit) <= 0:
        return frame(nonce)
    ranks = sorted(range(ran.ranks[ran.hosts.index(host)]), key=lambda rank: pid_of(host, rank))
    wanted = ranks[:1] if which == LOWEST_PID else ranks
    short = host.partition(".")[0]
    return frame(
        nonce, tuple((f"nccl.{short}.{pid_of(host, rank)}", rank_log(cluster, ran, host, rank)) for rank in wanted)
    )


def _user_and_hashes(paths: Sequence[str], files: Mapping[str, bytes]) -> Reply:
    """`id -u`, then sha256sum."""
    hashes = _sha256sum(paths, files)
    return at_once(f"{USER_ID}\n{hashes.stdout}", hashes.stderr, hashes.exit_code)


def _sha256sum(paths: Sequence[str], files: Mapping[str, bytes]) -> Reply:
    lines, errors = [], []
    for path in paths:
        if path in files:
            lines.append(f"{hashlib.sha256(files[path]).hexdigest()}  {path}\n")
        elif path != "--":
            errors.append(f"sha256sum: {path}: No such file or directory\n")
    return at_once("".join(lines), "".join(errors), 1 if errors else 0)
