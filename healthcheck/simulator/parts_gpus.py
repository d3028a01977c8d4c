"""What a simulated node says about its GPUs, NVLinks and NVSwitches."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from healthcheck.model.gpu_models import BoardGpu, board_gpu
from healthcheck.simulator.cluster import SimCluster, SimNode
from healthcheck.simulator.gpu_names import bus_of, gpu_model, gpu_uuid

_EVENT_REASONS_SINCE, _FABRIC_SINCE, _RECOVERY_SINCE = 535, 535, 560
"""The first drivers that know these fields."""

_LINK_SPEEDS = {12: "25", 6: "25.781", 8: "25", 4: "20"}
_HOPPER_SPEED, _BLACKWELL_SPEED = "26.562", "53.125"
_SWITCHES_A100 = ("c4", "c5", "c6", "c7", "c8", "c9")
_SWITCHES_HOPPER = ("05", "06", "07", "08")
_NO_SWITCH_ON_PCI = ("B200", "B300")


def _driver_major(node: SimNode) -> int:
    return int(node.driver.partition(".")[0])


def gpu_state(cluster: SimCluster, node: SimNode, text: str) -> str:
    """The csv of `nvidia-smi --query-gpu` as its driver tells it after the fields it does not know were left out."""
    loaded = cluster.at_work(node.name)
    header, cells = _state_cells(gpu_model(cluster.platform), _driver_major(node), cluster.generation.vbios, loaded)
    rows = (f"{index}, {gpu_uuid(node.name, index)}, {cells}\n" for index in range(node.gpus))
    return header + "".join(rows)


@lru_cache(maxsize=64)
def _state_cells(model: str, driver_major: int, vbios: str, loaded: bool) -> tuple[str, str]:
    """The header line, and what every healthy GPU shows behind its uuid, idle or at work."""
    board = board_gpu(model)
    hopper = board is not None and board.links == 18
    generation, sm_mhz, idle_mhz = ("5", 1980, 345) if hopper else ("4", 1410, 210)
    joined = ("Completed", "Success") if hopper else ("[N/A]", "[N/A]")
    reasons = "clocks_event_reasons" if driver_major >= _EVENT_REASONS_SINCE else "clocks_throttle_reasons"
    columns = [
        ("index", ""),
        ("uuid", ""),
        ("name", model),
        ("vbios_version", vbios),
        ("persistence_mode", "Enabled"),
        ("compute_mode", "Default"),
        ("mig.mode.current", "Disabled"),
        ("ecc.mode.current", "Enabled"),
        ("ecc.mode.pending", "Enabled"),
        ("ecc.errors.uncorrected.volatile.total", "0"),
        ("ecc.errors.corrected.volatile.total", "0"),
        ("ecc.errors.uncorrected.aggregate.sram", "0"),
        ("retired_pages.single_bit_ecc.count", "[N/A]"),
        ("retired_pages.double_bit.count", "[N/A]"),
        ("retired_pages.pending", "[N/A]"),
        ("pcie.link.gen.current", generation),
        ("pcie.link.gen.max", generation),
        ("pcie.link.width.current", "16"),
        ("pcie.link.width.max", "16"),
        ("clocks.current.sm [MHz]", f"{sm_mhz if loaded else idle_mhz} MHz"),
        ("clocks.max.sm [MHz]", f"{sm_mhz} MHz"),
        ("temperature.gpu", "58" if loaded else "31"),
        (f"{reasons}.active", "0x0000000000000000" if loaded else "0x0000000000000001"),
    ]
    if driver_major >= _FABRIC_SINCE:
        columns += [("fabric.state", joined[0]), ("fabric.status", joined[1])]
    if driver_major >= _RECOVERY_SINCE:
        columns += [("gpu_recovery_action", "None")]
    header = ", ".join(name for name, _ in columns) + "\n"
    return header, ", ".join(value for _, value in columns[2:])


def gpu_memory(cluster: SimCluster, node: SimNode, text: str) -> str:
    """No row was ever remapped."""
    rows = (f"{gpu_uuid(node.name, index)}, 0, 0, 0, 0\n" for index in range(node.gpus))
    return (
        "gpu_uuid, remapped_rows.correctable, remapped_rows.uncorrectable, remapped_rows.pending, "
        "remapped_rows.failure\n" + "".join(rows)
    )


def nvlink(cluster: SimCluster, node: SimNode, text: str) -> str:
    """All links up; where the NVLinks of a node deliver less, that share of the links of GPU 0 is inactive."""
    model = gpu_model(cluster.platform)
    board = board_gpu(model)
    if board is None:
        heads = "".join(f"GPU {index}: {model} (UUID: {gpu_uuid(node.name, index)})\n" for index in range(node.gpus))
        return f"#status\n{heads}#errors\n{heads}#end\n"
    inactive = inactive_links(board.links, node.capability.nvlink)
    speed = _speed(model, board)
    status, errors = [], []
    for index in range(node.gpus):
        head = f"GPU {index}: {model} (UUID: {gpu_uuid(node.name, index)})\n"
        status.append(head + _link_lines(board.links, inactive if index == 0 else 0, speed))
        errors.append(head + _counter_lines(board.links))
    return f"#status\n{''.join(status)}#errors\n{''.join(errors)}#end\n"


def inactive_links(links: int, share: float) -> int:
    """A GPU that lost all its links would be told by another line; one link always stays."""
    return 0 if share >= 1.0 else min(links - 1, max(1, round(links * (1.0 - share))))


def _speed(model: str, board: BoardGpu) -> str:
    if any(name in model for name in _NO_SWITCH_ON_PCI):
        return _BLACKWELL_SPEED
    return _LINK_SPEEDS.get(board.links, _HOPPER_SPEED)


@lru_cache(maxsize=256)
def _link_lines(links: int, inactive: int, speed: str) -> str:
    first = links - inactive
    return "".join(f"\t Link {link}: {f'{speed} GB/s' if link < first else '<inactive>'}\n" for link in range(links))


@lru_cache(maxsize=16)
def _counter_lines(links: int) -> str:
    kinds = ("Replay Errors", "Recovery Errors", "CRC Errors")
    return "".join(f"\t Link {link}: {kind}: 0\n" for link in range(links) for kind in kinds)


def fabric(cluster: SimCluster, node: SimNode, text: str) -> str:
    """The NVSwitches of the board, and a fabric manager of the driver's version where there are any."""
    return _fabric(gpu_model(cluster.platform), cluster.platform.gpu.count, node.gpus, node.driver)


