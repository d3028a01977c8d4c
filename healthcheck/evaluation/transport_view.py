"""What the logs of one host say together, beside what its platform promises."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct

from healthcheck.model.command import CollectiveJob
from healthcheck.model.message import Message, say
from healthcheck.model.nccl import NcclHca, NcclRankLog
from healthcheck.model.platform import Platform
from healthcheck.model.reading import Evidence, noted
from healthcheck.model.verdict import Verdict

_PRINTED_LAYERS = {"infiniband": "IB", "ethernet": "RoCE"}


class Found(Struct, frozen=True):
    """How one check of one host ended."""

    verdict: Verdict
    rule: str
    message: Message
    evidence: tuple[Evidence, ...] = ()


class HostView(Struct, frozen=True):
    """The logs of one host in one job. `ranks`: the host of every rank of the job, as far as it is known; `ranks_here`:
    how many of them are on this one."""

    host: str
    job: CollectiveJob
    logs: tuple[NcclRankLog, ...]
    platform: Platform | None
    ranks: Mapping[int, str]
    ranks_here: int

    @property
    def together(self) -> bool:
        """Does the job run over several hosts?"""
        return len(self.job.hosts) > 1

    @property
    def own_settings(self) -> frozenset[str]:
        """Names of the variables this run set itself."""
        return frozenset(name for name, _ in self.job.env)

    @property
    def has_nvlink(self) -> bool:
        """Are the GPUs of this machine type joined by NVLink? Of an unknown one nothing is promised."""
        return self.platform is not None and self.platform.has_nvlink

    @property
    def has_rdma(self) -> bool:
        """Does this machine type have a network for the GPUs that needs no TCP?"""
        return self.platform is not None and self.platform.has_rdma

    @property
    def one_nic_a_gpu(self) -> bool:
        """Where GPUs share NICs, some of them are far from all NICs and reach them through others."""
        return self.platform is not None and self.platform.nics.count >= self.platform.gpu.count

    @property
    def has_nvls(self) -> bool:
        """Can the switches of this machine type add up by themselves (NVLS)?"""
        return self.platform is not None and self.platform.has_nvls

    @property
    def nics_used(self) -> int | None:
        """Ports all ranks use together, of the link layer of the platform; None where no list was printed whole."""
        wanted = _PRINTED_LAYERS.get(self.platform.nics.link_layer.lower()) if self.platform is not None else None
        ports = {(nic.device, nic.port, nic.layer) for log in self.logs for nic in log.nics}
        return sum(wanted in (None, layer) for _, _, layer in ports) if ports else None

    def net_links(self, logs: Iterable[NcclRankLog]) -> tuple[int, int]:
        """(connections over InfiniBand or RoCE with GPUDirect RDMA, those without)."""
        with_gdr = without = 0
        for log in logs:
            for name, count in log.links:
                if name.startswith("NET/IB"):
                    with_gdr += count if name.endswith("/GDRDMA") else 0
                    without += 0 if name.endswith("/GDRDMA") else count
        return with_gdr, without

    def refused_hcas(self, log: NcclRankLog) -> tuple[NcclHca, ...]:
        """NICs that cannot reach GPU memory; none where enough others can, because then they are storage ports."""
        refused = tuple(hca for hca in log.gdr_hcas if not hca.enabled)
        enabled = len(log.gdr_hcas) - len(refused)
        return () if self.platform is not None and enabled >= self.platform.nics.count else refused

    def far_gpus(self, logs: Iterable[NcclRankLog]) -> tuple[str, ...]:
        """GPUs that are too far from every NIC. Where GPUs share NICs only when all are."""
        near: dict[str, bool] = {}
        for log in logs:
            for one in log.gdr_distances:
                near[one.gpu] = near.get(one.gpu, False) or one.near
        far = tuple(gpu for gpu, is_near in near.items() if not is_near)
        return far if self.one_nic_a_gpu or len(far) == len(near) else ()

    def loopback(self) -> tuple[int, NcclRankLog | None, str]:
        """(NET connections between ranks of this host, a log that has one, what to quote of it)."""
        count, shown, about = 0, None, ""
        for log in self.logs:
            pairs = [(a, b) for a, b in log.net_pairs if self.ranks.get(a) == self.host == self.ranks.get(b)]
            inside = max(len(pairs), log.loopback_net)
            if inside and shown is None:
                pair = pairs[0] if pairs else log.net_pairs[0] if log.net_pairs else None
                shown, about = log, f"pair:{pair[0]}-{pair[1]}" if pair else ""
            count += inside
        return count, shown, about


def quoted(log: NcclRankLog, *abouts: str) -> tuple[Evidence, ...]:
    """The lines of a log that said these things, as far as it said them."""
    return tuple(noted(source_of(log), text) for about in abouts if (text := log.quote(about)) is not None)


def source_of(log: NcclRankLog) -> Message:
    """How evidence names a log."""
    return say("evidence.nccl_log") if log.rank is None else say("evidence.nccl_log_rank", rank=log.rank)
