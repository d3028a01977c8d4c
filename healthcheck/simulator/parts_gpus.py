"""What a simulated node says about its GPUs, NVLinks and NVSwitches."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from healthcheck.simulator.chips import chip_named
from healthcheck.simulator.cluster import SimCluster, SimNode
from healthcheck.simulator.gpu_names import bus_of, gpu_model, gpu_uuid
from healthcheck.simulator.nvlinks import is_switched, links_of_gpu

_EVENT_REASONS_SINCE, _FABRIC_SINCE, _RECOVERY_SINCE = 535, 535, 560
"""The first drivers that know these fields."""


def _driver_major(node: SimNode) -> int:
    return int(node.driver.partition(".")[0])


def gpu_state(cluster: SimCluster, node: SimNode, text: str) -> str:
    """The csv of `nvidia-smi --query-gpu` as its driver tells it after the fields it does not know were left out."""
    loaded, joined = cluster.at_work(node.name), links_of_gpu(cluster.platform) > 0
    model, vbios = gpu_model(cluster.platform), cluster.generation.vbios
    header, cells = _state_cells(model, _driver_major(node), vbios, loaded, joined)
    rows = (f"{index}, {gpu_uuid(node.name, index)}, {cells}\n" for index in range(node.gpus))
    return header + "".join(rows)


@lru_cache(maxsize=64)
def _state_cells(model: str, driver_major: int, vbios: str, loaded: bool, linked: bool) -> tuple[str, str]:
    """The header line, and what every healthy GPU shows behind its uuid, idle or at work."""
    chip = chip_named(model)
    generation = str(chip.pcie)
    joined = ("Completed", "Success") if chip.joins_fabric and linked else ("[N/A]", "[N/A]")
    retired = ("[N/A]", "[N/A]", "[N/A]") if chip.remaps else ("0", "0", "No")
    reasons = "clocks_event_reasons" if driver_major >= _EVENT_REASONS_SINCE else "clocks_throttle_reasons"
    columns = [
        ("index", ""),
        ("uuid", ""),
        ("name", model),
        ("vbios_version", chip.vbios or vbios),
        ("persistence_mode", "Enabled"),
        ("compute_mode", "Default"),
        ("mig.mode.current", chip.mig),
        ("ecc.mode.current", "Enabled"),
        ("ecc.mode.pending", "Enabled"),
        ("ecc.errors.uncorrected.volatile.total", "0"),
        ("ecc.errors.corrected.volatile.total", "0"),
        ("ecc.errors.uncorrected.aggregate.sram", "0" if chip.remaps else "[N/A]"),
        ("retired_pages.single_bit_ecc.count", retired[0]),
        ("retired_pages.double_bit.count", retired[1]),
        ("retired_pages.pending", retired[2]),
        ("pcie.link.gen.current", generation),
        ("pcie.link.gen.max", generation),
        ("pcie.link.width.current", "16"),
        ("pcie.link.width.max", "16"),
        ("clocks.current.sm [MHz]", f"{chip.sm_mhz if loaded else chip.idle_mhz} MHz"),
        ("clocks.max.sm [MHz]", f"{chip.sm_mhz} MHz"),
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
    """No row was ever remapped; what is older than Ampere has none to remap."""
    cells = "0, 0, 0, 0" if chip_named(gpu_model(cluster.platform)).remaps else ", ".join(["[N/A]"] * 4)
    rows = (f"{gpu_uuid(node.name, index)}, {cells}\n" for index in range(node.gpus))
    return (
        "gpu_uuid, remapped_rows.correctable, remapped_rows.uncorrectable, remapped_rows.pending, "
        "remapped_rows.failure\n" + "".join(rows)
    )


def nvlink(cluster: SimCluster, node: SimNode, text: str) -> str:
    """All links up; where the NVLinks of a node deliver less, that share of the links of GPU 0 is inactive."""
    model = gpu_model(cluster.platform)
    links, speed = links_of_gpu(cluster.platform), chip_named(model).link_gbyte_s
    if not links:
        heads = "".join(f"GPU {index}: {model} (UUID: {gpu_uuid(node.name, index)})\n" for index in range(node.gpus))
        return f"#status\n{heads}#errors\n{heads}#end\n"
    inactive = inactive_links(links, node.capability.nvlink)
    status, errors = [], []
    for index in range(node.gpus):
        head = f"GPU {index}: {model} (UUID: {gpu_uuid(node.name, index)})\n"
        status.append(head + _link_lines(links, inactive if index == 0 else 0, speed))
        errors.append(head + _counter_lines(links))
    return f"#status\n{''.join(status)}#errors\n{''.join(errors)}#end\n"


def inactive_links(links: int, share: float) -> int:
    """A GPU that lost all its links would be told by another line; one link always stays."""
    return 0 if share >= 1.0 else min(links - 1, max(1, round(links * (1.0 - share))))


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
    return _fabric(gpu_model(cluster.platform), is_switched(cluster.platform), node.gpus, node.driver)


@lru_cache(maxsize=256)
def _fabric(model: str, switched: bool, gpus: int, driver: str) -> str:
    chip = chip_named(model)
    lines = [f"gpu 0000:{bus_of(index)}:00.0 0x{chip.pci_id}" for index in range(gpus)]
    if switched:
        lines += [f"switch 0000:{bus}:00.0 0x{chip.switch_id}" for bus in chip.switches]
        lines += ["unit LoadState=loaded", "unit ActiveState=active", "process yes"]
        lines += [f"version Fabric Manager version is : {driver}"]
    else:
        lines += ["unit LoadState=not-found", "unit ActiveState=inactive", "process no"]
    return "\n".join([*lines, "end", ""])


PARTS: dict[str, Callable[[SimCluster, SimNode, str], str]] = {
    "gpu_state": gpu_state,
    "gpu_memory": gpu_memory,
    "nvlink": nvlink,
    "fabric": fabric,
}
"""By name of the part of the probe batch; the last argument is the text of the part."""
