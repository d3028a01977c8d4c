"""Damaged, cut and mixed NCCL logs: never an exception, never more than was written, never somebody else's facts."""

from __future__ import annotations

from pathlib import Path
from random import Random

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from healthcheck.edge.shipped import shipped_platforms
from healthcheck.evaluation.transport import judge_transport
from healthcheck.model.command import CollectiveJob
from healthcheck.model.nccl import NcclRankLog
from healthcheck.model.verdict import Verdict
from healthcheck.parsing.nccl_log import read_nccl_log, read_nccl_logs
from tests.unit.evaluation.builders import job

FOLDER = Path(__file__).parents[1] / "fixtures" / "nccl_log"
TEXTS = {path.stem: path.read_text("utf-8") for path in sorted(FOLDER.glob("*.log"))}
PLATFORM = shipped_platforms()["a100-sxm4-8gpu-8x200"]
names = st.sampled_from(sorted(TEXTS))


def read(text: str) -> NcclRankLog:
    return read_nccl_log(text.splitlines(keepends=True))


@st.composite
def damaged(draw: st.DrawFn) -> str:
    """A log with a few accidents."""
    text = TEXTS[draw(names)]
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(text)))
        end = draw(st.integers(at, min(at + 300, len(text))))
        kind = draw(st.sampled_from(["flip", "drop", "double", "insert", "colour"]))
        if kind == "flip":
            text = text[:at] + draw(st.characters()) + text[at + 1 :]
        elif kind == "drop":
            text = text[:at] + text[end:]
        elif kind == "double":
            text = text[:end] + text[at:end] + text[end:]
        elif kind == "insert":
            text = text[:at] + draw(st.text(max_size=40)) + text[at:]
        else:
            text = text[:at] + "\x1b[1m" + text[at:]
    return text


@settings(max_examples=200, deadline=None)
@given(damaged(), st.sampled_from([job(1), job(2)]))
def test_damage_never_raises(text: str, of: CollectiveJob) -> None:
    for log in (read(text), *read_nccl_logs(text.splitlines())):
        assert all(quote.text.isprintable() for quote in log.quotes)
        for result in judge_transport(of, [msgspec.structs.replace(log, host=of.hosts[0])], PLATFORM):
            assert str(result.message)


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=300), st.binary(max_size=300))
def test_nonsense_never_raises(text: str, raw: bytes) -> None:
    for line in (text, raw.decode("utf-8", "replace"), raw.decode("latin-1")):
        read_nccl_logs([f"h:1:2 [0] NCCL INFO {line}\n", f"h:1:2 [0] {line} NCCL WARN {line}\n", line])


@settings(max_examples=200, deadline=None)
@given(names, st.data())
def test_a_log_cut_anywhere_never_says_more_than_the_whole(name: str, data: st.DataObject) -> None:
    text = TEXTS[name]
    whole, part = read(text), read(text[: data.draw(st.integers(0, len(text)))])
    for field in ("rank", "n_ranks", "n_nodes", "version", "network", "nvls", "rings", "max_bw_gbyte_s", "gdr_flag"):
        assert getattr(part, field) in (None, getattr(whole, field)), field
    for field in ("settings", "algorithms", "gdr_hcas", "gdr_distances", "net_pairs", "quotes"):
        assert getattr(part, field) == getattr(whole, field)[: len(getattr(part, field))], field
    said = [warning.text for warning in whole.warnings]
    assert [warning.text for warning in part.warnings] == said[: len(part.warnings)]
    counts = dict(whole.links)
    assert all(count <= counts[link] for link, count in part.links)
    assert part.nics in ((), whole.nics) or not whole.nics or part.nics[0].device == whole.nics[0].device
    assert len(part.nics) in (0, len(whole.nics))


@settings(max_examples=100, deadline=None)
@given(names, st.data())
def test_a_cut_log_has_no_finding_that_the_whole_has_not(name: str, data: st.DataObject) -> None:
    text = TEXTS[name]
    of = job(2) if "two-nodes" in name or "gdr" in name else job(1)

    def rules(log: NcclRankLog) -> set[str]:
        return {
            one.rule
            for one in judge_transport(of, [msgspec.structs.replace(log, host=of.hosts[0])], PLATFORM)
            if one.verdict > Verdict.PASS
        }

    assert rules(read(text[: data.draw(st.integers(0, len(text)))])) <= rules(read(text))


@settings(max_examples=60, deadline=None)
@given(st.randoms(use_true_random=False))
def test_ranks_that_write_into_one_stream_keep_their_facts_apart(random: Random) -> None:
    queues = [[line for line in text.splitlines(keepends=True) if " NCCL " in line] for text in TEXTS.values()]
    alone = {read_nccl_log(queue).host: read_nccl_log(queue) for queue in queues}
    stream = []
    while any(queues):
        stream.append(random.choice([queue for queue in queues if queue]).pop(0))
    together = {log.host: log for log in read_nccl_logs(stream)}
    assert together == alone
