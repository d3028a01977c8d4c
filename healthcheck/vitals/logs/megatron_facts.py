"""What Megatron-LM says of the run as a whole: its dump of arguments, the sizes it built, its count of parameters."""

from __future__ import annotations

import re

from msgspec.structs import replace

from healthcheck.model.training import LogFacts
from healthcheck.vitals.logs.figures import count, shifted

MARKS = (
    " ...",
    "data-parallel size: ",
    "padded vocab",
    "number of parameters",
    "arameters in billions",
    "model parameters:",
)

_FACTS = {
    "world_size": "gpus",
    "global_num_gpus": "gpus",
    "seq_length": "seq_len",
    "global_batch_size": "global_batch",
    "train_batch_size": "global_batch",
    "data_parallel_size": "data_parallel",
    "log_interval": "log_interval",
    "num_layers": "layers",
    "hidden_size": "hidden",
    "padded_vocab_size": "vocab",
}
_ARGUMENT = re.compile(r"(?:^|[ \]:])(\w{2,60}) \.{3,64} (\S{1,40})$", re.ASCII)
_ORIGIN = re.compile(r"\.{3,64}(?:updated|default)$", re.ASCII)  # of GPT-NeoX
_WORLD = re.compile(r"using world size: (\d{1,7}), data-parallel[- ]size: (\d{1,7})(?!\d)", re.ASCII)
_TENSOR = re.compile(r"[ ,]tensor-model-parallel size: (\d{1,5})(?!\d)", re.ASCII)
_PIPELINE = re.compile(r"[ ,]pipeline-model-parallel size: (\d{1,5})(?!\d)", re.ASCII)
_VOCAB = re.compile(r"padded vocab \(size: \d{1,9}\) with \d{1,9} dummy tokens \(new size: (\d{1,9})\)", re.ASCII)
_OF_RANK = re.compile(
    r"number of parameters on \(tensor, pipeline\) model parallel rank \((\d{1,5}), (\d{1,5})\): (\d{1,13})$", re.ASCII
)
_TOTAL = re.compile(r"Total number of parameters in billions: {1,4}(\d{1,6}\.\d{1,6})$", re.ASCII)
_ESTIMATED = re.compile(r"(?:estimated|actual) model parameters: (\d{1,6}\.\d{1,20})(?!\S)", re.ASCII)
_MOST_RANKS = 1 << 16


class Told:
    """Grows with each line; `facts` is what is known so far.

    The parameters of all ranks of one copy of the model are added up, where every one of them was printed and the
    model has no experts (whose ranks print their own share only).
    """

    def __init__(self) -> None:
        self.facts = LogFacts()
        self._of_rank: dict[tuple[int, int], int] = {}
        self._ranks: int | None = None
        self._experts = False
        self._total = False

    def read(self, line: str) -> None:
        """What this line adds."""
        line = line.rstrip()
        if " ..." in line and (found := _ARGUMENT.search(line)) is not None:
            self._argument(found[1], count(_ORIGIN.sub("", found[2])))
        elif "data-parallel" in line and (found := _WORLD.search(line)) is not None:
            self.facts = replace(self.facts, gpus=int(found[1]), data_parallel=int(found[2]))
            tensor, pipeline = _TENSOR.search(line), _PIPELINE.search(line)
            self._ranks = int(tensor[1]) * int(pipeline[1]) if tensor is not None and pipeline is not None else None
            self._of_rank.clear()
        elif "padded vocab" in line and (found := _VOCAB.search(line)) is not None:
            self.facts = replace(self.facts, vocab=int(found[1]))
        elif "arameters" in line:
            self._parameters(line)

    def _parameters(self, line: str) -> None:
        if (found := _OF_RANK.search(line)) is not None:
            if len(self._of_rank) < _MOST_RANKS:
                self._of_rank[int(found[1]), int(found[2])] = int(found[3])
            if len(self._of_rank) == self._ranks and not self._experts and not self._total:
                self.facts = replace(self.facts, params=float(sum(self._of_rank.values())))
            return
        found = (_TOTAL if "in billions" in line else _ESTIMATED).search(line)
        billions = None if found is None else shifted(found[1], 9)
        if billions is not None:
            self._total = True
            self.facts = replace(self.facts, params=billions)

    def _argument(self, name: str, value: int | None) -> None:
        if value and name in _FACTS:
            self.facts = replace(self.facts, **{_FACTS[name]: value})
        elif value and name == "num_experts":
            self._experts = True
