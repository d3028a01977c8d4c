"""A job has one number: whatever else is told of it names its size, and a change follows from what is shown."""

from __future__ import annotations

import re
from collections.abc import Iterator
from statistics import median

import pytest

from healthcheck.model.judged import counted_rows, judged_gbyte_s, slower_placement
from healthcheck.model.record import RunRecord
from healthcheck.reporting.measured import together
from tests.golden.page_text import page_text
from tests.walk.cli import Shell

SICK = (
    ("node05:hca=mlx5_2,slow=0.5", "node03:nvlink=0.9"),
    ("link:node01-node06=0.5", "node09:unreachable"),
    ("node05:nvlink=0.5", "node08:busy"),
)
TOLD = re.compile(r"(\d+\.\d+) GB/s(?! at )(?!\S* GiB)(?! \((?:in|out-of)-place, \d)")
NOTHING = re.compile(r"[-+]0(?:\.0+)? ?%")


def _numbers(record: RunRecord) -> Iterator[float | None]:
    """The number of each job, the median of those that were measured alone, and what they were held against."""
    jobs = [job for job in together(record) if job.rows]
    for job in (*jobs, *record.jobs):
        yield judged_gbyte_s(job.rows)
        algbw = slower_placement(counted_rows(job.rows), lambda half: half.algbw_gbyte_s)
        yield None if algbw is None else algbw[1]
    for group in ([job for job in jobs if len(job.hosts) == 1 and of(job.verdict)] for of in (bool, _passed)):
        halves: dict[str, list[float]] = {}
        for job in group:
            for name in ("out_of_place", "in_place"):
                rows = [getattr(row, name) for row in counted_rows(job.rows)]
                values = [half.busbw_gbyte_s for half in rows if half is not None]
                halves.setdefault(name, []).append(median(values))
        yield from (median(values) for values in halves.values())
    for check in record.checks:
        yield check.expected if check.unit == "GB/s" else None  # what it was held against
        yield from (rule.expected for rule in check.rules)


def _passed(verdict: object) -> bool:
    return str(verdict) == "PASS"


def _forms(shell: Shell, said: str) -> dict[str, str]:
    folder = shell.folders()[-1]
    return {
        "terminal": said,
        "report.md": (folder / "report.md").read_text(),
        "junit.xml": (folder / "junit.xml").read_text(),
        "report.html": page_text((folder / "report.html").read_text()),
    }


@pytest.mark.parametrize("faults", SICK)
def test_every_number_told_of_a_job_is_its_own_or_names_its_size(shell: Shell, faults: tuple[str, ...]) -> None:
    common = ("run", "full", "--simulate", "16", "-o", str(shell.results))
    shell(*common)
    known = list(_numbers(shell.record()))
    said = shell(*common, "--run-seed", "2", *(word for fault in faults for word in ("--fault", fault)))
    known += _numbers(shell.record())
    numbers = {f"{value:.1f}" for value in known if value is not None}
    for form, text in _forms(shell, said.out + said.err).items():
        strangers = {found[0]: found[1] for found in TOLD.finditer(text) if found[1] not in numbers}
        assert not strangers, form
        assert not NOTHING.search(text), form


def test_a_change_is_that_of_the_two_numbers_beside_it(shell: Shell) -> None:
    common = ("run", "full", "--simulate", "16", "-o", str(shell.results))
    shell(*common)
    shell(*common, "--run-seed", "2", "--fault", "node05:nvlink=0.7", "--fault", "node09:unreachable")
    page = (shell.folders()[-1] / "report.md").read_text()
    rows = re.findall(r"\| (\d+\.\d) GB/s[^|]*\| (\d+\.\d) GB/s[^|]*\| ([-+]?\d+\.\d) % \|", page)
    assert len(rows) == 2
    for before, now, change in ((float(one), float(two), float(three)) for one, two, three in rows):
        assert abs(100 * (now / before - 1) - change) <= 100 * 0.05 * (1 + now / before) / before + 0.05
    assert "only compared with one over as many nodes" in page


def test_a_job_over_another_number_of_nodes_has_numbers_and_no_percentage(shell: Shell) -> None:
    common = ("run", "full", "--simulate", "16", "-o", str(shell.results))
    shell(*common)
    shell(*common, "--run-seed", "2", "--fault", "node05:hca=mlx5_2,slow=0.5", "--fault", "node09:unreachable")
    page = (shell.folders()[-1] / "report.md").read_text()
    row = next(line for line in page.splitlines() if line.startswith("| 16 nodes as found then, 15 now |"))
    assert "not compared: another number of nodes" in row
    # A percentage of the verdict's own limit stands in its reason, none in the columns before it.
    assert "%" not in row.split("|")[5]
    now = judged_gbyte_s(next(job.rows for job in shell.record().jobs if len(job.hosts) == 15))
    assert f"| {now:.1f} GB/s, FAIL |" in row
