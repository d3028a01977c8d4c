"""Who is measured with whom."""

from __future__ import annotations

from healthcheck.model.search import Pair, Purpose
from healthcheck.planning.retests import CONTROLS, Doubts, retest_round
from healthcheck.planning.walk import fresh_round, ring_rounds, tournament, verification_order

HOSTS = tuple(f"n{number:02d}" for number in range(1, 17))
LEAF = {host: "left" if place < 8 else "right" for place, host in enumerate(HOSTS)}
NOBODY: frozenset[str] = frozenset()


def doubts(suspicion: dict[str, float], **more: object) -> Doubts:
    good = tuple(host for host in HOSTS if host not in suspicion)
    met = dict.fromkeys(HOSTS, NOBODY)
    return Doubts(**({"leaf": LEAF, "suspicion": suspicion, "good": good, "met": met} | more))  # type: ignore[arg-type]


def ends(pairs: tuple[Pair, ...], *purposes: Purpose) -> list[tuple[str, str]]:
    return [(pair.a, pair.b) for pair in pairs if pair.purpose in purposes]


def test_an_even_ring_is_walked_in_two_rounds() -> None:
    even, odd, closing = ring_rounds(["a", "b", "c", "d"])
    assert ends(even, Purpose.WALK) == [("a", "b"), ("c", "d")]
    assert ends(odd, Purpose.WALK) == [("b", "c"), ("d", "a")]
    assert closing == ()


def test_an_odd_ring_owes_its_closing_edge() -> None:
    even, odd, closing = ring_rounds(["a", "b", "c", "d", "e"])
    assert ends(even, Purpose.WALK) == [("a", "b"), ("c", "d")]
    assert ends(odd, Purpose.WALK) == [("b", "c"), ("d", "e")]
    assert ends(closing, Purpose.WALK) == [("e", "a")]
    owed = retest_round(doubts({}, owed=(Pair("n01", "n16", Purpose.WALK),)))
    assert owed[0] == Pair("n01", "n16", Purpose.WALK)


def test_eight_hosts_meet_in_seven_rounds() -> None:
    rounds = tournament(HOSTS[:8])
    assert [len(pairs) for pairs in rounds] == [4] * 7


def test_without_doubt_there_is_no_round() -> None:
    assert retest_round(doubts({})) == ()


def test_a_suspect_meets_a_good_one_of_its_leaf_that_it_has_not_met() -> None:
    met = dict.fromkeys(HOSTS, NOBODY) | {"n03": frozenset({"n01", "n02"})}
    pairs = retest_round(doubts({"n03": 0.9}, met=met))
    assert ends(pairs, Purpose.RETEST) == [("n03", "n04")]
    # Its reading is held against those of other good pairs of a leaf.
    assert len(ends(pairs, Purpose.CONTROL)) == CONTROLS - 1
    assert all(LEAF[a] == LEAF[b] for a, b in ends(pairs, Purpose.CONTROL))


def test_a_suspect_crosses_leaves_where_its_own_has_nobody_but_never_a_slow_path() -> None:
    left = dict.fromkeys(HOSTS[:8], 0.5)
    crossing = retest_round(doubts(left))
    assert all(LEAF[b] == "right" for _, b in ends(crossing, Purpose.RETEST))
    assert len(ends(crossing, Purpose.RETEST)) == 8
    closed = retest_round(doubts(left, bad_paths=frozenset({("left", "right")})))
    assert not ends(closed, Purpose.RETEST)
    assert all(LEAF[a] == LEAF[b] for a, b in ends(closed, Purpose.AMONG))


def test_where_good_ones_run_out_one_merely_out_of_doubt_serves() -> None:
    pairs = retest_round(doubts({"n01": 0.9, "n02": 0.8}, good=("n05",), calm=("n07",)))
    assert ends(pairs, Purpose.RETEST) == [("n01", "n05"), ("n02", "n07")]


def test_without_anybody_good_the_most_suspect_meets_the_least() -> None:
    pairs = retest_round(doubts({"n01": 0.9, "n02": 0.1, "n03": 0.5, "n04": 0.6}, good=()))
    assert ends(pairs, Purpose.AMONG) == [("n01", "n02"), ("n04", "n03")]


def test_a_node_with_ten_partners_is_left_as_it_stands() -> None:
    met = dict.fromkeys(HOSTS, NOBODY) | {"n01": frozenset(HOSTS[1:11])}
    assert retest_round(doubts({"n01": 0.9}, met=met)) == ()


def test_an_open_boundary_is_crossed_by_four_new_pairs() -> None:
    leaf = {host: f"l{place // 4}" for place, host in enumerate(HOSTS)}
    good = tuple(host for host in HOSTS if host not in ("n04", "n05"))
    large = doubts({}, leaf=leaf, good=good, open_edges=(("n04", "n05"),))
    pairs = retest_round(large)
    assert ends(pairs, Purpose.LINK) == [("n04", "n05")]
    assert len(ends(pairs, Purpose.PATH)) == 3  # four a leaf, one of them in the edge itself
    assert all({leaf[a], leaf[b]} == {"l0", "l1"} for a, b in ends(pairs, Purpose.PATH))
    known = retest_round(doubts({}, leaf=leaf, good=good, open_edges=(("n04", "n05"),), crossings={("l0", "l1"): 8}))
    assert not ends(known, Purpose.PATH)


def test_fresh_neighbours_have_not_met() -> None:
    met = {host: frozenset({HOSTS[place - 1], HOSTS[(place + 1) % 16]}) for place, host in enumerate(HOSTS)}
    pairs = fresh_round(HOSTS, dict.fromkeys(HOSTS, ""), met, 2)
    assert len(pairs) == 8 and not [pair for pair in pairs if pair.b in met[pair.a]]


def test_a_verification_goes_around_a_bad_link_and_keeps_the_rest() -> None:
    order, forced = verification_order(HOSTS, LEAF, frozenset({("n02", "n03")}), frozenset())
    assert forced == () and set(order) == set(HOSTS)
    assert [LEAF[host] for host in order] == ["left"] * 8 + ["right"] * 8
    assert verification_order(HOSTS, LEAF, frozenset(), frozenset()) == (HOSTS, ())


def test_a_verification_says_which_slow_path_it_has_to_use() -> None:
    _, forced = verification_order(HOSTS, LEAF, frozenset(), frozenset({("left", "right")}))
    assert sorted(forced) == [("n08", "n09"), ("n16", "n01")]
