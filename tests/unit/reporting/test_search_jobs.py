"""Jobs of a search ran and were not judged: every view says so, and folds only what is alike."""

from __future__ import annotations

from msgspec.structs import replace

from healthcheck.model.record import JobRecord, RunRecord
from healthcheck.model.verdict import Verdict
from healthcheck.parsing.record_codec import decode_record, encode_record
from healthcheck.reporting.prometheus import metrics
from healthcheck.reporting.provenance_view import provenance
from healthcheck.reporting.search_view import search_view
from tests.golden.searched import searched


def _job(name: str, hosts: tuple[str, ...], ranks: int = 16, verdict: Verdict | None = None) -> JobRecord:
    return JobRecord(name, "localise", "all_reduce", hosts, ranks, verdict, command=("mpirun", name))


def _record(verdict: Verdict | None = None) -> RunRecord:
    """The pairs of the search, one of which hung, and every rail of node06 beside two controls."""
    record = searched()
    assert record.search is not None
    rounds = record.search.rounds
    hung = replace(rounds[3].pairs[2], measured_gbyte_s=None, loss=1.0)
    search = replace(
        record.search, rounds=(*rounds[:3], replace(rounds[3], pairs=(*rounds[3].pairs[:2], hung)), *rounds[4:])
    )
    pairs = [_job(pair.job, (pair.a, pair.b), verdict=verdict) for one in rounds for pair in one.pairs]
    rails = [_job(f"localise-rail{n}-node06-node01", ("node06", "node01"), 2, verdict) for n in range(8)]
    controls = [_job(f"localise-rail{n}-node02-node03", ("node02", "node03"), 2, verdict) for n in range(8)]
    proof = record.jobs[-1]
    jobs = (*record.jobs[:-1], *pairs, proof, *rails, *controls)
    return replace(record, jobs=jobs, search=search)


def _commands(record: RunRecord) -> list[str]:
    return [title for title, _ in provenance(record).commands if "evidence" in title]


def test_commands_fold_only_what_is_there_for_the_same() -> None:
    assert _commands(_record()) == [
        "Localise, two nodes rail by rail, node[01-02]: ran, not judged, evidence of the search (19 jobs: 1 did not "
        "finish, 3 slow, 15 fast)",
        "Localise, one rail of two nodes, node[01,06]: ran, not judged, evidence of the search (16 jobs: 1 slow, 7 "
        "fast, 8 for comparison)",
    ]


def test_jobs_over_another_number_of_nodes_are_another_kind() -> None:
    record = _record()
    halves = [_job(f"localise-r06-half{n}", tuple(f"node{i:02d}" for i in range(1, 8 + n))) for n in (1, 2)]
    told = _commands(replace(record, jobs=(*record.jobs, *halves)))
    assert len(told) == 4 and all("(1 job: 1 for comparison)" in title for title in told[2:])


def test_the_search_counts_every_job_and_says_that_they_were_not_judged() -> None:
    view = search_view(_record())
    assert view is not None
    assert "5 rounds with 21 jobs, the slow run among them, and 16 more beside the rounds." in view.lines
    assert (
        "35 of these jobs ran and were not judged, as evidence of the search: 1 did not finish, 4 slow, 22 fast, 8 for "
        "comparison." in view.lines
    )


def test_metrics_give_them_no_verdict() -> None:
    found = {metric.name: metric.samples for metric in metrics(_record())}
    of_search = {verdict: n for (stage, verdict), n in found["jobs"].items() if stage == "localise"}
    assert of_search == {"not_judged": 35}
    assert found["search_jobs"]["pair_rails", "slow"] == 3 and found["search_jobs"]["rail", "beside"] == 8


def test_a_record_of_before_is_told_like_one_of_now() -> None:
    was = _record(Verdict.PASS)
    read = decode_record(encode_record(was), "record.json")
    assert read == _record() and _commands(read) == _commands(_record())


def test_a_pair_that_no_round_holds_is_told_without_a_speed() -> None:
    """As in a run that was interrupted: its search has no conclusion yet."""
    record = replace(_record(), search=None)
    assert all("slow" not in title and "for comparison" in title for title in _commands(record))
