"""How fast the files of a training are read: its log, and traces of a profiler.

    python -m benchmarks.vitals [log|trace] [MB]

`log` is benchmarks/vitals_log.py, `trace` benchmarks/vitals_trace.py; without a word both, of 500 MB each.
"""

from __future__ import annotations

import argparse
import sys

from benchmarks import vitals_log, vitals_trace
from benchmarks.bars import tell_bars

PARTS = {"log": vitals_log.measure, "trace": vitals_trace.measure}
MEGABYTES = 500


def main() -> int:
    """Print the tables; exit 1 when a bar is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("part", choices=(*PARTS, "both"), nargs="?", default="both", help="which files")
    parser.add_argument("megabytes", metavar="MB", type=int, nargs="?", default=MEGABYTES, help="size of each file")
    asked = parser.parse_args()
    missed = [text for name, part in PARTS.items() if asked.part in (name, "both") for text in part(asked.megabytes)]
    return tell_bars(missed)


if __name__ == "__main__":
    sys.exit(main())
