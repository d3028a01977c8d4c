"""Every step of a training's log as a line of CSV: for whoever wants to draw or count for themselves."""

from __future__ import annotations

import math
from collections.abc import Iterator

from healthcheck.reporting.training_figures import stamp_text
from healthcheck.vitals.log_pace import RowKind
from healthcheck.vitals.log_seen import Seen

HEAD = "file,line,start,step,steps,step_time_s,at,work,unit,survives,lost,kind"


def csv_lines(seen: Seen) -> Iterator[str]:
    """`start`: which start of the training, from 1; `steps`: how many the line stands for, `survives` of them do.

    `work` of one step in `unit`; `lost`: steps that changed no weight; `kind`: steady, warm_up, slow, or apart (with a
    save or an evaluation). What a line does not say is empty.
    """
    yield HEAD
    training, rows = seen.training, seen.training.rows
    for number, (segment, end) in enumerate(zip(training.segments, training.ends(), strict=True)):
        for row in range(max(segment.first, seen.low), min(end, seen.high)):
            busy, steps = seen.pace.busy[row], rows.steps[row]
            cells = (
                _quoted(training.file_of(row)),
                rows.line[row],
                number + 1,
                rows.step[row],
                steps,
                f"{busy / steps:.6g}" if busy > 0 and steps else "",
                _moment(rows.at[row]),
                f"{seen.work.each[row]:.10g}",
                seen.work.unit,
                seen.survival.kept(training, number, row),
                rows.lost[row],
                RowKind(seen.pace.kinds[row]).name.lower(),
            )
            yield ",".join(map(str, cells))


def _moment(at: float) -> str:
    return "" if math.isnan(at) else stamp_text(at, decimals=True)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"' if any(char in name for char in ',"\r\n') else name
