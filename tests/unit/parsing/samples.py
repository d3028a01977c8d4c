"""A small output of the newest era in pieces, for tests that change one thing of it."""

from __future__ import annotations

from healthcheck.model.measurement import CollectiveTable, FailureKind, ParsedOutput

HEAD = """\
# nccl-tests version 2.19.6 nccl-headers=23203 nccl-library=23203
# Collective test starting: all_reduce_perf
# nThread 1 nGpus 1 minBytes 1024 maxBytes 2048 step: 2(factor) warmup iters: 1 iters: 20 agg iters: 1 validation: 1
#
# Using devices
#  Rank  0 Group  0 Pid  17010 on      nodeA device  0 [0000:07:00] NVIDIA A100-SXM4-80GB
#  Rank  1 Group  0 Pid  17012 on      nodeB device  0 [0000:0f:00] NVIDIA A100-SXM4-80GB
#
"""
COLUMNS = """\
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw  #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)  (GB/s)  (GB/s)
"""
LEFT_1 = "        1024           256     float     sum      -1"
LEFT_2 = "        2048           512     float     sum      -1"
ROW_1 = LEFT_1 + "    22.01    0.05    0.05       0    22.02    0.05    0.05       0\n"
ROW_2 = LEFT_2 + "    23.01    0.09    0.09       0    23.02    0.09    0.09       0\n"
FOOTER = """\
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 0.125
#
# Collective test concluded: all_reduce_perf
#

"""
GOOD = HEAD + COLUMNS + ROW_1 + ROW_2 + FOOTER


def only_table(output: ParsedOutput) -> CollectiveTable:
    (table,) = output.tables
    return table


def kinds(output: ParsedOutput) -> list[FailureKind]:
    return [failure.kind for failure in output.failures if not failure.secondary]
