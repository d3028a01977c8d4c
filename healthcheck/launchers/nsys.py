"""A TRAINING COMMAND -> the same with `nsys profile` around it. Pure: argv in, argv out.

What is recorded is a range of steps that the training itself marks with cudaProfilerStart and cudaProfilerStop, as
little as the shares need: kernels, copies and named ranges, CUDA graphs kernel by kernel; no sampling of the CPU, which
would slow the host that is to be looked at. After the range the training is ended: nothing else ends a profiled run.
Options as in the user guide of Nsight Systems 2022 and later.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Final

from msgspec import Struct

from healthcheck.parsing.nsys_output import NO_RANK

PLACE: Final = "{nsys}"
"""Where in a training command `nsys profile` goes, if not in front."""

REPORT: Final = ".nsys-rep"
EXPORT: Final = ".sqlite"
CAPTURE_MARK: Final = "healthcheck-capture"

# These hand the ranks to somebody else: nsys in front of them would see no rank at all.
_ELSEWHERE: Final = frozenset(
    {
        "srun",
        "mpirun",
        "mpiexec",
        "mpiexec.hydra",
        "prun",
        "prterun",
        "aprun",
        "jsrun",
        "flux",
        "salloc",
        "sbatch",
        "qsub",
        "bsub",
        "ssh",
        "pdsh",
        "clush",
        "docker",
        "podman",
        "nerdctl",
        "kubectl",
        "enroot",
        "apptainer",
        "singularity",
    }
)
# NeMo's megatron_gpt_pretraining.py takes other arguments.
_MEGATRON: Final = re.compile(r"(?:^|/)pretrain_\w+\.py$")
_MEGATRON_OPTIONS: Final = ("--profile", "--profile-step-start", "--profile-step-end", "--profile-ranks")
# What tells a rank its number: torchrun, Open MPI, PMIx, hydra, srun.
_RANK: Final = "${RANK:-${OMPI_COMM_WORLD_RANK:-${PMIX_RANK:-${PMI_RANK:-${SLURM_PROCID:-}}}}}"
_OPTIONS: Final = (
    "profile",
    "--trace=cuda,nvtx",
    "--sample=none",
    "--cpuctxsw=none",
    "--capture-range=cudaProfilerApi",
    "--capture-range-end=stop-shutdown",
    "--kill=sigterm",
    "--cuda-graph-trace=node",
    "--wait=primary",
    "--force-overwrite=true",
)


class Range(Struct, frozen=True):
    """Which steps: `steps` of them from the one numbered `first`."""

    first: int
    steps: int

    @property
    def end(self) -> int:
        """The first step behind it, as Megatron counts."""
        return self.first + self.steps


def starts_elsewhere(words: Sequence[str]) -> str | None:
    """The launcher in front of a command, if its ranks are no children of it; None for any other command."""
    name = PurePosixPath(words[0]).name
    return name if name in _ELSEWHERE else None


def is_megatron(words: Sequence[str]) -> bool:
    """Whether the command names a script of Megatron-LM, which takes its arguments."""
    return any(_MEGATRON.search(word) for word in words)


def with_megatron_range(words: Sequence[str], steps: Range, ranks: Sequence[int]) -> tuple[str, ...]:
    """The command with the arguments by which Megatron calls the profiler; what the user gave himself stays."""
    given = {word.partition("=")[0] for word in words}
    values: Mapping[str, Sequence[str]] = {
        "--profile": (),
        "--profile-step-start": (str(steps.first),),
        "--profile-step-end": (str(steps.end),),
        "--profile-ranks": tuple(map(str, ranks)),
    }
    added = [word for option in _MEGATRON_OPTIONS if option not in given for word in (option, *values[option])]
    return (*words, *added)


def profile_words(nsys: str, output: str) -> tuple[str, ...]:
    """`nsys profile` with everything before the training command; `output` without its ending."""
    return (nsys, *_OPTIONS, f"--output={output}")


def profiled(words: Sequence[str], nsys: str, folder: str, node: int, ranks: Sequence[int]) -> tuple[str, ...]:
    """The training command under nsys. In front: one report of all processes of this node; at `{nsys}`: one of each
    of `ranks`, whichever node they run on."""
    if PLACE not in words:
        return (*profile_words(nsys, f"{folder}/node{node}"), *words)
    at = list(words).index(PLACE)
    return (*words[:at], *_of_ranks(nsys, folder, ranks), *words[at + 1 :])


def unprofiled(words: Sequence[str]) -> tuple[str, ...]:
    """The training command as it is."""
    return tuple(word for word in words if word != PLACE)


def export_argv(nsys: str, report: str) -> tuple[str, ...]:
    """Make the `.sqlite` file of a report, beside it."""
    target = report.removesuffix(REPORT) + EXPORT
    return (nsys, "export", "--type=sqlite", "--force-overwrite=true", f"--output={target}", report)


def _of_ranks(nsys: str, folder: str, ranks: Sequence[int]) -> tuple[str, ...]:
    """Words that start a rank, under nsys if it is one of `ranks`; the shell knows the number of each."""
    start = f'exec {shlex.join((nsys, *_OPTIONS))} --output="$o$r" "$@"'
    script = (
        f"r={_RANK}; f=$1 o=$2; shift 2; "
        f'if [ -z "$r" ]; then echo "{NO_RANK}" >&2; fi; '
        f'case $f in *,"$r",*) {start};; esac; exec "$@"'
    )
    return ("sh", "-c", script, CAPTURE_MARK, f",{','.join(map(str, ranks))},", f"{folder}/rank")
