"""`healthcheck vitals mfu`: how much of the GPUs' peak a training uses, and no grade where the inputs contradict."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from healthcheck.cli import options
from healthcheck.cli.language import on_stdout
from healthcheck.model.vitals_mfu import Dtype, Formula, Recompute

_MOST = 10_000_000
EXAMPLE = (
    "Example: healthcheck vitals mfu --params 13B --layers 40 --hidden 5120 --seq-len 2048 --gpu A100 --gpus 128 "
    "--tokens-per-s 252444"
)


def _count(name: str, help: str) -> Any:
    return typer.Option(name, min=1, max=_MOST, help=help)


def command(
    params: Annotated[str | None, typer.Option(help="Parameters N of the model: 13B.")] = None,
    active_params: Annotated[
        str | None, typer.Option(help="Of a mixture of experts: the parameters a token uses.")
    ] = None,
    layers: Annotated[int | None, _count("--layers", "Layers L.")] = None,
    hidden: Annotated[int | None, _count("--hidden", "Hidden size h.")] = None,
    seq_len: Annotated[int | None, typer.Option(min=1, max=1_000_000_000, help="Sequence length s in tokens.")] = None,
    vocab: Annotated[int | None, _count("--vocab", "Vocabulary V as padded.")] = None,
    ffn_hidden: Annotated[int | None, _count("--ffn-hidden", "Width of an MLP, of one expert.")] = None,
    heads: Annotated[int | None, _count("--heads", "Attention heads n.")] = None,
    kv_heads: Annotated[int | None, _count("--kv-heads", "Key and value heads g (GQA).")] = None,
    head_dim: Annotated[int | None, _count("--head-dim", "Size of a head, where it is not h/n.")] = None,
    swiglu: Annotated[bool, typer.Option("--swiglu", help="The MLP is gated: three matrices, not two.")] = False,
    experts_per_token: Annotated[int | None, _count("--experts-per-token", "Of a mixture of experts: top-k.")] = None,
    shared_ffn_hidden: Annotated[int | None, _count("--shared-ffn-hidden", "Width of shared experts.")] = None,
    formula: Annotated[
        Formula | None, typer.Option(help="How FLOPs are counted. Default: the most complete for what is given.")
    ] = None,
    gpu: Annotated[str | None, typer.Option(help="The GPU as nvidia-smi prints it, or a name of --list-gpus.")] = None,
    gpus: Annotated[int | None, _count("--gpus", "GPUs of the training, of all nodes.")] = None,
    dtype: Annotated[Dtype, typer.Option(help="What the matrix products are computed in.")] = Dtype.BF16,
    peak: Annotated[
        str | None, typer.Option(help="Dense peak of one GPU in TFLOP/s, instead of that of the table.")
    ] = None,
    recompute: Annotated[
        Recompute, typer.Option(help="Activations computed again; they count in HFU, not in MFU.")
    ] = Recompute.NONE,
    tokens_per_s: Annotated[str | None, typer.Option(help="Tokens a second of all GPUs.")] = None,
    tokens_per_s_per_gpu: Annotated[str | None, typer.Option(help="Tokens a second of one GPU.")] = None,
    tokens_per_step: Annotated[str | None, typer.Option(help="Tokens of a step of all GPUs: 4M, 4Mi.")] = None,
    global_batch: Annotated[
        int | None, typer.Option(min=1, max=_MOST, help="Sequences of a step; with --seq-len, its tokens.")
    ] = None,
    step_time: Annotated[str | None, typer.Option(help="Time of a step: 2.4s, 2400ms.")] = None,
    tokens_total: Annotated[
        str | None, typer.Option(help="Tokens of the whole training, 300B: how long does it take?")
    ] = None,
    gpu_hours: Annotated[str | None, typer.Option(help="GPU hours that --tokens-total took.")] = None,
    tflops: Annotated[str | None, typer.Option(help="TFLOP/s a GPU of the model, as a framework prints.")] = None,
    hardware_tflops: Annotated[
        str | None, typer.Option(help="TFLOP/s a GPU that count what --recompute computes again.")
    ] = None,
    flops: Annotated[str | None, typer.Option(help="Model FLOPs of all GPUs in --step-time.")] = None,
    was_step_time: Annotated[str | None, typer.Option(help="Step time before a change: what was its MFU?")] = None,
    was_mfu: Annotated[str | None, typer.Option(help="MFU before, 22%; both step times are enough.")] = None,
    claimed_mfu: Annotated[str | None, typer.Option(help="An MFU that somebody printed: does it follow?")] = None,
    warn_above: Annotated[str | None, typer.Option(help="Doubt an MFU above this, a rule of thumb. [70%]")] = None,
    list_gpus: Annotated[bool, typer.Option("--list-gpus", help="List the GPUs whose peak is known.")] = False,
    json: options.Json = False,
    lang: options.Lang = None,
) -> None:
    """Say which share of the GPUs' dense peak a training uses: MFU, and HFU with what is computed again.

    Give the model (--params, better with --layers, --hidden and --seq-len), the GPUs, and how fast it goes.

    Exit code: 0; 2 when there is no MFU: unknown GPU, or inputs that contradict each other (an MFU above 1).
    """
    from healthcheck.cli.exits import out
    from healthcheck.cli.vitals_mfu_asked import MfuOptions, question
    from healthcheck.edge.gpu_peaks import shipped_peaks
    from healthcheck.model.vitals_mfu import MFU_SCHEMA, ModelShape
    from healthcheck.parsing.record_codec import encode_document
    from healthcheck.reporting.mfu_text import mfu_lines
    from healthcheck.vitals.mfu import answer

    if list_gpus:
        _list(json)
        return
    shape = ModelShape(
        layers=layers,
        hidden=hidden,
        seq_len=seq_len,
        vocab=vocab,
        ffn_hidden=ffn_hidden,
        heads=heads,
        kv_heads=kv_heads,
        head_dim=head_dim,
        swiglu=swiglu,
        experts_per_token=experts_per_token,
        shared_ffn_hidden=shared_ffn_hidden,
    )
    given = MfuOptions(
        params=params,
        active_params=active_params,
        peak=peak,
        tokens_per_s=tokens_per_s,
        tokens_per_s_per_gpu=tokens_per_s_per_gpu,
        tokens_per_step=tokens_per_step,
        global_batch=global_batch,
        step_time=step_time,
        tokens_total=tokens_total,
        gpu_hours=gpu_hours,
        tflops=tflops,
        hardware_tflops=hardware_tflops,
        flops=flops,
        was_step_time=was_step_time,
        was_mfu=was_mfu,
        claimed_mfu=claimed_mfu,
        warn_above=warn_above,
        shape=shape,
        formula=formula,
        gpu=gpu,
        gpus=gpus,
        dtype=dtype,
        recompute=recompute,
    )
    asked = question(given)
    found = answer(asked, shipped_peaks())
    if json:
        out(encode_document(MFU_SCHEMA, found).rstrip("\n"))
    else:
        with on_stdout(lang):
            for line in mfu_lines(found):
                out(line)
    raise typer.Exit(found.exit_code)


def _list(json: bool) -> None:
    from healthcheck.cli.document import print_document
    from healthcheck.cli.exits import out
    from healthcheck.edge.gpu_peaks import shipped_peaks
    from healthcheck.reporting.mfu_text import gpu_lines

    rows = shipped_peaks()
    if json:
        print_document("healthcheck.vitals.gpus/1", gpus=rows)
        return
    for line in gpu_lines(rows):
        out(line)
