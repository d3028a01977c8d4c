"""`healthcheck vitals log`: step time, rates and goodput from the log of a training."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from healthcheck.cli import options
from healthcheck.cli.language import on_stdout
from healthcheck.model.training import Framework, LogFacts
from healthcheck.model.vitals_mfu import Dtype, Recompute

EXAMPLE = "Example: healthcheck vitals log train.log --gpu H100 --gpus 512 --params 70B"
_MOST = 1_000_000_000

if TYPE_CHECKING:
    from healthcheck.vitals.log_rows import Training
    from healthcheck.vitals.logs.reader import LogReader


def command(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...", help="Logs of one training (.gz too), or Megatron's progress.txt; - is stdin."
        ),
    ],
    format: Annotated[
        Framework | None, typer.Option("--format", help="Whose lines they are. Default: what they look like.")
    ] = None,
    window: Annotated[
        str | None, typer.Option("--window", help="Only this part: FROM..TO in steps, or in the time of the lines.")
    ] = None,
    tokens_per_step: Annotated[
        str | None, typer.Option("--tokens-per-step", help="Where the log lacks it: tokens of a step, all GPUs; 4M.")
    ] = None,
    global_batch: Annotated[
        int | None,
        typer.Option("--global-batch", min=1, max=_MOST, help="Where the log lacks it: samples of a step, all GPUs."),
    ] = None,
    seq_len: Annotated[int | None, typer.Option("--seq-len", min=1, max=_MOST, help="Tokens of a sample.")] = None,
    gpus: Annotated[int | None, typer.Option("--gpus", min=1, max=_MOST, help="How many GPUs train.")] = None,
    gpu: Annotated[str | None, typer.Option("--gpu", help="Their name, as nvidia-smi prints it: for MFU.")] = None,
    params: Annotated[str | None, typer.Option("--params", help="Parameters of the model, 13B: for MFU.")] = None,
    active_params: Annotated[
        str | None, typer.Option("--active-params", help="Of a mixture of experts, those that a token meets.")
    ] = None,
    layers: Annotated[int | None, typer.Option("--layers", min=1, max=_MOST, help="Layers of the model.")] = None,
    hidden: Annotated[int | None, typer.Option("--hidden", min=1, max=_MOST, help="Hidden size of the model.")] = None,
    vocab: Annotated[
        int | None, typer.Option("--vocab", min=1, max=_MOST, help="Padded size of the vocabulary.")
    ] = None,
    dtype: Annotated[Dtype, typer.Option("--dtype", help="What is computed in.")] = Dtype.BF16,
    recompute: Annotated[
        Recompute, typer.Option("--recompute", help="Activations that are computed again: for HFU.")
    ] = Recompute.NONE,
    json: options.Json = False,
    csv: Annotated[
        bool, typer.Option("--csv", help="One line a report: step, time, tokens, what became of it.")
    ] = False,
    html: options.Html = None,
    lang: options.Lang = None,
) -> None:
    """Read the log of a training: Step Time, tokens/s, MFU, goodput, and where the lost time went.

    Megatron-LM, DeepSpeed, torchtitan, NeMo and others are told apart by their lines. Several files are the copies of
    ranks or successive pieces of one training. Exit code: 0, or 3 when there are too few steps to say.
    """
    import sys

    from healthcheck.cli.exits import out
    from healthcheck.cli.html_page import check_place, write_page
    from healthcheck.cli.terminal import width
    from healthcheck.cli.vitals_amounts import amount
    from healthcheck.edge.gpu_peaks import shipped_peaks
    from healthcheck.errors import InputError
    from healthcheck.model.vitals_log import SCHEMA
    from healthcheck.model.vitals_mfu import ModelShape
    from healthcheck.parsing.amounts import count_of
    from healthcheck.parsing.record_codec import encode_document
    from healthcheck.reporting.training_page import TrainingShown, render_training
    from healthcheck.reporting.vitals_log import log_lines
    from healthcheck.reporting.vitals_log_csv import csv_lines
    from healthcheck.vitals.log_vitals import Asked, see, vitals_of
    from healthcheck.vitals.log_window import parse_window
    from healthcheck.vitals.log_work import GivenWork

    if json and csv:
        raise InputError("--csv", "cannot be combined with --json; choose one of them")
    asked = Asked(
        given=GivenWork(
            tokens_per_step=amount("--tokens-per-step", tokens_per_step, count_of),
            global_batch=global_batch,
            seq_len=seq_len,
            gpus=gpus,
        ),
        shape=ModelShape(
            params=amount("--params", params, count_of),
            active_params=amount("--active-params", active_params, count_of),
            layers=layers,
            hidden=hidden,
            seq_len=seq_len,
            vocab=vocab,
        ),
        gpu=gpu,
        dtype=dtype,
        recompute=recompute,
        window=None if window is None else parse_window(window),
    )
    if html is not None:
        check_place(html)
    seen = see(read_logs(files, format), asked)
    if csv:
        for line in csv_lines(seen):
            out(line)
        return
    vitals = vitals_of(seen, asked, shipped_peaks())
    if html is not None:
        write_page(html, render_training(TrainingShown(logs=(vitals,))))
    with on_stdout(lang, json):
        if json:
            out(encode_document(SCHEMA, vitals).rstrip("\n"))
        else:
            out("\n".join(log_lines(vitals, width(sys.stdout))))
    raise typer.Exit(vitals.exit_code)


def read_logs(files: list[str], format: Framework | None) -> list[Training]:
    """Every file by itself; InputError where none of them has a step, naming what was looked for."""
    from functools import partial

    from healthcheck.edge.training_logs import chunks_of
    from healthcheck.errors import InputError
    from healthcheck.vitals.log_intake import Intake
    from healthcheck.vitals.logs.lines import lines_of
    from healthcheck.vitals.logs.reader import LogReader

    twice = next((name for place, name in enumerate(files) if name in files[:place]), None)
    if twice is not None:
        raise InputError(twice, "is named twice; name every file once")
    found = []
    for name in files:
        reader = LogReader(format)
        intake = Intake(_readable(name), partial(_facts_of, reader))
        with chunks_of(name) as chunks:
            intake.add_all(reader.read(lines_of(chunks)))
        framework = reader.framework
        if framework is not None:
            found.append(intake.training(framework, reader.facts, reader.remarks))
    if not any(len(one.rows) for one in found):
        known = ", ".join(framework.value for framework in Framework)
        whose = f"no steps of {format.value}" if format else f"no steps of any framework that is known ({known})"
        raise InputError(files[0], f"has {whose}; name the log in which the training prints its steps")
    return found


def _facts_of(reader: LogReader) -> LogFacts:
    return reader.facts


def _readable(name: str) -> str:
    """A name of a file as text that can be written anywhere."""
    return name.encode("utf-8", "replace").decode("utf-8")
