"""Four ways to hear of the same port give the same port."""

from __future__ import annotations

import pytest

from healthcheck.model.node import Hca
from healthcheck.parsing.infiniband import (
    read_counters,
    read_ibstat,
    read_ibv_devinfo,
    read_rdma_link,
    read_sysfs,
)
from tests.unit.probes.fixtures import answer


def lines(fixture: str) -> list[str]:
    return answer("hcas", fixture).stdout.splitlines()


def test_sysfs_tells_everything_but_the_mtu_of_rdma() -> None:
    assert read_sysfs(lines("healthy_sysfs"))[2] == Hca(
        device="mlx5_2",
        port=1,
        state="4: ACTIVE",
        physical_state="5: LinkUp",
        rate_gbit_s=200.0,
        rate_text="200 Gb/sec (4X HDR)",
        link_layer="InfiniBand",
        firmware="20.41.1000",
        board_id="MT_0000000223",
        hca_type="MT4123",
        lid=30,
        sm_lid=1,
        pci_address="0000:4b:00.0",
        netdev="ibp75s0",
        mtu=4092,
    )


def test_ibstat_tells_rate_and_lids() -> None:
    port = read_ibstat(lines("healthy_ibstat"))[0]
    assert (port.active, port.rate_gbit_s, port.lid, port.sm_lid) == (True, 200.0, 12, 1)
    assert (port.hca_type, port.firmware, port.source) == ("MT4123", "20.41.1000", "ibstat")


def test_ibv_devinfo_multiplies_width_and_speed() -> None:
    port = read_ibv_devinfo(lines("sick_half_rate_devinfo"))[2]
    assert (port.device, port.rate_gbit_s, port.rate_text) == (
        "mlx5_2",
        100.0,
        "100 Gb/sec (4X (2) x 25.0 Gbps (32))",
    )
    assert (port.active, port.active_mtu, port.lid, port.board_id, port.hca_type) == (
        True,
        4096,
        30,
        "MT_0000000223",
        "MT4123",
    )


def test_rdma_link_is_read_in_its_old_and_its_new_form() -> None:
    new, old = read_rdma_link(
        [
            "link mlx5_0/1 state ACTIVE physical_state LINK_UP netdev ens1f0np0 ",
            "2/1: mlx5_1/1: subnet_prefix fe80:0000:0000:0000 lid 13399 sm_lid 49151 state DOWN physical_state POLLING",
        ]
    )
    assert (new.device, new.active, new.netdev, new.link_layer, new.rate_gbit_s) == (
        "mlx5_0",
        True,
        "ens1f0np0",
        "",
        None,
    )
    assert (old.device, old.active, old.lid, old.sm_lid, old.link_layer) == (
        "mlx5_1",
        False,
        13399,
        49151,
        "InfiniBand",
    )


@pytest.mark.parametrize(
    ("printed", "state"),
    [
        ("4: ACTIVE", "ACTIVE"),
        ("Active", "ACTIVE"),
        ("PORT_ACTIVE (4)", "ACTIVE"),
        ("2: INIT", "INIT"),
        ("Initializing", "INIT"),
        ("PORT_INIT (2)", "INIT"),
        ("3: ARMED", "ARMED"),
        ("1: DOWN", "DOWN"),
        ("", ""),
    ],
)
def test_states_are_understood_however_they_are_spelled(printed: str, state: str) -> None:
    port = Hca("mlx5_0", 1, printed, "", None, "", "")
    assert (port.link_state, port.active) == (state, state == "ACTIVE")


@pytest.mark.parametrize("name", ["mlx5_ib0", "mlx5_bond_0", "rocep12s0f0", "ibp12s0", "bnxt_re0", "rdmap16s27"])
def test_cards_have_many_names(name: str) -> None:
    assert [port.device for port in read_sysfs([f"{name} 1 state 4: ACTIVE"])] == [name]


@pytest.mark.parametrize(
    "line",
    [
        "mlx5_0 ² state 4: ACTIVE",
        "mlx5_0 ١ state 4: ACTIVE",
        "../../etc 1 state 4: ACTIVE",
        "mlx5_0 9999 state 4: ACTIVE",
        "mlx5_0 0 state 4: ACTIVE",
        "mlx5_0 1 fw_ver 20.41.1000",
        "\x1b[1mmlx5_0 1 state 4: ACTIVE",
    ],
)
def test_what_is_no_port_makes_none(line: str) -> None:
    assert read_sysfs([line]) == ()


def test_values_nobody_understands_are_unknown() -> None:
    (port,) = read_sysfs(
        [
            "mlx5_0 1 state 4: ACTIVE",
            "mlx5_0 1 rate " + "9" * 300,
            "mlx5_0 1 lid 0xnothing",
            "mlx5_0 1 sm_lid c",
            "mlx5_0 1 mtu jumbo",
            "mlx5_0 0 pci rxe",
        ]
    )
    known = (port.rate_gbit_s, port.lid, port.sm_lid, port.mtu, port.pci_address, port.firmware)
    assert known == (None,) * 6


def test_counters_that_do_not_count_are_left_out() -> None:
    (port,) = read_counters(
        [
            "mlx5_0 1 symbol_error 3",
            "mlx5_0 1 link_downed N/A (no PMA)",
            "mlx5_0 1 port_rcv_errors -1",
            "mlx5_0 1 symbol_error_of_ours 3",
            "mlx5_0 ² symbol_error 3",
            "mlx5_1 1 symbol_error " + "9" * 300,
        ],
        frozenset({"symbol_error", "link_downed", "port_rcv_errors"}),
    )
    assert (port.device, port.values) == ("mlx5_0", (("symbol_error", 3),))
