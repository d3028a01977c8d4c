"""The spelling of a component is its kind; a node may have any host name."""

from __future__ import annotations

import pytest

from healthcheck.model.component import FABRIC, Kind, gpu, hca, link, node, path


@pytest.mark.parametrize("name", ["node01", "link", "rail", "path", "hca", "fe80::1", "10.0.0.1"])
def test_every_host_name_is_a_node_with_parts(name: str) -> None:
    assert (node(name).kind, node(name).host) == (Kind.NODE, name)
    assert (hca(name, "mlx5_0").kind, hca(name, "mlx5_0").host) == (Kind.HCA, name)
    assert (gpu(name, 3).kind, gpu(name, 3).host) == (Kind.GPU, name)


def test_what_lies_between_nodes_belongs_to_none() -> None:
    assert (FABRIC.kind, FABRIC.host) == (Kind.FABRIC, None)
    assert link("b", "a") == link("a", "b")
    assert (link("a", "b").kind, path("l1", "l2").kind) == (Kind.LINK, Kind.PATH)
    assert link("a", "b").host is path("l1", "l2").host is None
