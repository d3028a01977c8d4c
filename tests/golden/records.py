"""Hand-made records with invented, self-consistent numbers: what the reports are compared on."""

from __future__ import annotations

from statistics import median

from healthcheck.evaluation.rules import Answer, begun, not_asked, weighed
from healthcheck.model.collective import Collective
from healthcheck.model.component import FABRIC, hca, node
from healthcheck.model.finding import CheckResult, Confidence, Finding, RuleResult
from healthcheck.model.host import Host
from healthcheck.model.measurement import CollectiveRow, Placement
from healthcheck.model.message import Message, say
from healthcheck.model.platform import GpuSpec, Limit, NicSpec, Platform, Sourced
from healthcheck.model.playbook import NcclTests, Playbook, Stage
from healthcheck.model.reading import Evidence
from healthcheck.model.record import HostRecord, JobRecord, Owner, Provenance, RunRecord
from healthcheck.model.verdict import Verdict

GIB = 1 << 30
SIZES = (GIB // 2, GIB, 2 * GIB, 4 * GIB, 8 * GIB)

PLATFORM = Platform(
    name="a100-sxm4-8gpu-8x200",
    title="8 x A100 SXM4 with NVSwitch, 8 x 200 Gb/s InfiniBand (one NIC a GPU)",
    gpu=GpuSpec(names=("A100-SXM4-80GB",), count=8),
    nics=NicSpec(count=8, rate_gbit_s=200, link_layer="InfiniBand", source="an example"),
    intra_busbw_gbyte_s=Sourced(300, "an example"),
)

LIMITS = (
    Limit(
        "bandwidth.busbw",
        "single_node",
        "all_reduce",
        300,
        0.7,
        0.5,
        "GB/s",
        "platform a100-sxm4-8gpu-8x200; 0.70/0.50",
    ),
    Limit(
        "bandwidth.busbw", "multi_node", "all_reduce", 200, 0.7, 0.5, "GB/s", "platform a100-sxm4-8gpu-8x200; 0.70/0.50"
    ),
)

PLAYBOOK = Playbook(
    name="monthly",
    stages=(Stage(name="probe"), Stage(name="single_node"), Stage(name="multi_node")),
    nccl_tests=NcclTests(path="/opt/nccl-tests/build"),
)

OWNER = Owner(user="ops", machine="head", pid=4711, pid_started="1001", token="hc-20260314T021503Z-qhzt")


def names(count: int, prefix: str = "node") -> tuple[str, ...]:
    """`node01` ... with at least two digits."""
    digits = max(2, len(str(count)))
    return tuple(f"{prefix}{number:0{digits}d}" for number in range(1, count + 1))


def text(english: str) -> Message:
    """A message whose whole text is given, for records that no catalogue entry fits."""
    return say("report.verbatim", text=english)


def rows(plateau_gbyte_s: float, n_ranks: int, sizes: tuple[int, ...] = SIZES) -> tuple[CollectiveRow, ...]:
    """A sweep that rises to a plateau of bus bandwidth in GB/s."""
    factor = Collective.ALL_REDUCE.factor(n_ranks)
    made: list[CollectiveRow] = []
    for size_bytes in sizes:
        busbw = plateau_gbyte_s * size_bytes / (size_bytes + 10 * 1024 * 1024)
        half = Placement(
            time_us=size_bytes * factor / busbw / 1e3, algbw_gbyte_s=busbw / factor, busbw_gbyte_s=busbw, wrong=0
        )
        other = Placement(time_us=half.time_us, algbw_gbyte_s=half.algbw_gbyte_s, busbw_gbyte_s=busbw * 0.999, wrong=0)
        made.append(CollectiveRow(size_bytes, size_bytes // 4, "float", "sum", -1, half, other))
    return tuple(made)


def single(host: str, busbw_gbyte_s: float, verdict: Verdict = Verdict.PASS) -> JobRecord:
    """The job of one node over its 8 GPUs."""
    return JobRecord(
        id=f"single_node.all_reduce.{host}",
        stage="single_node",
        collective="all_reduce",
        hosts=(host,),
        n_ranks=8,
        verdict=verdict,
        rows=rows(busbw_gbyte_s, 8),
        command=("mpirun", "--host", "localhost:8", "-np", "8", "/opt/nccl-tests/build/all_reduce_perf", *SWEEP),
        raw=f"raw/single_node/single_node.all_reduce.{host}",
        started_at="2026-03-14T02:16:40+00:00",
        duration_s=41.2,
    )


SWEEP = ("-b", "536870912", "-e", "8589934592", "-f", "2", "-g", "1", "-n", "20", "-w", "5", "-c", "1")


def multi(hosts: tuple[str, ...], busbw_gbyte_s: float, verdict: Verdict, job_id: str) -> JobRecord:
    """A job over several nodes."""
    ranks = 8 * len(hosts)
    argv = ("mpirun", "--hostfile", "run/hostfile", "-np", str(ranks), "/opt/nccl-tests/build/all_reduce_perf", *SWEEP)
    return JobRecord(
        id=job_id,
        stage="multi_node",
        collective="all_reduce",
        hosts=hosts,
        n_ranks=ranks,
        verdict=verdict,
        rows=rows(busbw_gbyte_s, ranks),
        command=argv,
        raw=f"raw/multi_node/{job_id}",
        started_at="2026-03-14T02:18:02+00:00",
        duration_s=74.0,
    )


def peak_check(job: JobRecord, peak_gbyte_s: float) -> CheckResult:
    """The percent-of-peak check of one job, with the verdict of the job."""
    component = node(job.hosts[0]) if len(job.hosts) == 1 else FABRIC
    halves = [row.in_place for row in job.rows if row.in_place is not None and row.size_bytes >= GIB]
    observed = median(half.busbw_gbyte_s for half in halves if half.busbw_gbyte_s is not None)
    verdict = job.judged_as
    rule = {Verdict.PASS: "peak.healthy", Verdict.DEGRADED: "peak.below_healthy"}.get(verdict, "peak.below_broken")
    message = text(
        f"busbw {observed:.1f} GB/s (in_place), {100 * observed / peak_gbyte_s:.0f} % of peak {peak_gbyte_s:g}"
    )
    check = CheckResult(
        "bandwidth.busbw", component, verdict, message, rule, job.stage, observed, peak_gbyte_s, "GB/s", job=job.id
    )
    alone = len(job.hosts) == 1 and verdict is Verdict.DEGRADED
    return weighed(begun(check), other_answers(observed)) if alone else check


def other_answers(observed_gbyte_s: float) -> tuple[Answer, ...]:
    """What the rules after the first say to a node that is slow alone."""
    below = text(f"{100 * observed_gbyte_s / 231:.0f} % of the 231 GB/s that healthy machines of this kind read")
    return (
        Answer(RuleResult("known_good", Verdict.DEGRADED, below, observed_gbyte_s, 231.0), "known_good.below"),
        not_asked("peers", say("rules.peers.too_few", least=5, peers=4)),
        not_asked("history", say("rules.history.none_given")),
        Answer(RuleResult("transport", Verdict.PASS, say("nccl.rdma"))),
    )


def _record(
    run_id: str, hosts: tuple[HostRecord, ...], verdict: Verdict, exit_code: int | None, simulated: bool = False
) -> RunRecord:
    return RunRecord(
        run_id=run_id,
        state="complete",
        verdict=verdict,
        exit_code=exit_code,
        simulated=simulated,
        started_at="2026-03-14T02:15:03+00:00",
        finished_at="2026-03-14T02:19:41+00:00",
        platform=PLATFORM,
        playbook=PLAYBOOK,
        owner=OWNER,
        hosts=hosts,
        provenance=Provenance(
            tool="healthcheck 0.1.0",
            versions={"nccl-tests": "2.17.6", "NCCL": "2.26.6", "Open MPI": "4.1.7"},
            limits=LIMITS,
            playbook_sha256="4d1f0c62a1" + "0" * 50 + "9ae7",
            hostfile="cluster.hosts",
            arguments=("run", "monthly", "-H", "cluster.hosts"),
        ),
        inventory=tuple(Host(name=host.name, address=host.name, slots=8, labels=host.labels) for host in hosts),
    )


def leaf(place: int, per_leaf: int = 4) -> tuple[tuple[str, str], ...]:
    """The leaf label of the host at `place` in the hostfile."""
    return (("leaf", f"l{place // per_leaf + 1}"),)


def healthy(count: int = 8, per_leaf: int = 4) -> RunRecord:
    """All nodes PASS, alone and together."""
    from msgspec.structs import replace

    hosts = names(count)
    record = _record(
        "20260314T021503Z-qhzt",
        tuple(HostRecord(name, Verdict.PASS, labels=leaf(place, per_leaf)) for place, name in enumerate(hosts)),
        Verdict.PASS,
        0,
    )
    alone = [single(name, 231.5 + 0.1 * (place % 5)) for place, name in enumerate(hosts)]
    together = multi(hosts, 191.8, Verdict.PASS, "multi_node.all_reduce.all")
    checks = [*(peak_check(job, 300) for job in alone), peak_check(together, 200)]
    return replace(record, jobs=(*alone, together), checks=tuple(checks), healthy_hosts=hosts, proven_together=hosts)


def sick() -> RunRecord:
    """Simulated: node05 has a port at half rate, node07 does not answer, node03 is slow inside, node08 is busy."""
    from msgspec.structs import replace

    reasons: dict[str, tuple[Verdict, Message]] = {
        "node03": (Verdict.DEGRADED, text("191.7 GB/s inside the node, 64 % of peak 300")),
        "node05": (Verdict.FAIL, text("mlx5_2 at 100 Gb/s, expected 200")),
        "node07": (Verdict.INCONCLUSIVE, text("no answer on port 22: No route to host (3 tries)")),
        "node08": (Verdict.SKIPPED, text("busy: 8 processes of user alice hold its GPUs")),
    }
    hosts = names(8)
    record = _record(
        "20260314T021503Z-mvkd",
        tuple(
            HostRecord(
                name,
                reasons[name][0] if name in reasons else Verdict.PASS,
                (reasons[name][1],) if name in reasons else (),
                leaf(place),
                may_still_run=name == "node07",
            )
            for place, name in enumerate(hosts)
        ),
        Verdict.FAIL,
        1,
        simulated=True,
    )
    found = ("node01", "node02", "node04", "node05", "node06")
    proven = ("node01", "node02", "node04", "node06")
    alone = (*(single(name, 231.4) for name in found), single("node03", 192.6, Verdict.DEGRADED))
    together = (
        multi(found, 96.9, Verdict.FAIL, "multi_node.all_reduce.found"),
        multi(proven, 191.9, Verdict.PASS, "multi_node.all_reduce.proven"),
    )
    return replace(
        record,
        jobs=(*alone, *together),
        checks=(
            *(peak_check(job, 300) for job in alone),
            *(peak_check(job, 200) for job in together),
            CheckResult(
                "hca.rate", hca("node05", "mlx5_2"), Verdict.FAIL, reasons["node05"][1], "hca.rate_low", "probe",
                100, 200, "Gb/s",
            ),
        ),
        findings=(
            Finding(
                node("node08"), Verdict.SKIPPED, Confidence.CONFIRMED, reasons["node08"][1],
                text("measure it when the job ends"),
                commands=("healthcheck run monthly -H node08 --only single_node",),
            ),
            Finding(
                node("node03"), Verdict.DEGRADED, Confidence.LIKELY, reasons["node03"][1],
                text("look at clocks, temperatures and NVLink counters of its GPUs, then measure again"),
                evidence_for=(text("64 % of peak in both placements"),),
                commands=("ssh node03 nvidia-smi -q -d PERFORMANCE,TEMPERATURE",),
            ),
            Finding(
                hca("node05", "mlx5_2"), Verdict.FAIL, Confidence.CONFIRMED,
                text("the port runs at 100 Gb/s instead of 200, it trained with 2 of 4 lanes"),
                text("drain node05; reseat the cable of mlx5_2 at both ends; if the rate stays, replace it"),
                evidence_for=(
                    text("the other 7 HCAs read 200 Gb/s"),
                    text("jobs with node05 reach 96.5 GB/s, without it 191.0"),
                ),
                commands=(
                    'scontrol update NodeName=node05 State=DRAIN Reason="mlx5_2 at 100 of 200 Gb/s"',
                    "ssh node05 cat /sys/class/infiniband/mlx5_2/ports/1/rate",
                ),
                evidence=(
                    Evidence("node05: /sys/class/infiniband/mlx5_2/ports/1/rate", "100 Gb/sec (2X HDR)"),
                    Evidence("node05: /sys/class/infiniband/mlx5_3/ports/1/rate", "200 Gb/sec (4X HDR)"),
                ),
            ),
            Finding(
                node("node07"), Verdict.INCONCLUSIVE, Confidence.CONFIRMED, reasons["node07"][1],
                text("check power and the management network; when it answers, measure it alone"),
                commands=("ping -c 3 node07", "healthcheck run monthly -H node07 --only single_node"),
            ),
        ),
        healthy_hosts=proven,
        proven_together=proven,
        excluded_hosts=("node03", "node05", "node07", "node08"),
    )  # fmt: skip


def interrupted() -> RunRecord:
    """Stopped by Ctrl-C while the nodes were measured alone: half of them have a number, no set is proven."""
    from msgspec.structs import replace

    hosts = names(8)
    stopped = text("stopped by the user before it was measured")
    record = _record(
        "20260314T021503Z-wxyz",
        tuple(
            HostRecord(name, Verdict.PASS if place < 4 else Verdict.INCONCLUSIVE, () if place < 4 else (stopped,))
            for place, name in enumerate(hosts)
        ),
        Verdict.INCONCLUSIVE,
        130,
    )
    broken_off = replace(single("node05", 231.0, Verdict.INCONCLUSIVE), rows=(), reasons=(say("job.stopped"),))
    return replace(
        record,
        state="interrupted",
        finished_at=None,
        platform=None,
        jobs=(*(single(name, 231.2) for name in hosts[:4]), broken_off),
        provenance=Provenance(tool="healthcheck 0.1.0"),
        inventory=(),
    )


RECORDS = {"healthy": healthy, "sick": sick, "interrupted": interrupted}
