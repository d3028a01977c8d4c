"""What does the node say about itself?

Command, parse, judge; one round trip a node. Imports evaluation, planning, launchers and below.
"""

from __future__ import annotations

from healthcheck.probes import (
    acs,
    binary,
    clock,
    cpu,
    fabric,
    gpu_memory,
    gpu_processes,
    gpu_state,
    gpudirect,
    gpus,
    hca_counters,
    hcas,
    iommu,
    kernel_log,
    leftovers,
    limits,
    mpi,
    mtu,
    nccl_settings,
    nvlink,
    pcie,
    rails,
    software,
    topology,
    verbs,
)
from healthcheck.probes.all_seen import expected_gpus, expected_on_board, of_all
from healthcheck.probes.nearness import is_virtual, nearness
from healthcheck.probes.other_type import larger_type
from healthcheck.probes.probe import Probe

PROBES: dict[str, Probe] = {
    gpus.NAME: Probe(
        gpus.NAME,
        (gpus.COUNT_CHECK, gpus.MODEL_CHECK, gpus.STAYED_CHECK),
        lambda facts, needs: gpus.judge(facts.host, facts.gpus, needs.platform),
        lambda before, after, needs: gpus.judge_after(after.host, before.gpus, after.gpus),
    ),
    gpu_state.NAME: Probe(
        gpu_state.NAME,
        (*gpu_state.CHECKS, gpu_state.ECC_AFTER_CHECK),
        lambda facts, needs: of_all(
            gpu_state.judge(facts.host, facts.gpu_state), facts.gpu_state, expected_gpus(facts.gpus, needs.platform)
        ),
        lambda before, after, needs: gpu_state.judge_after(after.host, before.gpu_state, after.gpu_state),
    ),
    gpu_memory.NAME: Probe(
        gpu_memory.NAME,
        (gpu_memory.CHECK,),
        lambda facts, needs: of_all(
            gpu_memory.judge(facts.host, facts.gpu_memory, facts.gpu_state, facts.gpus),
            facts.gpu_memory,
            expected_gpus(facts.gpus, needs.platform),
        ),
    ),
    nvlink.NAME: Probe(
        nvlink.NAME,
        (nvlink.LINKS_CHECK, nvlink.ERRORS_CHECK),
        lambda facts, needs: of_all(
            nvlink.judge(facts.host, facts.nvlink, needs.platform),
            facts.nvlink,
            expected_on_board(facts.gpus, needs.platform),
        ),
        lambda before, after, needs: nvlink.judge_after(after.host, before.nvlink, after.nvlink),
    ),
    fabric.NAME: Probe(
        fabric.NAME,
        (fabric.MANAGER_CHECK, fabric.STATE_CHECK),
        lambda facts, needs: fabric.judge(
            facts.host, facts.fabric, facts.gpus, facts.nvlink, facts.gpu_state, needs.platform
        ),
    ),
    hcas.NAME: Probe(
        hcas.NAME,
        (hcas.COUNT_CHECK, hcas.RATE_CHECK, hcas.SUBNET_CHECK),
        lambda facts, needs: hcas.judge(
            facts.host, facts.hcas, needs.platform, nearness(facts), larger_type(facts, needs.platform, needs.known)
        ),
    ),
    hca_counters.NAME: Probe(
        hca_counters.NAME,
        (hca_counters.ERRORS_CHECK, hca_counters.TRAFFIC_CHECK),
        hca_counters.judge,
        hca_counters.judge_after,
    ),
    verbs.NAME: Probe(
        verbs.NAME,
        (verbs.CHECK, mtu.CHECK),
        lambda facts, needs: (
            verbs.judge(facts.host, facts.verbs, facts.hcas, needs, nearness(facts)),
            *mtu.judge(facts.host, facts.hcas, facts.verbs, needs, nearness(facts)),
        ),
    ),
    topology.NAME: Probe(
        topology.NAME,
        (topology.CHECK, rails.CHECK),
        lambda facts, needs: of_all(
            (
                *topology.judge(facts.host, facts.topology, needs.platform),
                *rails.judge(
                    facts.host, facts.topology, facts.hcas, needs.platform, nearness(facts), virtual=is_virtual(facts)
                ),
            ),
            facts.topology,
            expected_gpus(facts.gpus, needs.platform),
        ),
    ),
    pcie.NAME: Probe(
        pcie.NAME,
        (pcie.CHECK,),
        lambda facts, needs: pcie.judge(
            facts.host, facts.pcie, facts.hcas, facts.iommu, needs.platform, nearness(facts)
        ),
    ),
    gpudirect.NAME: Probe(
        gpudirect.NAME,
        (gpudirect.CHECK,),
        lambda facts, needs: gpudirect.judge(facts.host, facts.gpudirect, needs.platform, together=needs.together),
    ),
    acs.NAME: Probe(
        acs.NAME, (acs.CHECK,), lambda facts, needs: acs.judge(facts.host, facts.acs, facts.pcie, facts.iommu)
    ),
    iommu.NAME: Probe(iommu.NAME, (iommu.CHECK,), lambda facts, needs: iommu.judge(facts.host, facts.iommu)),
    gpu_processes.NAME: Probe(
        gpu_processes.NAME,
        (gpu_processes.CHECK,),
        lambda facts, needs: (
            gpu_processes.judge(facts.host, facts.gpu_processes, needs.own_token, allow_busy=needs.allow_busy),
        ),
    ),
    leftovers.NAME: Probe(
        leftovers.NAME,
        (leftovers.CHECK,),
        lambda facts, needs: (
            leftovers.judge(facts.host, facts.leftovers, needs.own_token, allow_busy=needs.allow_busy),
        ),
    ),
    binary.NAME: Probe(
        binary.NAME,
        (binary.CHECK,),
        lambda facts, needs: (binary.judge(facts.host, facts.binary),) if needs.binary else (),
    ),
    mpi.NAME: Probe(
        mpi.NAME,
        (mpi.CHECK,),
        lambda facts, needs: (mpi.judge(facts.host, facts.mpi, needs.launcher),) if needs.mpi else (),
    ),
    clock.NAME: Probe(clock.NAME, (clock.CHECK,), lambda facts, needs: (clock.judge(facts, needs.clocks_ahead_s),)),
    kernel_log.NAME: Probe(kernel_log.NAME, (kernel_log.CHECK,), kernel_log.judge, kernel_log.judge_after),
    limits.NAME: Probe(limits.NAME, limits.CHECKS, limits.judge),
    cpu.NAME: Probe(cpu.NAME, (cpu.CHECK,), lambda facts, needs: (cpu.judge(facts),)),
    software.NAME: Probe(software.NAME, (software.CHECK,), lambda facts, needs: software.judge(facts)),
    nccl_settings.NAME: Probe(nccl_settings.NAME, (nccl_settings.CHECK,), nccl_settings.judge),
}