@lru_cache(maxsize=256)
def _fabric(model: str, promised: int, gpus: int, driver: str) -> str:
    board = board_gpu(model)
    lines = [
        f"gpu 0000:{bus_of(index)}:00.0 0x{'2330' if board and board.links == 18 else '20b2'}" for index in range(gpus)
    ]
    if board is not None and board.switched and promised >= 8:
        lines += _switches(model, board)
        lines += ["unit LoadState=loaded", "unit ActiveState=active", "process yes"]
        lines += [f"version Fabric Manager version is : {driver}"]
    else:
        lines += ["unit LoadState=not-found", "unit ActiveState=inactive", "process no"]
    return "\n".join([*lines, "end", ""])


def _switches(model: str, board: BoardGpu) -> list[str]:
    if any(name in model for name in _NO_SWITCH_ON_PCI):
        return []
    if board.links == 18 or "H800" in model:
        return [f"switch 0000:{bus}:00.0 0x22a3" for bus in _SWITCHES_HOPPER]
    return [f"switch 0000:{bus}:00.0 0x1af1" for bus in _SWITCHES_A100]


PARTS: dict[str, Callable[[SimCluster, SimNode, str], str]] = {
    "gpu_state": gpu_state,
    "gpu_memory": gpu_memory,
    "nvlink": nvlink,
    "fabric": fabric,
}
"""By name of the part of the probe batch; the last argument is the text of the part."""
