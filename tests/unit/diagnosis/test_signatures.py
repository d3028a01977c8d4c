"""Lines as NCCL and launchers print them, version by version, and the cause each one shows."""

from __future__ import annotations

import pytest

from healthcheck.diagnosis.causes import CAUSES, cause_of_line
from healthcheck.parsing.nccl_remarks import is_remark

_PEER = "Got completion from peer 10.0.0.2<40000> with"

LINES = (
    (f"{_PEER} error 12, opcode 1, len 0, vendor err 129", "retry_exceeded"),
    (f"{_PEER} status=12 opcode=129 len=0 vendor err 129 (Recv) hca mlx5_2", "retry_exceeded"),
    (f"{_PEER} status=IBV_WC_RETRY_EXC_ERR(12) opcode=IBV_WC_SEND(0) vendor_err=129", "retry_exceeded"),
    (f"{_PEER} status=4 opcode=2 len=0 vendor err 81 (Recv)", "dma_blocked"),
    (f"{_PEER} status=5 opcode=0 len=0 vendor err 249 (Send)", "work_flushed"),
    (f"{_PEER} status=IBV_WC_WR_FLUSH_ERR(5) opcode=IBV_WC_SEND(0)", "work_flushed"),
    (f"{_PEER} error 10, opcode 1, len 0, vendor err 136", "remote_refused"),
    (f"{_PEER} status=IBV_WC_RNR_RETRY_EXC_ERR(13) opcode=IBV_WC_SEND(0)", "receiver_not_ready"),
    ("Call to ibv_modify_qp failed with error Connection timed out", "roce_peer_silent"),
    ("Call to ibv_modify_qp failed with 110 Connection timed out, on dev mlx5_3:1", "roce_peer_silent"),
    ("Call to ibv_modify_qp failed with 101 Network is unreachable, on dev mlx5_3:1", "roce_no_route"),
    ("Call to ibv_modify_qp failed with error Invalid argument", "gid_wrong"),
    ("Call to ibv_modify_qp failed with error No such device", "device_hidden"),
    ("Call to ibv_create_ah failed with error Invalid argument", "gid_wrong"),
    ("Call to ibv_reg_mr_iova2 failed with error Cannot allocate memory", "verbs_memory_locked"),
    ("Call to ibv_create_cq failed with error Cannot allocate memory", "verbs_memory_locked"),
    ("Call to ibv_reg_mr failed with error Bad address", "memory_not_registered"),
    ("Call to ibv_query_device failed with error Input/output error", "verbs_call_failed"),
    ("NET/IB : Unable to open device mlx5_0", "verbs_not_permitted"),
    ("NET/IB : No device found.", "no_ib_device"),
    ("Failed to open libibverbs.so[.1]", "libibverbs_missing"),
    ("NET/IB : mlx5_4:1 Got async event : port error", "port_error_event"),
    ("NET/IB : mlx5_4:1 async fatal event: port error", "port_error_event"),
    ("NET/IB : mlx5_4:1 Got non-fatal async event: GID table change(18)", "gid_table_changed"),
    ("Detected mixed local Net device counts", "net_devices_differ"),
    ("Attempted to merge incompatible devices: [0]mlx5_0:1/IB and [1]mlx5_1:1/RoCE.", "link_layers_mixed"),
    ("Bootstrap : no socket interface found", "no_socket_interface"),
    ("socketStartConnect: Connect to 10.1.2.3<35000> failed : No route to host", "peer_not_reached"),
    ("Call to connect returned Connection refused, retrying", "peer_not_reached"),
    ("TCP connect to 10.1.2.3:1024 failed: No route to host (113)", "peer_not_reached"),
    ("socketPollConnect: connect to 10.1.2.3<35000> returned Connection timed out, retrying", "peer_not_reached"),
    ("connect() to 10.0.0.2:1024 failed: Connection timed out (110)", "peer_not_reached"),
    ("unable to connect to the peer 10.0.0.2 on port 1024: Connection refused", "peer_not_reached"),
    ("ssh: connect to host node02 port 22: Connection refused", "peer_not_reached"),
    (
        "socketStartConnect: Connect to fe80::1%ib0<35000> failed : Cannot assign requested address",
        "address_not_assigned",
    ),
    ("Call to recv from 10.0.0.2<5> failed : Broken pipe", "peer_closed"),
    ("NET/OFI aws-ofi-nccl initialization failed", "efa_missing"),
    ("NET/OFI Couldn't open a fabric provider. RC: -22, ERROR: Invalid argument", "efa_missing"),
    ("SHARP coll init error: Cannot connect to sharp_am(-8)", "sharp_failed"),
    ("CollNet: SHARP group create failed", "sharp_failed"),
    ("Net : Connection closed by remote peer node02<37000>", "peer_closed"),
    ("Call to recv from 10.0.0.2<5> failed : Connection reset by peer", "peer_closed"),
    ("socketFinalizeAccept: wrong type 3 != 4", "stray_connection"),
    ("Message truncated : received 1024 bytes instead of 256", "message_truncated"),
    ("Mismatched NCCL version detected : rank 0 version 22203 rank 1 version 21805", "nccl_versions_differ"),
    ("P2P is disabled between NVLINK connected GPUs 1 and 0", "nvlink_peers_off"),
    ("P2P is disabled between connected GPUs 1 and 0. You can repress this message", "pcie_peers_off"),
    ("transport/nvls.cc:169 Cuda failure 1 'invalid argument'", "nvls_stale"),
    ("Cuda failure 'system not yet initialized'", "fabric_not_initialised"),
    ("Cuda failure 802 'system not yet initialized'", "fabric_not_initialised"),
    ("Cuda failure 711 'peer mapping resources exhausted'", "too_many_peers"),
    ("Cuda failure 800 'operation not permitted'", "imex_missing"),
    ("Cuda failure 'out of memory'", "out_of_memory"),
    ("Cuda failure 'uncorrectable ECC error encountered'", "gpu_memory_fault"),
    ("Cuda failure 'CUDA driver version is insufficient for CUDA runtime version'", "driver_too_old"),
    ("Cuda failure 999 'unknown error'", "cuda_error"),
    ("nvmlInit_v2() failed: Driver/library version mismatch", "driver_library_differ"),
    ("nvmlDeviceGetHandleByPciBusId() failed: GPU is lost", "nvml_lost_gpu"),
    ("Test CUDA failure common.cu:1005 'invalid device ordinal'", "too_many_ranks"),
    ("Duplicate GPU detected : rank 1 and rank 0 both on CUDA device 7000", "duplicate_gpu"),
    ("Error: failed to extend /dev/shm/nccl-AbCdEf to 9637892 bytes", "shm_too_small"),
    ("fallocate: Failed to extend /dev/shm/nccl-x to 33030532 bytes", "shm_too_small"),
    ("Error while attaching to shared memory segment /dev/shm/nccl-x (size 4096)", "shm_not_shared"),
    ("unlink shared memory /dev/shm/nccl-x failed, error: No such file or directory", "shm_removed"),
    ("socketStartConnect: Too many open files", "too_many_open_files"),
    ("No algorithm/protocol available", "algorithm_impossible"),
    ("NET/OFI Unable to find a protocol that worked.  Failing initialization", "efa_missing"),
    ("Failed to initialize any NET plugin", "net_plugin_forced"),
    ("Failed to execute operation Connect from rank 3, retcode 3", "proxy_failed"),
    ("MNNVL (cliqueId 7) is available but not working on some system.", "mnnvl_not_working"),
    ("Could not find real path of /sys/class/pci_bus/0000:07/../../0000:07:00.0", "topology_hidden"),
    (
        "NCCL failure common.cu:958 'unhandled system error (run with NCCL_DEBUG=INFO for details)",
        "error_without_reason",
    ),
)


