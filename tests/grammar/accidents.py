"""Cut, elided and contradictory outputs, and the JSON files of both programs."""

from __future__ import annotations

import json

from healthcheck.model.collective import Collective
from tests.grammar.build import ALGBW, SIZES, Output, devices

GOOD = Output("E5d")
_SECRET = "AWS_SECRET_ACCESS_KEY=do-not-show-me"

_ZERO = "           0             0     float       0"
_ZERO_HALF = "     9.10    0.00    -nan  0e+00"


def _half(algbw: float, wrong: float | None = 0.0) -> dict[str, float | None]:
    return {"time": round(1 / algbw, 4), "alg_bw": algbw, "bus_bw": round(algbw * 1.5, 6), "nwrong": wrong}


def _document(version: int, per_process: int = 1) -> dict[str, object]:
    """What `-J` writes, of 4 ranks."""
    processes = 4 // per_process
    listed: list[dict[str, object]] = [
        {"rank": rank * per_process, "group": 0, "pid": 4000 + rank}
        | {"hostname": "nodeA", "device": rank}
        | {"device_hex": f"0000:{7 + 8 * rank:02x}:00", "device_info": "NVIDIA A100-SXM4-80GB"}
        for rank in range(processes)
    ]
    results = [
        {"size": size, "count": size // 4, "type": "float", "redop": "sum", "root": "    -1"}
        | {"out_of_place": _half(algbw), "in_place": _half(algbw + 0.5), "actual_iterations": 20, "experiment_name": ""}
        for size, algbw in zip(SIZES, ALGBW, strict=True)
    ]
    average = ("average_bus_bandwidith", "bandwidith") if version == 1 else ("average_bus_bandwidth", "bandwidth")
    config: dict[str, object] = {
        "nthreads": 1,
        "ngpus": per_process,
        "minimum_bytes": SIZES[0],
        "maximum_bytes": SIZES[-1],
    }
    config |= {"step_factor": 32, "validation": 1, "blocking_collectives": "false", "parallel_init": "false"}
    config |= {} if version < 2 else {"per_iter_timing": "false"}
    config |= {} if version < 3 else {"per_iter_skip": 0}
    return {
        "version": version,
        "start_time": "2026-01-02 03:04:05",
        "args": ["/opt/nccl-tests/build/all_reduce_perf", "-J", "out.json"],
        "env": ["HOME=/root", _SECRET],
        "nccl_version": 22907,
        "config": config | {"devices": listed},
        "results": results,
        "out_of_bounds": {"count": 0, "okay": "true"},
        average[0]: {average[1]: 97.5, "okay": "unchecked"},
        "errors": [""],
        "end_time": "2026-01-02 03:05:05",
    }


def _packed(document: dict[str, object]) -> str:
    return json.dumps(document, separators=(",", ":")) + "\n"


def _rccl(name: str, wrong: str = "0") -> str:
    lines = [
        {"#wrong": wrong, "algBw": algbw, "busBw": algbw * 1.5, "gpus": 4, "inPlace": side, "name": name}
        | {"redop": "sum", "size": size, "time": round(size / algbw / 1e3, 2), "type": "float"}
        for size, algbw in zip(SIZES, ALGBW, strict=True)
        for side in (0, 1)
    ]
    return "".join(json.dumps(line) + "\n" for line in lines)


def _nan() -> dict[str, object]:
    document = _document(2)
    return document | {"average_bus_bandwidth": {"bandwidth": "nan", "okay": "unchecked"}}


ACCIDENT_TEXTS: dict[str, str | bytes] = {
    "cut-inside-the-last-row": GOOD.body.rstrip("\n")[:-4],
    "cut-behind-the-last-row": GOOD.body,
    "cut-between-the-footer-lines": GOOD.body + GOOD.footer.splitlines(keepends=True)[0],
    "cut-inside-the-footer": GOOD.body + "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 97",
    "cut-behind-the-column-names": GOOD.head,
    "without-column-names": GOOD.head[: GOOD.head.index("#  ", GOOD.head.index("Rank  3"))]
    + "".join(GOOD.rows)
    + GOOD.footer,
    "without-a-head": "".join(GOOD.rows) + GOOD.footer,
    "rows-alone": "".join(GOOD.rows),
    "footer-alone": GOOD.footer,
    "busbw-contradicts-algbw": Output("E5d", factor=1.25).text,
    "numbers-that-overflow": Output("E4d", ranks=devices(1, ("nodeA",))).text.replace("  1.25 ", "619657.10 "),
    "exponents": GOOD.text.replace(" 131.31 ", "  6e+05 ").replace(" 196.96 ", "  9e+05 "),
    "rows-of-size-zero": Output("E3", Collective.GATHER).text.replace(
        Output("E3", Collective.GATHER).rows[0], 2 * (_ZERO + _ZERO_HALF + _ZERO_HALF + "\n")
    ),
    "memory-did-not-suffice": GOOD.text.replace(
        "#\n#  ", "#\n# Reducing maxBytes to 1073741824 due to memory limitation\n#  ", 1
    ),
    "type-unknown": "invalid type flaot, defaulting to float .. \n" + GOOD.text,
    "hypercube-of-three-ranks": Output("E5e", Collective.HYPERCUBE, devices(3, ("nodeA",))).head
    + "nRanks 3 is not a power of 2, skipping\n# Out of bounds values : 0 OK\n# Avg bus bandwidth    : -nan \n",
    "nothing-of-ours": "step 1 loss 2.3\nstep 2 loss 2.2\n10 20 apples and pears\n",
    "empty": "",
    "j-version-1": _packed(_document(1)),
    "j-version-2": _packed(_document(2)),
    "j-version-3": _packed(_document(3)),
    "j-version-4": _packed(_document(4)),
    "j-four-gpus-a-process": _packed(_document(3, per_process=4)),
    "j-pretty-printed": json.dumps(_document(3), indent=2) + "\n",
    "j-crashed": _packed(_document(3))[:-260],
    "j-cut-inside-the-environment": _packed(_document(3))[:180],
    "j-nan": _packed(_nan()),
    "j-wrong": _packed(_document(2))
    .replace('"nwrong":0.0', '"nwrong":24.0')
    .replace('"okay":"true"', '"okay":"false"'),
    "j-unchecked": _packed(_document(2)).replace('"nwrong":0.0', '"nwrong":null'),
    "j-two-files-in-one": _packed(_document(2)) + _packed(_document(3)),
    "j-of-another-program": '{"version": "1.2.3", "name": "a package", "env": ["' + _SECRET + '"]}\n',
    "rccl-json-lines": _rccl("AllReduce"),
    "rccl-json-lines-wrong": _rccl("AllReduce", wrong="7"),
    "rccl-json-lines-two-collectives": _rccl("AllReduce") + _rccl("Broadcast"),
}
