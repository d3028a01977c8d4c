"""What is asked of `schedule slurm` and `schedule k8s`, read and checked before a file is written."""

from __future__ import annotations

import re
from pathlib import Path

from msgspec import Struct

from healthcheck.cli.durations import duration_s
from healthcheck.cli.gate_asked import check_budget
from healthcheck.cli.schedule_asked import (
    absolute,
    notify_files,
    notify_words,
    platform_word,
    playbook_word,
    this_program,
)
from healthcheck.cli.slurm_asked import launcher_of
from healthcheck.edge.shipped import load_platform, load_playbook
from healthcheck.errors import InputError
from healthcheck.model.alert import NotifyOn
from healthcheck.model.platform import Platform
from healthcheck.model.playbook import Playbook
from healthcheck.model.schedule import Every, Schedule
from healthcheck.model.schedule_cluster import InKubernetes, UnderSlurm
from healthcheck.parsing.calendar import parse_every
from healthcheck.planning.longest import longest_s
from healthcheck.reporting.schedule.k8s import HOSTFILE, INPUTS, RESULTS, SECRETS, ssh_options

_AUTO = "auto"
# A name is that of a job, a file and (with five random letters behind it) of a pod.
_NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?")
_LABEL = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
_OBJECT = re.compile(r"[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?")
_IMAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/:@-]{0,254}")
_RESOURCE = re.compile(
    r"(?P<name>[a-z0-9][a-z0-9.-]{0,200}/[A-Za-z0-9][A-Za-z0-9._-]{0,62})(?:=(?P<count>[1-9]\d{0,2}))?"
)
_SLURM_WORD = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.,+-]{0,127}")
_LEAST_S, _MOST_S = 60.0, 7 * 86400.0


class Cluster(Struct, frozen=True, kw_only=True):
    """The flags that both have, as typed; `launcher` and `results` are those of Slurm alone."""

    playbook: str
    every: str
    keep: int
    name: str | None
    platform: str
    launcher: str | None = None
    nccl_tests: str | None
    allow_degraded: bool
    results: Path = Path()
    limit: str | None
    notify: tuple[str, ...] = ()
    notify_on: str = NotifyOn.NOT_PASS.value


def slurm_schedule(asked: Cluster) -> tuple[Schedule, float]:
    """The schedule, and the time limit in seconds. The hosts come with the allocation."""
    playbook, _ = load_playbook(asked.playbook)
    words: list[str] = []
    named = playbook.platform if asked.platform == _AUTO else asked.platform
    if named != _AUTO:
        load_platform(named)
    if asked.platform != _AUTO:
        words += ["--platform", platform_word(asked.platform)]
    if asked.launcher is not None:
        launcher_of(asked.launcher, playbook)
        words += ["--launcher", asked.launcher]
    made = Schedule(
        name=_name(asked, playbook),
        command=this_program(),
        playbook=playbook_word(asked.playbook),
        hosts="",
        results=absolute(asked.results),
        every=_every(asked.every),
        delay_s=0,
        keep=asked.keep,
        options=(*words, *_both(asked)),
        notify=notify_words(notify_files(asked.notify), asked.notify_on),
    )
    return _one_line(made), _limit_s(asked, playbook)


def gate_words(asked: Cluster) -> tuple[str, ...]:
    """What the gate, which has a playbook of its own, has to be told of this one, where no option says it already."""
    playbook, _ = load_playbook(asked.playbook)
    words: list[str] = []
    if asked.platform == _AUTO and playbook.platform != _AUTO:
        words += ["--platform", platform_word(playbook.platform)]
    if asked.launcher is None and playbook.launcher != "mpirun":
        words += ["--launcher", playbook.launcher]
    if asked.nccl_tests is None and playbook.nccl_tests.path is not None:
        words += ["--nccl-tests", playbook.nccl_tests.path]
    if playbook.nccl_tests.push is not None:
        words += ["--push", absolute(Path(playbook.nccl_tests.push))]
    return tuple(words)


def check_slurm(place: UnderSlurm) -> None:
    """InputError for a name that Slurm would not take, or a gate that could not begin."""
    names = {"--partition": place.partition, "--account": place.account, "--reservation": place.reservation}
    for option, word in names.items():
        if word and _SLURM_WORD.fullmatch(word) is None:
            raise InputError(option, f"{word!a} is no name of Slurm; use letters, digits and . _ - +")
    check_budget(duration_s("--budget", place.budget), place.budget)


