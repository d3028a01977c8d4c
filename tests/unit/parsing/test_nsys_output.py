"""What nsys says between the lines of a training."""

from __future__ import annotations

import pytest

from healthcheck.parsing.nsys_output import NsysEvent, NsysLine, NsysTrouble, read_line


@pytest.mark.parametrize(
    ("line", "means"),
    [
        ("Capture range started in the application.", NsysEvent.RANGE_BEGUN),
        ("Capture range ended in the application.", NsysEvent.RANGE_ENDED),
        ("Generating '/tmp/nsys-report-3a1f.qdstrm'", NsysEvent.RANGE_ENDED),
        ("    No reports were generated.", NsysEvent.NO_REPORT),
        ("    /home/u/.cache/healthcheck/run/0/node0.nsys-rep", NsysEvent.REPORT_WRITTEN),
        ("ERR_NVGPUCTRPERM: The user does not have permission", NsysTrouble.PERMISSION),
        ("Subscribe returned 999: CUPTI_ERROR_UNKNOWN", NsysTrouble.CUPTI),
        ("CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED", NsysTrouble.SUBSCRIBED),
        ("unrecognised option '--cuda-graph-trace=node'", NsysTrouble.OPTION),
        ("write failed: No space left on device", NsysTrouble.NO_ROOM),
        (" iteration  20/ 500 | elapsed time per iteration (ms): 812.1 |", None),
        ("saving checkpoint report to /ckpt", None),
        ("", None),
    ],
)
def test_lines_of_the_profiler_are_told_from_those_of_a_training(
    line: str, means: NsysEvent | NsysTrouble | None
) -> None:
    heard = read_line(line) or NsysLine()
    assert (heard.event or heard.trouble) is means
