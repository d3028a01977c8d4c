"""A node that proved together with the others and is left out for something else: every view says both numbers."""

from __future__ import annotations

from msgspec.structs import replace

from healthcheck.model.record import RunRecord
from healthcheck.model.verdict import Verdict
from healthcheck.parsing.record_codec import decode_record, encode_record
from healthcheck.reporting.decision import decide, left_out
from healthcheck.reporting.hostlists import healthy_hosts
from healthcheck.reporting.markdown import render_markdown
from healthcheck.reporting.prometheus import metrics
from healthcheck.reporting.summary import LINE_LIMIT, stdout_line, terminal_summary
from healthcheck.reporting.view import page
from tests.golden.records import healthy


def _without(*names: str, verdict: Verdict = Verdict.DEGRADED, nodes: int = 8) -> RunRecord:
    """A healthy run, whose joint job these nodes took part in, and in which something else is held against them."""
    record = healthy(nodes, per_leaf=8)
    every = tuple(host.name for host in record.hosts)
    hosts = tuple(replace(host, verdict=verdict) if host.name in names else host for host in record.hosts)
    ready = tuple(name for name in every if name not in names)
    return replace(
        record,
        verdict=verdict,
        hosts=hosts,
        healthy_hosts=ready,
        excluded_hosts=names,
        proven_together=every,
    )


def test_the_first_sentence_says_who_proved_and_who_is_left_out() -> None:
    record = _without("node03")
    said = "8 proved together; node03 is DEGRADED and left out: start on the other 7."
    assert decide(record).offers_list and str(decide(record).sentence).endswith(said)
    assert said in render_markdown(record) and said in " ".join(" ".join(terminal_summary(record, 96)).split())


def test_the_line_on_stdout_says_it_too() -> None:
    line = stdout_line(_without("node03"))
    assert line.startswith("DEGRADED 7/8 ready, 8 proved together and node03 DEGRADED left out, ")


def test_the_line_stays_short_where_many_are_left_out() -> None:
    odd = tuple(f"node{n:02d}" for n in range(1, 64, 2))
    line = stdout_line(_without(*odd, nodes=64))
    assert "64 proved together and 32 DEGRADED left out" in line and len(line) <= LINE_LIMIT


def test_the_list_names_the_job_it_comes_from() -> None:
    head = healthy_hosts(_without("node03")).splitlines()[0]
    assert "7 of 8 that proved together, in rank order; node03 is DEGRADED and left out" in head


def test_nobody_is_said_to_be_unproven_where_all_ran_well_together() -> None:
    record = _without(*(f"node{n:02d}" for n in range(1, 9)))
    assert not decide(record).offers_list
    assert str(decide(record).sentence) == "Do not start: 8 nodes proved together, but node[01-08] are DEGRADED."


def test_the_metric_of_the_proof_stays() -> None:
    found = {metric.name: metric.samples for metric in metrics(_without("node03"))}
    assert found["fabric_busbw_hosts"] == {("multi_node", "all_reduce", "proven"): 8.0}
    assert found["proven_hosts"] == {(): 8.0} and found["healthy_hosts"] == {(): 7.0}


def test_a_record_of_before_says_who_proved_by_its_last_joint_job() -> None:
    record = _without("node03")
    read = decode_record(encode_record(replace(record, proven_together=())), "record.json")
    assert read == record


def test_a_healthy_run_leaves_nobody_out() -> None:
    record = decode_record(encode_record(healthy(8, per_leaf=8)), "record.json")
    assert left_out(record) == () and "proved together and" not in stdout_line(record)


def test_nodes_that_are_well_and_left_out_are_told_why() -> None:
    """A reader who counts 7 PASS and finds 8 names in exclude.hosts must not have to guess."""
    record = _without("node08", verdict=Verdict.INCONCLUSIVE)
    every = record.proven_together
    stopped = replace(record, state="interrupted", healthy_hosts=(), proven_together=(), excluded_hosts=every)
    said = "PASS each by itself, and in exclude.hosts all the same because not proven together: node[01-07]."
    assert said in render_markdown(stopped)
    assert said in " ".join(" ".join(terminal_summary(stopped, 80)).split())
    assert "all the same" not in render_markdown(record)


def test_a_difference_between_nodes_is_not_told_as_slowness() -> None:
    whole = replace(healthy(8), verdict=Verdict.DEGRADED)
    assert "reduced speed" not in str(decide(whole).sentence) and decide(whole).offers_list
    slow = tuple(replace(job, verdict=Verdict.DEGRADED) if len(job.hosts) > 1 else job for job in whole.jobs)
    assert "reduced speed" in str(decide(replace(whole, jobs=slow)).sentence)


def test_nobody_reads_ready_where_the_sentence_says_do_not_start() -> None:
    record = replace(healthy(8), verdict=Verdict.FAIL)
    assert not decide(record).offers_list
    assert stdout_line(record).startswith("FAIL 8/8 ready, start held")
    assert page(record).title.startswith("FAIL: start held, 8 nodes ran together")
    assert "start held" not in stdout_line(healthy(8))


def test_a_rank_order_that_avoids_what_is_slow_is_offered() -> None:
    """The link is FAIL and no node has to leave: a FAIL with a proven set says both."""
    record = replace(healthy(8), verdict=Verdict.FAIL)
    other = tuple(reversed(record.healthy_hosts))
    found = decide(replace(record, healthy_hosts=other, proven_together=other))
    assert found.offers_list and "in the order of healthy.hosts: start with that" in str(found.sentence)
