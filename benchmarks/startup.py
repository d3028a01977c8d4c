"""How long `healthcheck --help` takes beside a two-command typer program in the same Python.

    python -m benchmarks.startup

Bar: at most 1.5 times the peer, and neither rich nor pandas nor fabric is imported on that path.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

RUNS = 21
BAR = 1.5
UNWANTED = ("rich", "pandas", "fabric", "paramiko", "jinja2", "matplotlib", "numpy", "prometheus_client")
PEER = '''
import typer

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command()
def one(name: str = "x") -> None:
    """The first command."""


@app.command()
def two(count: int = 1) -> None:
    """The second command."""


app()
'''


def seconds(argv: list[str]) -> float:
    """Wall time of one run in seconds."""
    begin = time.perf_counter()
    subprocess.run(argv, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begin


def imported() -> list[str]:
    """Which of the unwanted packages `--help` imports."""
    code = (
        "import sys\nfrom healthcheck.__main__ import run\n"
        "import contextlib, io\n"
        "with contextlib.redirect_stdout(io.StringIO()):\n    run(['--help'])\n"
        f"print([name for name in {UNWANTED!r} if name in sys.modules])"
    )
    text = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    return [name for name in UNWANTED if f"'{name}'" in text]


def main() -> int:
    """Print the table; exit 1 when a bar is missed."""
    argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0]).parse_args()
    with tempfile.TemporaryDirectory() as folder:
        peer = Path(folder) / "peer.py"
        peer.write_text(PEER)
        commands = {
            "bare python": [sys.executable, "-c", "pass"],
            "typer, two commands": [sys.executable, str(peer), "--help"],
            "healthcheck --help": [sys.executable, "-m", "healthcheck", "--help"],
        }
        times: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(RUNS):
            for name, argv in commands.items():
                times[name].append(seconds(argv))
    medians = {name: statistics.median(found) for name, found in times.items()}
    base = medians["typer, two commands"]
    print(f"{'command':<22} {'median s':>9} {'ratio':>6}   ({RUNS} interleaved runs)")
    for name, median in medians.items():
        print(f"{name:<22} {median:9.3f} {median / base:6.2f}")
    ratio, heavy = medians["healthcheck --help"] / base, imported()
    print(f"bar {BAR}: {'met' if ratio <= BAR else 'MISSED'}; heavy imports: {', '.join(heavy) or 'none'}")
    return 0 if ratio <= BAR and not heavy else 1


if __name__ == "__main__":
    sys.exit(main())
