"""How a peak is derived, step by step, and where a limit came from."""

from __future__ import annotations

PEAK_TEXTS: dict[str, str] = {
    "bound.inside": "inside a node: {rate:g} GB/s a GPU and direction",
    "bound.joined": "in nodes joined by NVLink: {rate:g} GB/s a GPU and direction",
    "bound.in_switches": "added up in the switches: {rate:g} x 2 x {others}/{more} = {bound:.4g}",
    "bound.between": "between nodes: {nics} {nics:NIC|NICs} x {rate:g} Gb/s / 8 = {total:g}",
    "bound.between_slots": "between nodes: {nics} {nics:NIC|NICs} x {rate:g} GB/s of their PCIe slots = {total:g}",
    "bound.lower": "the lower of both: min({inside:.4g}, {between:.4g}) = {bound:.4g}",
    "bound.neighbour": "of one GPU to its neighbour: {own} of {nics} {nics:NIC|NICs} = {bound:.4g}",
    "bound.partners": "of one GPU, {others} of its {partners} partners elsewhere: / {gpus} x {partners}/{others} = "
    "{bound:.4g}",
    "bound.in_network": "added up in the network: x 2 x {others}/{ranks} = {bound:.4g}",
    "bound.in_levels": "first inside, then between nodes: x {others}/({gpus} x {nodes}) = {bound:.4g}",
    "source.limit": "peak: {derivation} (platform {platform}: {source}); fractions: {fractions}",
    "source.known_good": "{limit}; known good: {gbyte_s:g} GB/s ({source})",
    "source.command_line": "command line",
    "source.command_line_healthy": "command line (healthy), {other} (broken)",
    "source.command_line_broken": "{other} (healthy), command line (broken)",
    "source.playbook_stage": "playbook {playbook}, stage {stage}",
    "source.playbook": "playbook {playbook}",
    "source.platform": "platform {platform}",
    "source.default": "default",
}
