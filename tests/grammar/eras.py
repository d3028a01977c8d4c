"""One output an era and layout trap."""

from __future__ import annotations

from healthcheck.model.collective import Collective
from healthcheck.simulator.render import Extras
from tests.grammar.build import Output, devices

_INFO = "nodeA:4000:4044 [0] NCCL INFO "


def _with_nccl_log(told: int) -> str:
    output = Output(ranks=devices(16, ("nodeA", "nodeB")))
    lines = output.head.splitlines(keepends=True)
    kept = [line for line in lines if " on " not in line or "Rank  0" in line or "Rank 10" in line]
    line = f"ncclCommInitRank comm 0x1 rank 0 nranks {told} cudaDev 0 busId 7000 - Init COMPLETE\n"
    return "".join(kept) + _INFO + line + "".join(output.rows) + output.footer


def _dots(era: str) -> str:
    output = Output(era, Collective.ALL_GATHER, devices(16, ("nodeA", "nodeB")))
    lines = output.head.splitlines(keepends=True)
    cut = next(index for index, line in enumerate(lines) if "Rank 11" in line)
    end = next(index for index, line in enumerate(lines) if "Rank 15" in line)
    return "".join([*lines[:cut], "...\n", *lines[end + 1 :], *output.rows, output.footer])


def _cut_inside_a_device_line() -> str:
    output = Output("E4d", ranks=devices(16, ("nodeA", "nodeB")))
    lines = output.head.splitlines(keepends=True)
    cut = next(index for index, line in enumerate(lines) if "Rank  7" in line)
    lines[cut] = lines[cut][:52]
    return "".join([*lines, *output.rows, output.footer])


def _swept() -> str:
    output = Output("E4d")
    doubles = "".join(output.rows).replace("   float", "  double").replace("     sum", "     max")
    return output.body + doubles + output.footer


def _fork_with_the_time_first() -> str:
    output = Output("E5b")
    text = output.head.replace("#       size", "#           timestamp       size")
    return text + "".join(f"2026-01-02 03:04:05 {line}" for line in output.rows) + output.footer


ERA_TEXTS: dict[str, str | bytes] = {
    "e1-all_reduce": Output("E1").text,
    "e1-all_gather": Output("E1", Collective.ALL_GATHER).text,
    "e1-broadcast-out-of-place-only": Output("E1", Collective.BROADCAST).text,
    "e1-reduce": Output("E1", Collective.REDUCE).text,
    "e1-unchecked-tab": Output("E1", wrong=None).text,
    "e1-parallel-init-no-devices": Output("E1", ranks=(), n_ranks=4).text,
    "e2-all_reduce": Output("E2").text,
    "e2-all_gather-neither-redop-nor-root": Output("E2", Collective.ALL_GATHER).text,
    "e2-all_gather-before-june-2020": Output("E2", Collective.ALL_GATHER, factor=1.0).text.replace(
        "# nThread", "$ ./build/all_gather_perf -b 1M -e 1G -f 32 -g 4\n# nThread", 1
    ),
    "e2-broadcast-root": Output("E2", Collective.BROADCAST).text,
    "e2-reduce-redop-and-root": Output("E2", Collective.REDUCE).text,
    "e2-alltoall-blank-redop": Output("E2", Collective.ALLTOALL).text,
    "e3-sendrecv": Output("E3", Collective.SENDRECV).text,
    "e3-scatter-root": Output("E3", Collective.SCATTER).text,
    "e3-deltas-are-no-counts": Output("E3", wrong=5e-07).text.replace("24 FAILED", "0 OK"),
    "e4a-all_gather-blank-redop": Output("E4a", Collective.ALL_GATHER).text,
    "e4a-broadcast-blank-redop": Output("E4a", Collective.BROADCAST).text,
    "e4a-all_reduce": Output("E4a").text,
    "e4b-all_reduce": Output("E4b").text,
    "e4b-hypercube-blank-redop": Output("E4b", Collective.HYPERCUBE).text,
    "e4b-gather": Output("E4b", Collective.GATHER).text,
    "e4c-full-pci-id": Output("E4c").text,
    "e4d-collective-is-named": Output("E4d", Collective.REDUCE_SCATTER).text,
    "e4d-all-types-and-operations": _swept(),
    "e5a-new-numbers": Output("E5a").text,
    "e5b-version-line": Output("E5b").text,
    "e5c-trailing-blanks": Output("E5c").text,
    "e5c-timestamps": Output("E5e", extras=Extras(timestamps=True)).text.replace("2.18.2", "2.17.6"),
    "e5d-alltoall-in-place-unchecked": Output("E5d", Collective.ALLTOALL).text,
    "e5d-memory": Output("E5d", extras=Extras(memory=True)).text,
    "e5d-cpu-time": Output("E5d", extras=Extras(cpu_time=True)).text,
    "e5e-unalign": Output("E5e").text,
    "e5f-per-iteration": Output("E5f", extras=Extras(per_iteration=True)).text,
    "e5f-per-iteration-and-timestamps": Output("E5f", extras=Extras(per_iteration=True, timestamps=True)).text,
    "e5f-alltoallv": Output("E5f", Collective.ALLTOALLV).text,
    "newest-version-with-commit": Output("newest").text,
    "fork-timestamp-first": _fork_with_the_time_first(),
    "rccl-nranks": Output("rccl-nranks").text,
    "rccl-version": Output("rccl-version", Collective.ALL_GATHER).text,
    "rccl-version-in-place-only": Output("rccl-version", extras=Extras(in_place_only=True)).text,
    "rccl-synced-algorithm": Output("rccl-synced", extras=Extras(algorithm=True)).text,
    "rccl-synced-trailing-blanks": Output("rccl-synced").text.replace("#wrong \n", "#wrong" + " " * 31 + "\n"),
    "split-by-modulo": Output(ranks=devices(8, ("nodeA", "nodeB"), groups=4), n_ranks=2).text,
    "device-list-ends-in-dots": _dots("E5d"),
    "device-list-dots-ranks-by-size": _dots("E4c"),
    "device-list-cut-inside-a-line": _cut_inside_a_device_line(),
    "device-list-elided-ranks-by-nccl": _with_nccl_log(16),
    "one-rank": Output(ranks=devices(1, ("nodeA",))).text,
}
