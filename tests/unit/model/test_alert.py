"""The words of a command line as a record keeps them: without addresses of alerts."""

from __future__ import annotations

import pytest

from healthcheck.model.alert import masked


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("run full --notify slack://T/B/secret -H h", "run full --notify *** -H h"),
        ("run --notify=slack://T/B/secret", "run --notify=***"),
        (
            "run --notify a://1 --notify b://2 --notify @/etc/notify",
            "run --notify *** --notify *** --notify @/etc/notify",
        ),
        ("run --notify=@notify.conf --notify-on always", "run --notify=@notify.conf --notify-on always"),
        ("run --notify --notify", "run --notify ***"),
        ("run --notify", "run --notify"),
        ("run --fault node05:nvlink=0.5", "run --fault node05:nvlink=0.5"),
    ],
)
def test_addresses_are_masked_and_nothing_else(typed: str, kept: str) -> None:
    assert masked(tuple(typed.split())) == tuple(kept.split())