def k8s_schedule(asked: Cluster) -> tuple[Schedule, float, dict[str, str], Platform | None]:
    """The schedule inside the containers, the limit in seconds, the files it reads there, and the machine type."""
    playbook, text = load_playbook(asked.playbook)
    if playbook.baseline is not None:
        raise InputError(asked.playbook, "has a baseline, a file that no container has; take that key out")
    if playbook.nccl_tests.push is not None:
        raise InputError(
            asked.playbook, "copies nccl-tests to the nodes; the image has to hold them: write nccl_tests.path"
        )
    if playbook.launcher == "srun":
        raise InputError(asked.playbook, "starts ranks by srun; in an MPIJob it is mpirun")
    inputs, words, model = {"playbook.yaml": text}, list(ssh_options()), None
    named = playbook.platform if asked.platform == _AUTO else asked.platform
    if named != _AUTO:
        model, platform_text = load_platform(named)
        inputs["platform.yaml"] = platform_text
        words += ["--platform", f"{INPUTS}/platform.yaml"]
    made = Schedule(
        name=_name(asked, playbook),
        command=("healthcheck",),
        playbook=f"{INPUTS}/playbook.yaml",
        hosts=HOSTFILE,
        results=RESULTS,
        every=_every(asked.every),
        delay_s=0,
        keep=asked.keep,
        options=(*words, *_both(asked)),
        notify=notify_words(tuple(f"{SECRETS}/{name}" for name, _ in secret_files(asked)), asked.notify_on),
    )
    return _one_line(made), _limit_s(asked, playbook), inputs, model


def check_kubernetes(place: InKubernetes) -> None:
    """InputError for what Kubernetes would not take."""
    for option, image in (("--image", place.image), ("--kubectl-image", place.kubectl_image or place.image)):
        if _IMAGE.fullmatch(image) is None:
            raise InputError(option, f"{image!a} is no image; write one such as registry.example.org/healthcheck:1")
    if _LABEL.fullmatch(place.namespace) is None:
        raise InputError("--namespace", f"{place.namespace!a} is none; use small letters, digits and -")
    if _OBJECT.fullmatch(place.claim) is None:
        problem = f"{place.claim!a} is no name of a claim; use small letters, digits, - and ."
        raise InputError("--results-claim", problem)
    path = place.host_path
    if path and (not path.startswith("/") or not path.isprintable() or ".." in path.split("/")):
        raise InputError("--results-path", f"must be absolute, such as /srv/healthcheck, got {path!a}")


def resource(text: str) -> tuple[str, int]:
    """`NAME=N` of --rdma, one where N is left out."""
    found = _RESOURCE.fullmatch(text)
    if found is None:
        raise InputError("--rdma", f"{text!a} is no resource; write one such as rdma/hca_shared_devices_a=8")
    return found["name"], int(found["count"] or 1)


def secret_files(asked: Cluster) -> tuple[tuple[str, str], ...]:
    """(name in the Secret, file here) of every list of addresses; InputError for what is none."""
    files = notify_files(asked.notify)
    return tuple((f"addresses{place if place > 1 else ''}", file) for place, file in enumerate(files, 1))


def _name(asked: Cluster, playbook: Playbook) -> str:
    name = f"healthcheck-{playbook.name}".lower() if asked.name is None else asked.name
    if _NAME.fullmatch(name) is None:
        raise InputError("--name", f"{name!a} cannot name a job; use small letters, digits and -, 40 at most")
    return name


def _every(text: str) -> Every:
    every = parse_every(text)
    if every.cron is None:
        raise InputError("--every", f"{text!r} cannot be said in the five fields of cron; write these")
    return every


def _limit_s(asked: Cluster, playbook: Playbook) -> float:
    if asked.limit is None:
        return longest_s(playbook)
    found = duration_s("--limit", asked.limit)
    if not _LEAST_S <= found <= _MOST_S:
        raise InputError("--limit", f"must lie between 1m and 7 days (168h), got {asked.limit}")
    return found


def _both(asked: Cluster) -> tuple[str, ...]:
    if asked.nccl_tests is not None and not asked.nccl_tests.startswith("/"):
        raise InputError("--nccl-tests", f"must be absolute, such as /opt/nccl-tests/build, got {asked.nccl_tests!a}")
    folder = () if asked.nccl_tests is None else ("--nccl-tests", asked.nccl_tests)
    return (*folder, *(["--allow-degraded"] if asked.allow_degraded else []))


def _one_line(made: Schedule) -> Schedule:
    for word in made.run():
        if not word.isprintable():
            raise InputError("schedule", f"{word!a} is not one line of text; no script can hold it")
    return made
