"""What Megatron-LM says of the run as a whole: its dump of arguments, the sizes it built, its count of parameters."""

from __future__ import annotations

import re

from msgspec.structs import replace

from healthcheck.model.training import LogFacts
from healthcheck.vitals.logs.figures import count, positive

MARKS = (
    " ...",
    "data-parallel size: ",
    "padded vocab",
    "number of parameters",
    "arameters in billions",
    "model parameters:",
)

_ARGUMENT = re.compile(r"(?:^|[ \]:])(\w{2,60}) \.{3,64} (\S{1,40})$", re.ASCII)
_ORIGIN = re.compile(r"\.{3,64}(?:updated|default)$", re.ASCII)  # of GPT-NeoX
_WORLD = re.compile(r"using world size: (\d{1,7}), data-parallel[- ]size: (\d{1,7})(?!\d)", re.ASCII)
_VOCAB = re.compile(r"padded vocab \(size: \d{1,9}\) with \d{1,9} dummy tokens \(new size: (\d{1,9})\)", re.ASCII)
_TOTAL = re.compile(r"Total number of parameters in billions: {1,4}(\d{1,6}\.\d{1,6})$", re.ASCII)
_ESTIMATED = re.compile(r"(?:estimated|actual) model parameters: (\d{1,6}\.\d{1,20})(?!\S)", re.ASCII)
_INTEGERS = {
    "world_size": "gpus",
    "global_num_gpus": "gpus",
    "train_batch_size": "global_batch",
    "seq_length": "seq_len",
    "global_batch_size": "global_batch",
    "data_parallel_size": "data_parallel",
    "log_interval": "log_interval",
    "num_layers": "layers",
    "hidden_size": "hidden",
    "padded_vocab_size": "vocab",
}


def learnt(facts: LogFacts, line: str) -> LogFacts:
    """The facts with what this line adds."""
    line = line.rstrip()
    if " ..." in line and (found := _ARGUMENT.search(line)) is not None:
        value = count(_ORIGIN.sub("", found[2]))
        return _with(facts, _INTEGERS[found[1]], value) if value and found[1] in _INTEGERS else facts
    if "data-parallel" in line and (found := _WORLD.search(line)) is not None:
        return replace(facts, gpus=int(found[1]), data_parallel=int(found[2]))
    if "padded vocab" in line and (found := _VOCAB.search(line)) is not None:
        return replace(facts, vocab=int(found[1]))
    if "arameters" in line:
        shape = _TOTAL if "in billions" in line else _ESTIMATED
        if (found := shape.search(line)) is not None and (billions := positive(found[1])) is not None:
            return replace(facts, params=billions * 1e9)
    return facts


def _with(facts: LogFacts, name: str, value: int) -> LogFacts:
    match name:
        case "gpus":
            return replace(facts, gpus=value)
        case "seq_len":
            return replace(facts, seq_len=value)
        case "global_batch":
            return replace(facts, global_batch=value)
        case "data_parallel":
            return replace(facts, data_parallel=value)
        case "log_interval":
            return replace(facts, log_interval=value)
        case "layers":
            return replace(facts, layers=value)
        case "hidden":
            return replace(facts, hidden=value)
        case _:
            return replace(facts, vocab=value)
