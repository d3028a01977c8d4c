"""Names of every era, and sizes and bus bandwidth as nccl-tests has them."""

from __future__ import annotations

import pytest

from healthcheck.vitals.collectives import busbw_gbyte_s, is_foreign, kind_of_kernel, name_of, size_bytes
from healthcheck.vitals.columns import Kind

KERNELS = {
    "ncclAllReduceRingLLKernel_sum_f32(ncclColl)": "all_reduce",
    "ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)": "all_reduce",
    "ncclKernel_AllReduce_TREE_LL_Sum_half(ncclDevComm*, unsigned long, ncclWork*)": "all_reduce",
    "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm*, unsigned long, ncclWork*)": "sendrecv",
    "ncclKernel_ReduceScatter_RING_LL_Sum_float(ncclWorkElem)": "reduce_scatter",
    "ncclKernel_Broadcast_RING_LL_Sum_int8_t(ncclWorkElem)": "broadcast",
    "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*, unsigned long, ncclWork*)": "all_reduce",
    "ncclDevKernel_AllReduce_Sum_bf16_TREE_LL128(ncclDevKernelArgsStorage<4096ul>)": "all_reduce",
    "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)": "all_gather",
    "ncclDevKernel_Reduce_Sum_f32_RING_LL(ncclDevComm*, unsigned long, ncclWork*)": "reduce",
    "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)": "sendrecv",
    "ncclSymkDevKernel_AllReduce_RSxLDMC_AGxSTMC_sum_bf16(ncclSymkDevWorkArgs)": "all_reduce",
    "ncclDevKernel_Generic(ncclDevComm*, channelMasks, ncclWork*)": "ncclDevKernel_Generic",
    "ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)": "ncclDevKernel_Generic_4",
    "mscclKernel_Sum_float_LL(ncclDevComm*, mscclAlgo*, mscclWork*)": "mscclKernel_Sum_float_LL",
}


@pytest.mark.parametrize(("kernel", "name"), KERNELS.items())
def test_a_kernel_of_every_era_is_a_collective(kernel: str, name: str) -> None:
    assert kind_of_kernel(kernel) is Kind.COLLECTIVE
    assert not is_foreign(kernel)
    assert name_of(kernel) == name


SAID = {
    "allreduce": "all_reduce",
    "allreduce_coalesced": "all_reduce",
    "_allgather_base": "all_gather",
    "all_gather": "all_gather",
    "allgather_into_tensor_coalesced": "all_gather",
    "_reduce_scatter_base": "reduce_scatter",
    "reduce_scatter_tensor_coalesced": "reduce_scatter",
    "broadcast": "broadcast",
    "_broadcast_oop": "broadcast",
    "_reduce_oop": "reduce",
    "all_to_all": "alltoall",
    "all_to_allv": "alltoallv",
    "send": "sendrecv",
    "recv": "sendrecv",
    "gather": "gather",
    "scatter": "scatter",
    "coalesced": "sendrecv",
    "something_new": "sendrecv",
}


@pytest.mark.parametrize(("said", "name"), SAID.items())
def test_what_the_launcher_says_goes_before_the_name_of_the_kernel(said: str, name: str) -> None:
    assert name_of("ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", said) == name


FOREIGN = (
    "void deep_ep::intranode::dispatch<8, 768, 8192>(int4*, float*)",
    "void nvshmemi_transfer_rma_block(int)",
    "void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(vllm::RankData*)",
    "void one_shot_all_reduce_kernel<c10::BFloat16, 16, 8>(c10::BFloat16**)",
    "multimem_all_reduce_kernel<c10::BFloat16, 16>(c10::BFloat16*)",
    "void mori::moe::EpDispatchIntraNodeKernel<hip_bfloat16>(mori::moe::EpDispatchCombineArgs<hip_bfloat16>)",
    "void tensorrt_llm::kernels::oneShotAllReduceKernel<__nv_bfloat16, 8, true>(AllReduceParams)",
    "userbuffers_fp16_sum_inplace_gpu_rr_rs_oop",
)


@pytest.mark.parametrize("kernel", FOREIGN)
def test_communication_of_others_is_seen_and_is_no_collective(kernel: str) -> None:
    assert is_foreign(kernel)
    assert kind_of_kernel(kernel) is Kind.COMPUTE


@pytest.mark.parametrize("kernel", ["ampere_bf16_s16816gemm_bf16_128x128", "reduce_kernel<512, 1>", "deep_epilogue"])
def test_plain_kernels_are_neither(kernel: str) -> None:
    assert not is_foreign(kernel)
    assert kind_of_kernel(kernel) is Kind.COMPUTE


@pytest.mark.parametrize(
    ("name", "sent", "received", "dtype", "ranks", "size"),
    [
        ("all_reduce", 1000, 1000, "BFloat16", 8, 2000),
        ("all_gather", 1000, 8000, "Float", 8, 32000),
        ("all_gather", 1000, None, "Float", 8, 32000),
        ("reduce_scatter", 8000, 1000, "BFloat16", 8, 16000),
        ("alltoall", 8000, 8000, "Float", 8, 32000),
        ("broadcast", 1000, 1000, "Long", 8, 8000),
        ("sendrecv", 1000, None, "Half", 2, 2000),
        ("all_reduce", 1000, 1000, "Strange", 8, None),
        ("all_reduce", 0, 0, "Float", 8, None),
        ("all_reduce", None, None, "Float", 8, None),
        ("ncclDevKernel_Generic", 10, 10, "Float", 8, None),
    ],
)
def test_size_is_what_nccl_tests_would_print(
    name: str, sent: int | None, received: int | None, dtype: str, ranks: int, size: int | None
) -> None:
    assert size_bytes(name, sent, received, dtype, ranks) == size


def test_busbw_is_that_of_nccl_tests() -> None:
    # 1 GB in 10 ms over 8 ranks: algbw 100 GB/s.
    assert busbw_gbyte_s("all_reduce", 10**9, 8, 0.010) == pytest.approx(175.0)
    assert busbw_gbyte_s("all_gather", 10**9, 8, 0.010) == pytest.approx(87.5)
    assert busbw_gbyte_s("broadcast", 10**9, 8, 0.010) == pytest.approx(100.0)
    assert busbw_gbyte_s("all_reduce", None, 8, 0.010) is None
    assert busbw_gbyte_s("all_reduce", 10**9, None, 0.010) is None
    assert busbw_gbyte_s("all_reduce", 10**9, 1, 0.010) is None
    assert busbw_gbyte_s("all_reduce", 10**9, 8, 0.0) is None
