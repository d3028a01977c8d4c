"""What the goldens hold: every file and text made from a record, by file name."""

from __future__ import annotations

from pathlib import Path

from healthcheck.edge.languages import load_language
from healthcheck.model.language import speaking
from healthcheck.parsing.record_codec import encode_record
from healthcheck.reporting.files import report_files
from healthcheck.reporting.summary import stdout_line, terminal_summary
from tests.golden.page_text import page_text
from tests.golden.records import RECORDS
from tests.golden.searched import searched

FOLDER = Path(__file__).parent / "expected"
PAGE = "report.html"
WIDTH, NARROW = 96, 80


def outputs() -> dict[str, str]:
    """`sick/report.md` to its text, for each record and each output."""
    made: dict[str, str] = {}
    for name, build in {**RECORDS, "searched": searched}.items():
        record = build()
        for file, text in report_files(record).items():
            if file == PAGE:  # drawings differ in bytes from version to version of matplotlib
                made[f"{name}/{file}.txt"] = page_text(text)
            else:
                made[f"{name}/{file}"] = text
        made[f"{name}/record.json"] = encode_record(record).decode()
        made[f"{name}/stdout.txt"] = stdout_line(record) + "\n"
        made[f"{name}/terminal.txt"] = "\n".join(terminal_summary(record, WIDTH)) + "\n"
        made[f"{name}/terminal_80.txt"] = "\n".join(terminal_summary(record, NARROW)) + "\n"
        made[f"{name}/terminal_verbose.txt"] = "\n".join(terminal_summary(record, WIDTH, verbose=True)) + "\n"
    with speaking(load_language("zh")):
        made |= chinese()
    return made


def chinese() -> dict[str, str]:
    """What a person reads of the worked example of a search, whose every text is of the catalogue."""
    record = searched()
    files = report_files(record)
    return {
        "zh/report.md": files["report.md"],
        f"zh/{PAGE}.txt": page_text(files[PAGE]),
        "zh/stdout.txt": stdout_line(record) + "\n",
        "zh/terminal.txt": "\n".join(terminal_summary(record, WIDTH)) + "\n",
        "zh/terminal_80.txt": "\n".join(terminal_summary(record, NARROW)) + "\n",
    }
