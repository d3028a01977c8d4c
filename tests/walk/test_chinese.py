"""A Chinese page has no English prose: no two English words in a row, but in what is quoted or is a name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.walk.cli import Shell

SHOWN = ("title", "aria-label", "data-l", "placeholder", "alt")
AS_IT_IS = ("code", "pre", "style", "script")
# Commands, keys and names of products that are two words or more.
TERMS = (
    "fabric manager",
    "dcgmi diag",
    "mpi openmpi",
    "playbook monthly",
    "playbook quick",
    "playbook full",
    "playbook preflight",
    "localise    fabric",
    "localise    path",
    "GPUDirect RDMA",
    "Core Processor",
)
WORD = r"(?:[A-Za-z][a-z']*[a-z]|[Aa])"
PROSE = re.compile(rf"(?<![\w./_=:-]){WORD}(?:[ ,;:()]+{WORD})+(?![\w./_-])")


COMMAND = re.compile(r" {20,}(?:'|ssh|sudo|healthcheck|less|grep|ping)")


class _Shown(HTMLParser):
    """What a reader reads or hears of a page, without commands and quoted lines; drawings are read, too."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.texts: list[str] = []
        self._within: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Titles and labels are read aloud."""
        self.texts += [value for name, value in attrs if name in SHOWN and value]
        if tag in AS_IT_IS:
            self._within.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """What is not translated ends with its element."""
        if self._within and self._within[-1] == tag:
            self._within.pop()

    def handle_data(self, data: str) -> None:
        """One piece of text."""
        if not self._within:
            self.texts.append(data)


def of_page(page: str) -> list[str]:
    reader = _Shown()
    reader.feed(page)
    reader.close()
    return reader.texts


def of_markdown(text: str) -> list[str]:
    return re.sub(r"`[^`]*`", "", re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)).splitlines()


def english_in(texts: list[str]) -> Iterator[str]:
    for text in texts:
        # Chinese texts put what a machine printed into quotation marks, and an address is an address.
        told = re.sub(r"“[^”]*”|https?://\S+", "", text)
        for term in TERMS:
            told = told.replace(term, "")
        yield from PROSE.findall(told)


SIXTEEN = ("--simulate", "16", "--leaf-size", "8")
RUNS = {
    "healthy": ("run", "full", *SIXTEEN),
    "ports": ("run", "quick", *SIXTEEN, "--fault", "node05:hca=mlx5_2,rate=0.5", "--fault", "node06:hca=mlx5_3,down"),
    "nodes": (
        *("run", "quick", *SIXTEEN, "--fault", "node03:unreachable", "--fault", "node04:gpus=7"),
        *("--fault", "node09:driver=535.54.03", "--fault", "node12:busy", "--fault", "node07:nvlink=0.5"),
    ),
    "jobs": ("run", "quick", *SIXTEEN, "--fault", "node02:corrupt", "--fault", "node07:hang"),
    "ways": ("run", "full", *SIXTEEN, "--fault", "node06:socket", "--fault", "node11:gdr=off"),
    "rail": ("run", "full", *SIXTEEN, "--fault", "node05:hca=mlx5_2,slow=0.5"),
    "leaf": ("localise", *SIXTEEN, "--fault", "leaf:l1-l2=0.5"),
    "switches": ("run", "full", "--simulate", "4", "--platform", "h100-sxm5-8gpu-8x400", "--fault", "node02:nvls=off"),
    "no fabric": ("run", "quick", "--simulate", "2", "--platform", "a100-pcie-8gpu"),
    "cloud": ("run", "monthly", "--simulate", "2", "--platform", "h100-sxm5-8gpu-32x100-efa"),
    "rack": ("run", "preflight", "--simulate", "2", "--platform", "gb200-4gpu-4x400"),
    "looks": ("probe", "--simulate", "4", "--fault", "node02:gpus=7"),
    "nobody": ("run", "quick", "--simulate", "2", "--fault", "node01:unreachable", "--fault", "node02:unreachable"),
}


@pytest.mark.parametrize("name", RUNS)
def test_a_run_is_told_in_chinese_alone(name: str, shell: Shell) -> None:
    said = shell(*RUNS[name], "--lang", "zh", "-v")
    # What to do ends in the command to copy, on lines of its own.
    story = [line for line in said.err.splitlines() if not COMMAND.match(line)]
    folder = shell.folders()[-1]
    texts = {
        "standard error": english_in(story),
        "report.html": english_in(of_page((folder / "report.html").read_text(encoding="utf-8"))),
        "report.md": english_in(of_markdown((folder / "report.md").read_text(encoding="utf-8"))),
    }
    assert {where: sorted(set(found)) for where, found in texts.items()} == {where: [] for where in texts}


def test_what_is_told_of_several_runs_is_chinese_alone(shell: Shell) -> None:
    for seed in ("1", "2"):
        shell("run", "quick", "--simulate", "8", "--run-seed", seed, "--fault", "noise=0.005", "--quiet")
    faults = ("--fault", "node03:nvlink=0.93", "--fault", "node04:driver=535.54.03")
    shell("run", "quick", "--simulate", "8", "--run-seed", "3", *faults, "--quiet")
    found = {}
    for words in (("compare", "--last"), ("history", "--simulated"), ("history", "--simulated", "--host", "node03")):
        said = shell(*words, "--html", "page.html", "--lang", "zh")
        page = of_page(Path("page.html").read_text(encoding="utf-8"))
        # The one line of a comparison is data.
        story = said.err if words[0] == "compare" else said.out + said.err
        found[words] = sorted(set(english_in([*story.splitlines(), *page])))
    assert found == {words: [] for words in found}


def test_english_prose_is_found() -> None:
    assert list(english_in(["限值 peak: inside a node: 300", "fabric manager", "“no output”，以 root 登录"])) == [
        "peak: inside a node"
    ]
