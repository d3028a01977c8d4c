"""`healthcheck vitals`: is the training itself healthy? One file a command; none of them needs a GPU."""

from __future__ import annotations

import typer

from healthcheck.cli import vitals_budget, vitals_capture, vitals_compare, vitals_log, vitals_mfu, vitals_trace
from healthcheck.cli.usage import OneSentence

app = typer.Typer(
    cls=OneSentence,
    name="vitals",
    help="The training: step time, MFU, goodput.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.command("mfu", epilog=vitals_mfu.EXAMPLE, short_help="The share of the GPUs' peak that is used.")(
    vitals_mfu.command
)
app.command("budget", epilog=vitals_budget.EXAMPLE, short_help="What reducing the gradients costs.")(
    vitals_budget.command
)
app.command("log", epilog=vitals_log.EXAMPLE, short_help="Step time, goodput and losses of a log.")(vitals_log.command)
app.command("trace", epilog=vitals_trace.EXAMPLE, short_help="Where the time of a step goes, from profiles.")(
    vitals_trace.command
)
app.command(
    "capture",
    epilog=vitals_capture.EXAMPLE,
    short_help="Record some steps with Nsight Systems.",
    context_settings=vitals_capture.SETTINGS,
)(vitals_capture.command)
app.command("compare", epilog=vitals_compare.EXAMPLE, short_help="What got worse between two documents.")(
    vitals_compare.command
)
