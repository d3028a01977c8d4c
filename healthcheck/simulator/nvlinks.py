"""Which GPUs of a simulated node share how many NVLinks: switches, a mesh of four, the cube of DGX-1, bridges, none."""

from __future__ import annotations

from functools import lru_cache

from healthcheck.model.gpu_models import FULL_BOARD, board_gpu
from healthcheck.model.platform import Platform
from healthcheck.simulator.gpu_names import gpu_model
from healthcheck.simulator.healthy import Same

Cells = tuple[tuple[int, ...], ...]
"""Links between two GPUs by their numbers; 0 where only PCIe joins them."""

_BRIDGE, _BRIDGE_H200, _LEAST_BRIDGED_GBYTE_S = 12, 18, 100.0
_CUBE = (
    (0, 1, 1, 2, 2, 0, 0, 0),
    (1, 0, 2, 1, 0, 2, 0, 0),
    (1, 2, 0, 2, 0, 0, 1, 0),
    (2, 1, 2, 0, 0, 0, 0, 1),
    (2, 0, 0, 0, 0, 1, 1, 2),
    (0, 2, 0, 0, 1, 0, 2, 1),
    (0, 0, 1, 0, 1, 2, 0, 2),
    (0, 0, 0, 1, 2, 1, 2, 0),
)
"""As `nvidia-smi topo -m` prints it on a DGX-1V."""
_CUBE_RING = (0, 1, 2, 3, 7, 6, 5, 4)
_CUBE_SHARED = 6
"""Links of a V100, all of them used in the cube; a P100 has four and shares one with each neighbour."""


def cells(platform: Platform) -> Cells:
    """What each two GPUs of a healthy node share."""
    return _cells(Same(platform))


@lru_cache(maxsize=64)
def _cells(same: Same) -> Cells:
    platform = same.platform
    count, board = platform.gpu.count, board_gpu(gpu_model(platform))
    if board is None:
        return _bridged(platform)
    if (board.switched and count >= FULL_BOARD) or platform.nvlink_nodes > 1:
        return _uniform(count, board.links)
    if count == len(_CUBE):
        most = 2 if board.links >= _CUBE_SHARED else 1
        return tuple(tuple(min(most, links) for links in row) for row in _CUBE)
    return _uniform(count, board.links // max(1, count - 1))


def links_of_gpu(platform: Platform) -> int:
    """NVLinks of one GPU of a healthy node, 0 where it has none."""
    board = board_gpu(gpu_model(platform))
    return board.links if board is not None else sum(cells(platform)[0])


def is_switched(platform: Platform) -> bool:
    """Do switches on the board of the node join its GPUs?"""
    board = board_gpu(gpu_model(platform))
    return board is not None and board.switched and platform.gpu.count >= FULL_BOARD


def bridge_of(platform: Platform) -> int:
    """How many cards one set of bridges joins; 1 where there are none, or where a board joins them."""
    if board_gpu(gpu_model(platform)) is not None:
        return 1
    if platform.has_nvlink:
        return platform.gpu.count
    joined = [fewer.gpus for fewer in platform.intra_of_fewer_gbyte_s if fewer.value >= _LEAST_BRIDGED_GBYTE_S]
    return max(joined, default=1)


def cycle(joined: Cells) -> tuple[int, ...]:
    """The order in which a ring visits the GPUs: as they are numbered, but in the cube from neighbour to neighbour."""
    is_cube = len(joined) == len(_CUBE_RING) and joined[0][4] > 0 and joined[0][5] == 0
    return _CUBE_RING if is_cube else tuple(range(len(joined)))


def _bridged(platform: Platform) -> Cells:
    size, count = bridge_of(platform), platform.gpu.count
    links = (_BRIDGE_H200 if "H200" in gpu_model(platform) else _BRIDGE) // max(1, size - 1)
    return tuple(
        tuple(links if one != other and one // size == other // size else 0 for other in range(count))
        for one in range(count)
    )


def _uniform(count: int, links: int) -> Cells:
    return tuple(tuple(0 if one == other else links for other in range(count)) for one in range(count))
