"""`healthcheck vitals capture`: record a few steps of a training with Nsight Systems, and say where their time goes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from healthcheck.cli import options
from healthcheck.cli.language import in_english, on_stdout

if TYPE_CHECKING:
    from healthcheck.model.vitals_capture import CaptureAsked

EXAMPLE = (
    "Example: healthcheck vitals capture -H cluster.hosts --run -- torchrun --nnodes {nodes} --node-rank {node_rank} "
    "--master-addr {first} --nproc-per-node 8 pretrain_gpt.py ..."
)
SETTINGS = {"allow_interspersed_args": False}


def command(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="-- COMMAND...",
            help="The training command of one host; {nsys} where nsys starts behind a launcher, {node_rank}, {nodes}, "
            "{first} for the number of the host, how many there are, and the address of the first.",
        ),
    ],
    run: Annotated[bool, typer.Option("--run", help="Do it. Without: print the commands, run nothing.")] = False,
    hosts: Annotated[
        str | None,
        typer.Option("--hosts", "-H", help="Hosts of the training; the command starts on each. Default: here."),
    ] = None,
    on: Annotated[
        str | None, typer.Option("--on", metavar="HOST", help="Which of them to profile. [the first]")
    ] = None,
    framework: Annotated[
        Literal["auto", "megatron", "other"],
        typer.Option(help="Megatron is told the steps by arguments; any other calls the profiler by itself."),
    ] = "auto",
    first_step: Annotated[int, typer.Option(min=0, max=1_000_000_000, help="Megatron: the first step recorded.")] = 20,
    steps: Annotated[int, typer.Option(min=1, max=1000, help="Megatron: how many.")] = 3,
    ranks: Annotated[
        str | None, typer.Option(help="Ranks under nsys at {nsys}, or profiled by Megatron: 0,8 or 0-7. [0]")
    ] = None,
    nsys: Annotated[str, typer.Option(metavar="PATH", help="The nsys of the hosts.")] = "nsys",
    cwd: Annotated[
        str | None, typer.Option(metavar="FOLDER", help="Where the training starts on the hosts. [the folder here]")
    ] = None,
    node_folder: Annotated[
        str | None, typer.Option(metavar="FOLDER", help="Where reports are written there. [~/.cache/healthcheck]")
    ] = None,
    timeout: Annotated[str, typer.Option(help="How long the training may take in all.")] = "30m",
    grace: Annotated[str, typer.Option(help="How long nsys may take for its report after the recording.")] = "5m",
    allow_busy: Annotated[bool, typer.Option("--allow-busy", help="Start where others run GPU processes.")] = False,
    step_range: Annotated[
        str | None, typer.Option(metavar="PATTERN", help="As for vitals trace: which NVTX ranges are steps.")
    ] = None,
    vitals: Annotated[
        Path | None, typer.Option(metavar="LOG.json", help="A `vitals log --json`, to see what the profiler costs.")
    ] = None,
    ssh_config: options.SshConfig = None,
    accept_new_host_keys: options.AcceptNew = False,
    results: options.Results = options.DEFAULT_RESULTS,
    quiet: options.Quiet = False,
    json: options.Json = False,
    lang: options.Lang = None,
) -> None:
    """Record some steps of a training with Nsight Systems on one host, and hand the export to vitals trace.

    Prints what it would run; --run does it. The training ends with the recorded steps, and nothing of it is left.

    Exit code: 0; 2 for wrong input; 3 where nothing was recorded, with the reason.
    """
    from healthcheck.cli.capture_asked import CaptureFlags, asked_capture
    from healthcheck.cli.exits import out
    from healthcheck.model.vitals_capture import SCHEMA, CaptureVitals
    from healthcheck.parsing.record_codec import encode_document
    from healthcheck.reporting.capture_text import PRINTED_FOLDER, needs, printed_lines
    from healthcheck.vitals.nsys import compiled
    from healthcheck.workflows.capture import commands_of

    flags = CaptureFlags(
        words=tuple(words),
        hosts=hosts,
        on=on,
        framework=framework,
        first_step=first_step,
        steps=steps,
        ranks=ranks,
        nsys=nsys,
        cwd=cwd,
        node_folder=node_folder,
        timeout=timeout,
        grace=grace,
        allow_busy=allow_busy,
    )
    asked = asked_capture(flags)
    logged = _logged(vitals)
    compiled(step_range)  # a mistake in it is told before an hour was spent on a recording
    if run:
        raise typer.Exit(_run(asked, ssh_config, accept_new_host_keys, results, step_range, logged, quiet, json, lang))
    commands = commands_of(asked, asked.nsys, PRINTED_FOLDER)
    if json:
        printed = CaptureVitals(
            ran=False,
            commands=commands,
            folder=None,
            files=(),
            trace=None,
            profiled_step_s=None,
            logged_step_s=None,
            why=(),
            notes=needs(asked),
            exit_code=0,
        )
        out(encode_document(SCHEMA, printed).rstrip("\n"))
        return
    with on_stdout(lang):
        for line in printed_lines(asked, commands):
            out(line)


def _logged(vitals: Path | None) -> tuple[bool, float | None]:
    """Whether a log was given, and its step time in seconds."""
    if vitals is None:
        return False, None
    from healthcheck.edge.vitals_documents import read_document
    from healthcheck.errors import InputError
    from healthcheck.model.vitals_document import kind_of
    from healthcheck.model.vitals_log import LogVitals

    log = read_document(vitals).document
    if not isinstance(log, LogVitals):
        raise InputError(str(vitals), f"is a document of vitals {kind_of(log).value}; give one of vitals log")
    return True, None if log.step_time is None else log.step_time.median_s


def _run(
    asked: CaptureAsked,
    ssh_config: Path | None,
    accept_new: bool,
    results: Path,
    step_range: str | None,
    logged: tuple[bool, float | None],
    quiet: bool,
    as_json: bool,
    lang: str | None,
) -> int:
    """Everything from the first look at the hosts to the answer; the exit code."""
    import shlex
    import sys
    from contextlib import closing
    from functools import partial

    from healthcheck.cli.console import Console
    from healthcheck.cli.exits import out, say
    from healthcheck.cli.signals import stop_on_signals
    from healthcheck.cli.terminal import width
    from healthcheck.cli.trace_reading import trace_of
    from healthcheck.edge.captures import BEGUN, ENDED, FOLDER
    from healthcheck.edge.inbox import FolderInbox
    from healthcheck.edge.owner import current_owner
    from healthcheck.edge.places import is_file
    from healthcheck.edge.store import DirectoryStore
    from healthcheck.errors import InputError, Interrupted
    from healthcheck.model import vitals_trace
    from healthcheck.model.message import say as message
    from healthcheck.model.vitals_capture import BEGUN_SCHEMA, SCHEMA, CaptureBegun
    from healthcheck.parsing.record_codec import encode_document
    from healthcheck.reporting.capture_text import PRINTED_FOLDER, captured_lines, needs
    from healthcheck.wiring import locks_beside, real_outside
    from healthcheck.workflows.capture import capture, commands_of
    from healthcheck.workflows.capture_answer import concluded
    from healthcheck.workflows.engine import Engine

    if ssh_config is not None and not is_file(ssh_config):
        raise InputError("--ssh-config", f"there is no file {ssh_config}")
    outside = real_outside(ssh_config, accept_new, len(asked.hosts))
    commands = commands_of(asked, asked.nsys, PRINTED_FOLDER)
    lines = "".join(f"# {command.host or asked.profiled}\n{shlex.join(command.argv)}\n" for command in commands)
    owner = current_owner()
    config = None if ssh_config is None else str(ssh_config.absolute())
    begun = CaptureBegun(owner, asked.hosts, asked.profiled, asked.node_folder, config)
    inputs = {"inputs/commands": lines, BEGUN: encode_document(BEGUN_SCHEMA, begun)}
    store = DirectoryStore.create(results / FOLDER, outside.clock, inputs)
    locks = locks_beside(results, store.folder.name, owner, outside.clock)
    with closing(Console(outside.clock, quiet=quiet)) as console:
        engine = Engine(outside.transport, outside.local, outside.clock, console, store, locks=locks)
        if not quiet:
            for need in needs(asked):
                say(str(message("cli.note", what=need)))
        try:
            with stop_on_signals(engine.cancel), in_english():
                captured = capture(asked, owner.token, engine, FolderInbox(store.folder))
        finally:
            locks.release()
            outside.close()
    with in_english():
        read = partial(trace_of, step_range=step_range)
        found = concluded(captured, commands, str(store.folder), read, logged)
        store.write(ENDED, encode_document(SCHEMA, found))
        if found.trace is not None:
            store.write("trace.json", encode_document(vitals_trace.SCHEMA, found.trace))
    if as_json:
        out(encode_document(SCHEMA, found).rstrip("\n"))
    else:
        with on_stdout(lang):
            for line in captured_lines(found, asked.profiled, width(sys.stdout)):
                out(line)
    if engine.cancel.signum is not None:
        raise Interrupted(engine.cancel.signum)
    return found.exit_code
