"""`healthcheck slurm`: what would undo the drains that a run suggested. It prints, and never runs a line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from healthcheck.cli import options
from healthcheck.cli.usage import OneSentence

if TYPE_CHECKING:
    from healthcheck.model.drain import Undoing

app = typer.Typer(
    cls=OneSentence,
    name="slurm",
    help="Drained nodes of a run under Slurm.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.callback()
def main() -> None:
    """Drained nodes of a run under Slurm."""


@app.command(
    short_help="Print what would undo the drains of a run.",
    epilog="Example: healthcheck slurm resume --run 20260314T021503Z-qhzt",
)
def resume(
    run: Annotated[str, typer.Option("--run", metavar="RUN", help="A run directory, or a run id below --results.")],
    results: options.Results = options.DEFAULT_RESULTS,
    json: options.Json = False,
    lang: options.Lang = None,
) -> None:
    """Print the scontrol lines that undo the drains of one run; run nothing. Nodes with another reason are left alone.

    Exit 3 where Slurm does not answer.
    """
    from healthcheck.cli.document import print_document
    from healthcheck.cli.exits import EXIT_INCONCLUSIVE, out, say
    from healthcheck.edge.clock import SystemClock
    from healthcheck.edge.local import LocalTransport
    from healthcheck.edge.store import DirectoryStore
    from healthcheck.errors import InputError
    from healthcheck.model.message import Message
    from healthcheck.reporting.drains import resume_lines
    from healthcheck.workflows.undrain import drains_of

    clock = SystemClock()
    record = DirectoryStore.open(run, results, clock).load_record()
    if record.simulated:
        raise InputError(run, "is a run on simulated nodes, which no Slurm knows; name a run of real ones")
    local = LocalTransport(clock)
    try:
        undo = drains_of(record, local)
    finally:
        local.close()
    if isinstance(undo, Message):
        say(f"error: {undo}")
        raise typer.Exit(EXIT_INCONCLUSIVE)
    _tell(undo)
    if json:
        print_document(
            "healthcheck.slurm_resume/1",
            run_id=undo.run_id,
            commands=resume_lines(undo),
            ours=undo.ours,
            other=undo.other,
            not_drained=undo.not_drained,
            unknown=undo.unknown,
        )
        return
    for line in resume_lines(undo):
        out(line)


def _tell(undo: Undoing) -> None:
    """The story of it on stderr."""
    from healthcheck.cli.exits import say
    from healthcheck.model.message import say as message
    from healthcheck.reporting.figures import one_line
    from healthcheck.reporting.names import folded

    if undo.ours:
        n, nodes = len(undo.ours), folded(node.name for node in undo.ours)
        say(str(message("slurm.ours", n=n, run_id=undo.run_id, nodes=nodes)))
        say(str(message("slurm.not_run", n=n)))
    else:
        say(str(message("slurm.nothing", run_id=undo.run_id)))
    for node in undo.other:
        reason = one_line(node.reason)
        text = (
            message("slurm.other", node=node.name, reason=reason)
            if reason
            else message("slurm.other_silent", node=node.name)
        )
        say(str(text))
    if undo.not_drained:
        say(str(message("slurm.not_drained", nodes=folded(node.name for node in undo.not_drained))))
    if undo.unknown:
        say(str(message("slurm.unknown", nodes=folded(undo.unknown))))
