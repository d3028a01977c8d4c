"""Record what HolisticTraceAnalysis says of our small traces, as fixtures our own numbers are held against.

HTA needs some 100 packages (500 MB), so it is no dependency; run this where it is installed, when a trace changes:

    python3 -m venv /tmp/hta && /tmp/hta/bin/pip install HolisticTraceAnalysis==0.5.0
    PYTHONPATH=. /tmp/hta/bin/python -m benchmarks.hta_values

It writes tests/fixtures/training/hta/NAME.json: of each rank the temporal breakdown in µs and the overlap in per cent.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from tests.unit.vitals.kineto_worlds import WORLDS

FIXTURES = Path(__file__).parent.parent / "tests" / "fixtures" / "training" / "hta"
RANKS = 2
_TIMES = ("idle_time", "compute_time", "non_compute_time", "kernel_time")


def main() -> int:
    """Write one file a world; without HTA say so."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.parse_args()
    if find_spec("hta") is None:
        print("HolisticTraceAnalysis is not installed here: nothing recorded")
        return 0
    FIXTURES.mkdir(parents=True, exist_ok=True)
    for name in WORLDS:
        with tempfile.TemporaryDirectory() as folder:
            values = {"hta": version("HolisticTraceAnalysis"), "ranks": _values(name, Path(folder))}
        path = FIXTURES / f"{name}.json"
        path.write_text(json.dumps(values, indent=1) + "\n")
        print(f"{path.name}: {values['ranks']}")
    return 0


def _values(name: str, folder: Path) -> dict[str, dict[str, float]]:
    files = {rank: folder / f"rank-{rank}.json" for rank in range(RANKS)}
    for rank, file in files.items():
        file.write_text(WORLDS[name](rank).text())
    # By name: the package is not there where types are checked.
    analysis = import_module("hta.trace_analysis").TraceAnalysis(
        trace_files={rank: str(file) for rank, file in files.items()}, include_last_profiler_step=True
    )
    split = analysis.get_temporal_breakdown(visualize=False).set_index("rank")
    overlap = analysis.get_comm_comp_overlap(visualize=False).set_index("rank")
    return {
        str(rank): {
            **{f"{each.removesuffix('_time')}_us": float(split.loc[rank, f"{each}(us)"]) for each in _TIMES},
            "overlap_pct": float(overlap.loc[rank, "comp_comm_overlap_pctg"]),
        }
        for rank in files
    }


if __name__ == "__main__":
    sys.exit(main())
