"""`healthcheck vitals budget`: what reducing the gradients costs, and which busbw keeps it small."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from healthcheck.cli import options
from healthcheck.cli.language import on_stdout
from healthcheck.model.vitals_mfu import Dtype

if TYPE_CHECKING:
    from pathlib import Path

    from healthcheck.model.message import Message
    from healthcheck.model.vitals_mfu import MeasuredBusbw

_MOST = 10_000_000
EXAMPLE = "Example: healthcheck vitals budget --params 13B --dp 128 --busbw 200 --step-time 2.4s"


def _count(name: str, help: str) -> Any:
    return typer.Option(name, min=1, max=_MOST, help=help)


def command(
    params: Annotated[str | None, typer.Option(help="Parameters of the model: 13B.")] = None,
    gradient_bytes: Annotated[
        str | None, typer.Option(help="Gradients of one GPU, 26GB or 26GiB, instead of --params.")
    ] = None,
    dtype: Annotated[Dtype, typer.Option(help="What gradients are reduced in.")] = Dtype.BF16,
    param_dtype: Annotated[
        Dtype | None, typer.Option(help="What --zero gathers parameters in. Default: as gradients.")
    ] = None,
    dp: Annotated[int | None, _count("--dp", "Data-parallel ranks N, over which gradients are reduced.")] = None,
    gpus: Annotated[int | None, _count("--gpus", "All GPUs; N is what --tp and --pp leave of them.")] = None,
    tp: Annotated[int, _count("--tp", "Tensor-parallel ranks.")] = 1,
    pp: Annotated[int, _count("--pp", "Pipeline stages.")] = 1,
    zero: Annotated[int, typer.Option(min=0, max=3, help="ZeRO stage; FSDP is 3.")] = 0,
    busbw: Annotated[str | None, typer.Option(help="BusBW of all_reduce in GB/s, as nccl-tests prints it.")] = None,
    record: Annotated[
        str | None, typer.Option(metavar="RUN", help="Take the busbw that this check-up measured between nodes.")
    ] = None,
    collective_time: Annotated[
        str | None, typer.Option(help="Time of the collectives in a step, as a trace shows it: 452ms.")
    ] = None,
    step_time: Annotated[str | None, typer.Option(help="Time of a step: 2.4s, 2400ms.")] = None,
    target: Annotated[
        str | None, typer.Option(help="Share of the step the gradients may take, a rule of thumb. [15%]")
    ] = None,
    claimed_share: Annotated[str | None, typer.Option(help="A share that somebody printed: does it follow?")] = None,
    results: options.Results = options.DEFAULT_RESULTS,
    json: options.Json = False,
    lang: options.Lang = None,
) -> None:
    """Say how long reducing the gradients takes, its share of a step if nothing overlaps, and the busbw it needs.

    BusBW is the column of nccl-tests, which holds the factor 2(N-1)/N already.

    Exit code: 0; 2 for inputs that contradict each other; 3 when the check-up of --record measured nothing to go by.
    """
    from healthcheck.cli.exits import out
    from healthcheck.cli.vitals_budget_asked import BudgetOptions, question
    from healthcheck.model.vitals_mfu import BUDGET_SCHEMA
    from healthcheck.parsing.record_codec import encode_document
    from healthcheck.reporting.budget_text import budget_lines
    from healthcheck.vitals.budget import budget

    given = BudgetOptions(
        params=params,
        gradient_bytes=gradient_bytes,
        busbw=busbw,
        record=record,
        collective_time=collective_time,
        step_time=step_time,
        target=target,
        claimed_share=claimed_share,
        dtype=dtype,
        param_dtype=param_dtype,
        dp=dp,
        gpus=gpus,
        tp=tp,
        pp=pp,
        zero=zero,
    )
    asked = question(given, lambda of: _measured(record, results, of))
    found = budget(asked)
    if json:
        out(encode_document(BUDGET_SCHEMA, found).rstrip("\n"))
    else:
        with on_stdout(lang):
            for line in budget_lines(found):
                out(line)
    raise typer.Exit(found.exit_code)


def _measured(record: str | None, results: Path, gpus: int | None) -> MeasuredBusbw | Message | None:
    """What the check-up that was named measured, or why it measured nothing; None where none was named."""
    from healthcheck.edge.digests import read_digest, run_folders
    from healthcheck.errors import InputError
    from healthcheck.vitals.link_bandwidth import measured_busbw

    if record is None:
        return None
    if not record.strip():
        raise InputError("--record", "is empty; name a run directory, or a run id below --results")
    folders = run_folders(record, results)
    if len(folders) > 1:
        raise InputError("--record", f"{record} holds {len(folders)} runs; name one of them, such as {folders[-1]}")
    return measured_busbw(read_digest(folders[0]), gpus)
