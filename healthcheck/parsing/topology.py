"""The matrix of `nvidia-smi topo -m`.

What is printed differs by driver: columns are tabs apart, but the last ones do not line up (`0-63<tab>0<tab><tab>N/A`);
the header may carry underline codes even into a pipe; NICs are `NIC0` with a legend below, or their device names;
text that was copied from a screen has spaces for tabs. No label and no cell has a space inside, and only the columns
behind the matrix do (`CPU Affinity`), so the matrix is read word by word and what follows it is left alone.
"""

from __future__ import annotations

import re
from functools import lru_cache

from healthcheck.model.fabric_facts import Topology

_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_GPU = re.compile(r"GPU\d{1,3}", re.ASCII)
_LABEL = re.compile(r"[A-Za-z][\w.\-]{0,63}", re.ASCII)
_CELL = re.compile(r"X|NV\d{1,3}|PIX|PXB|PSB|PHB|NODE|SYS|SOC|C2C", re.ASCII)
_LEGEND = re.compile(r"\s*(NIC\d{1,3})\s*:\s*([A-Za-z][\w.\-]{0,63})\s*", re.ASCII)
_BEHIND = frozenset({"CPU", "NUMA", "GPU"})
"""First words of the columns behind the matrix: CPU Affinity, NUMA Affinity, GPU NUMA ID."""


# The nodes of a fleet print the same matrix, letter for letter.
@lru_cache(maxsize=256)
def parse_topology(text: str) -> Topology | None:
    """The matrix in the text; None when there is none, or when it is not whole."""
    lines = _ANSI.sub("", text).splitlines()
    columns: list[str] = []
    rows: dict[str, tuple[str, list[str]]] = {}
    devices: dict[str, str] = {}
    for line in lines:
        words = line.split()
        if not columns:
            columns = _header(words)
        elif words and words[0] in columns and words[0] not in rows:
            rows[words[0]] = (line.strip(), words[1:])
        elif (legend := _LEGEND.fullmatch(line)) is not None:
            devices.setdefault(legend[1], legend[2])
    gpus = [label for label in columns if _GPU.fullmatch(label)]
    nics = columns[len(gpus) :]
    if not gpus or columns[: len(gpus)] != gpus:
        return None
    cells: list[tuple[str, ...]] = []
    for position, gpu in enumerate(gpus):
        row = tuple(rows[gpu][1][: len(columns)]) if gpu in rows else ()
        if len(row) != len(columns) or row[position] != "X" or not all(map(_CELL.fullmatch, row)):
            return None
        cells.append(row)
    return Topology(
        tuple(gpus),
        tuple((label, devices.get(label, label)) for label in nics),
        tuple(cells),
        tuple(rows[gpu][0] for gpu in gpus),
    )


def _header(words: list[str]) -> list[str]:
    """The labels of the matrix when this is its header: GPUs, then NICs, none twice."""
    labels: list[str] = []
    for word in words:
        if word in _BEHIND:
            break
        labels.append(word)
    if not labels or not _GPU.fullmatch(labels[0]) or len(set(labels)) != len(labels):
        return []
    # A row begins with a label too, but goes on with cells.
    return labels if all(_LABEL.fullmatch(label) and not _CELL.fullmatch(label) for label in labels) else []
