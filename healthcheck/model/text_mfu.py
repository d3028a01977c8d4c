"""Texts of the calculators of the training side: MFU, HFU, budgets of collectives."""

from __future__ import annotations

MFU_TEXTS: dict[str, str] = {
    # --- the line ---
    "mfu.line": "MFU {mfu:.1f} %, HFU {hfu:.1f} %: {tflops:,.1f} of {peak:g} TFLOP/s a GPU ({what}, dense)",
    "mfu.line.no_hfu": "MFU {mfu:.1f} %, HFU not known: {tflops:,.1f} of {peak:g} TFLOP/s a GPU ({what}, dense)",
    "mfu.line.ratio": "MFU {mfu:.0f} %: from {was:g} % at {was_step:g} s to a step of {step:g} s, with the same model, "
    "tokens a step and GPUs",
    "mfu.line.refused": "no MFU: {why}",
    "mfu.what.given": "the peak as given, {dtype}",
    "mfu.peak.given": "the GPU",
    # --- rows ---
    "mfu.row.formula": "formula",
    "mfu.row.leaves_out": "caveat",
    "mfu.row.tokens": "tokens",
    "mfu.row.achieved": "achieved",
    "mfu.row.peak": "peak",
    "mfu.row.time": "training time",
    "mfu.row.before": "before",
    "mfu.row.fits": "would fit",
    "mfu.row.note": "note",
    "mfu.tokens.all": "{rate:,.0f} a second on {gpus:,} {gpus:GPU|GPUs}, {each:,.1f} a GPU",
    "mfu.tokens.each": "{each:,.1f} a second and GPU",
    "mfu.tokens.step": "{rate}; {tokens:,.0f} in a step of {step:g} s",
    "mfu.achieved": "{tflops:,.2f} TFLOP/s a GPU",
    "mfu.achieved.hardware": "{tflops:,.2f} TFLOP/s a GPU; {hardware:,.2f} with what is computed again",
    "mfu.peak": "{peak:g} TFLOP/s, {what}, without sparsity; {source}",
    "mfu.time": "{days:,.2f} days for {tokens:.4g} tokens at this pace, without a stop",
    "mfu.before": "{was:.0f} % at a step of {step:g} s",
    # --- what a formula does not count ---
    "mfu.leaves.attention": "6 N leaves out attention, which is little at short sequences and most of all at 64 K "
    "tokens; give --layers, --hidden and --seq-len to have it counted",
    "mfu.leaves.embedding": "the input embedding is in N and is counted, though it is looked up and not multiplied; "
    "--formula torchtitan with --vocab leaves it out",
    "mfu.leaves.tied": "N without the input embedding: for a model whose output layer has weights of its own",
    "mfu.leaves.plain": "for a plain transformer: two matrices in an MLP of 4 h, as many key heads as heads",
    "mfu.leaves.log": "as older Megatron-LM, Megatron-DeepSpeed and GPT-NeoX print it: without recompute a quarter of "
    "the output layer is missing",
    "mfu.leaves.latent": "latent attention, linear attention and prediction of several tokens are not counted",
    "mfu.leaves.causal": "attention is counted whole; frameworks that halve it for the causal mask (Megatron-LM since "
    "2025) print less for the same run",
    "mfu.leaves.router": "every layer is taken for a mixture of experts, and its router is left out",
    # --- no grade ---
    "mfu.refused.above": "the inputs are inconsistent: they imply {tflops:,.0f} TFLOP/s per GPU, which is above the "
    "dense {dtype} peak of {gpu}, {peak:g} (an MFU of {mfu:.2f}, and above 1 is impossible)",
    "mfu.refused.hardware": "the inputs are inconsistent: with what is computed again they imply {tflops:,.0f} TFLOP/s "
    "per GPU, which is above the dense {dtype} peak of {gpu}, {peak:g} (an HFU of {hfu:.2f}, and above 1 is "
    "impossible)",
    "mfu.refused.ratio": "the inputs are inconsistent: they imply an MFU of {mfu:.2f}, and above 1 is impossible",
    "mfu.refused.before": "the inputs are inconsistent: a step of {step:g} s before implies an MFU of {mfu:.2f}, and "
    "above 1 is impossible",
    "mfu.refused.no_gpu": "no GPU was named, and no peak is assumed; give --gpu (--list-gpus has the names) or --peak",
    "mfu.refused.gpu": "no peak is known of a GPU named {gpu}, and none is assumed; near are {near} (--list-gpus has "
    "all), or give its dense peak with --peak",
    "mfu.refused.lacks": "{gpu} cannot compute in {dtype}; its peaks are for {known}: give the --dtype of the training",
    "mfu.refused.dtype": "no {dtype} peak of {gpu} is known, and none is assumed; known are {known}, or give it with "
    "--peak",
    "mfu.refused.selective": "of these TFLOP/s it is not known how much was computed again; give the shape of the "
    "model, or the TFLOP/s of the model alone with --tflops",
    "mfu.fit.step": "at {percent:g} % MFU a step takes {step:,.1f} s",
    "mfu.fit.gpus": "at {percent:g} % MFU this pace needs {gpus:,} GPUs",
    "mfu.fit.rate": "at {percent:g} % MFU it is {rate:,.0f} tokens a second",
    "mfu.fit.rate_per_gpu": "at {percent:g} % MFU it is {rate:,.0f} tokens a second and GPU",
    "mfu.fit.hours": "at {percent:g} % MFU it takes {hours:,.0f} GPU hours",
    "mfu.fit.usual": "usual mistakes: nodes counted as GPUs, all experts of a mixture instead of the active ones, the "
    "tokens of several steps, a step time in another unit",
    # --- notes ---
    "mfu.note.high": "{percent:.1f} % is above {limit:g} % (rule of thumb, --warn-above): more than any published "
    "training we know of; check tokens, GPUs and parameters",
    "mfu.note.low": "below {limit:g} % (rule of thumb): is the step time in seconds, and are these all tokens "
    "of a step?",
    "mfu.note.row": "{gpu}: {note}",
    "mfu.note.lacks": "{gpu} cannot compute in {dtype} by the table; --peak was taken as given",
    "mfu.note.sparse": "--peak {given:g} is twice the {listed:g} of {gpu}: that is its peak with sparsity, which no "
    "dense training reaches; the MFU is half of what it should be",
    "mfu.note.peak": "--peak {given:g} is {times:.2f} times the {listed:g} TFLOP/s that the table has for {gpu}",
    "mfu.note.selective": "what selective recompute repeats is not in this formula: HFU is not known; give --layers, "
    "--hidden and --seq-len",
    "mfu.note.recompute": "what is computed again counts in HFU and not in MFU; tables that multiply MFU by 4/3 "
    "print HFU",
    "mfu.note.unused": "not used, because the rest of the shape is missing: {options}",
    "mfu.note.shape": "{params:.3g} parameters do not go with these layers and this hidden size, which make about "
    "{of_shape:.3g}; is one of them of another model?",
    "mfu.note.follows": "the {claimed:g} % that was claimed follows from these inputs",
    "mfu.note.does_not_follow": "the {claimed:g} % that was claimed does not follow from these inputs: they make "
    "{percent:.1f} %",
    "mfu.note.does_not_follow.step": "the {claimed:g} % that was claimed does not follow from these inputs: they make "
    "{percent:.1f} %, and it would take a step of {step:.2f} s",
    # --- budget: the line ---
    "budget.line.share": "{time:.4f} s for the gradients, {share:.1f} % of a step of {step:g} s if nothing overlaps",
    "budget.line.measured": "{time:.4f} s of collectives are {share:.1f} % of a step of {step:g} s",
    "budget.line.time": "{time:.4f} s for the gradients if nothing overlaps",
    "budget.line.over": "{line}: above {target:g} %",
    "budget.line.needed": "{busbw:.1f} GB/s busbw keep the gradients at {target:g} % of a step of {step:g} s",
    "budget.line.unknown": "not known: {why}",
    "budget.line.traffic": "each GPU sends {traffic:.2f} GB; --busbw or --record says how long that takes",
    "budget.line.simulated": "simulated: {line}",
    # --- budget: rows ---
    "budget.row.gradients": "gradients",
    "budget.row.collective": "collective",
    "budget.row.busbw": "busbw",
    "budget.row.needed": "needed",
    "budget.gradients": "{size:.2f} GB a GPU, reduced over {ranks:,} {ranks:GPU|GPUs}",
    "budget.gradients.params": "{size:.2f} GB a GPU ({params:,.0f} parameters / (TP {tp} x PP {pp}) in {dtype}), "
    "reduced over {ranks:,} {ranks:GPU|GPUs}",
    "budget.busbw": "{busbw:.1f} GB/s, {source}",
    "budget.busbw.given": "as given",
    "budget.busbw.effective": "which is what {time:g} s make of this traffic",
    "budget.busbw.record": "measured in job {job} of run {run_id}: all_reduce on {hosts} {hosts:node|nodes}, {ranks} "
    "{ranks:rank|ranks}, {sizes}",
    "budget.sizes": "median of {small} to {large}",
    "budget.size": "at {size}",
    "budget.needed": "{busbw:.1f} GB/s busbw for {target:g} % of the step (rule of thumb, --target)",
    # --- budget: notes ---
    "budget.note.simulated": "the check-up was simulated: this is no number of a real machine",
    "budget.note.verdict": "that job is {verdict}: the fabric was not well when it was measured",
    "budget.note.no_verdict": "that job was judged by nobody",
    "budget.note.ranks": "measured over {measured} {measured:rank|ranks}, and the gradients are reduced over {ranks}",
    "budget.note.sizes": "messages that are smaller than the measured ones, such as buckets of 25 MB, get less",
    "budget.note.tensor": "the {tp} tensor-parallel ranks of a node reduce at the same time and share its NICs; a "
    "busbw of a job of all its GPUs together is then divided between them: up to {time:.4f} s",
    "budget.note.nothing": "one GPU has nobody to reduce with",
    "budget.note.above": "more than the whole step: with this busbw no step is that short, whatever overlaps",
    "budget.note.above.measured": "more than the whole step: was the time summed over several steps, streams or ranks?",
    "budget.unmeasured.none": "run {run_id} has no all_reduce that measured anything",
    "budget.unmeasured.between": "run {run_id} has no all_reduce between nodes that measured anything, and one inside "
    "a node says nothing about what is between them",
}