@pytest.mark.parametrize(("line", "code"), LINES, ids=lambda part: part[:40])
def test_a_line_shows_its_cause(line: str, code: str) -> None:
    found = cause_of_line(line)
    assert found is not None
    assert found.code == code


@pytest.mark.parametrize(
    "line",
    [
        "NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB [RO]; OOB eth0:10.0.0.1<0>",
        "Channel 00/0 : 0[7000] -> 1[f000] via P2P/IPC/read",
        "Could not find a path for pattern 4, falling back to simple order",
        "comm 0x55 rank 0 nranks 16 cudaDev 0 busId 7000 - Init COMPLETE",
        "Using network IB",
        "NET/IB : set SHARP error handling",
        "CollNet: sharp init OK, no error",
        "SHARP: no error: all groups are up",
        "connect timed out waiting for SM",
        "Reconnect: timed out jobs are cleaned",
        "mca: base: component hcoll is not selected",
        "cuMemCreate of 4096 bytes failed for peer 3: out of memory",
    ],
)
def test_a_line_of_a_good_run_shows_none(line: str) -> None:
    assert cause_of_line(line) is None


REMARKS = (
    "ras/client_support.cc:159 Call to bind failed: Address already in use",
    "src/ras/ras.cc:77 RAS thread could not be started",
    "RAS failed to establish a client listening socket at localhost<28028>",
    "NET/Plugin: Could not find: libnccl-net.so.",
    "NET/Plugin : No plugin found (libnccl-net.so), using internal implementation",
    "PROFILER/Plugin: Could not find: libnccl-profiler.so",
    "TUNER/Plugin: Failed to find ncclTunerPlugin_v2 symbol",
    "plugin/profiler.cc:120 no callback",
    "Could not find a path for pattern 4, falling back to simple order",
    "NET/IB : set SHARP error handling",
    "CollNet: sharp init OK, no error",
    "Call to ibv_set_ece failed with error Operation not supported errno 95",
    "NUMA auto balancing enabled which can lead to variability",
)


@pytest.mark.parametrize("line", REMARKS)
def test_a_remark_of_good_runs_is_known_as_one(line: str) -> None:
    assert is_remark(line)


@pytest.mark.parametrize(("line", "code"), LINES, ids=lambda part: part[:40])
def test_no_line_with_a_cause_is_a_remark(line: str, code: str) -> None:
    assert not is_remark(line), code


def test_an_info_line_shows_only_what_its_row_says_info_tells() -> None:
    head = "node01:40:41 [0] NCCL {} "
    for line, code in LINES:
        said = cause_of_line(head.format("WARN") + line)
        assert said is not None and said.code == code
        info = cause_of_line(head.format("INFO") + line)
        assert info is None or info.info, line
    assert cause_of_line(head.format("INFO") + LINES[0][0]) is not None
    assert cause_of_line(head.format("INFO") + "connect to 10.0.0.2<5> failed : Connection refused") is None


def test_nearly_every_signature_has_its_line_here() -> None:
    shown = {code for _, code in LINES}
    without = {cause.code for cause in CAUSES if cause.signature} - shown
    assert len(without) < 20, without


def test_what_only_follows_is_told_from_what_came_first() -> None:
    secondary = {code for line, code in LINES if (cause := cause_of_line(line)) is not None and cause.secondary}
    assert secondary == {"work_flushed", "peer_closed", "proxy_failed", "error_without_reason"}
