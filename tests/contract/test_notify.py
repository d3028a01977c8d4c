"""Alerts at a real HTTP server on loopback: what arrives, what becomes of the rest, and that no address is told."""

from __future__ import annotations

import logging
import re
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from healthcheck.edge.notify import AppriseNotifier
from healthcheck.edge.notify_addresses import Address
from healthcheck.errors import InputError
from healthcheck.model.alert import Delivery
from healthcheck.model.message import say
from healthcheck.reporting.alert import alert_of
from tests.contract.hook_server import HookServer, Manner
from tests.golden.records import RECORDS

SECRET = "S3CRETPATH"
ALERT = alert_of(RECORDS["sick"](), "/srv/reports/run/report.html", None)
Serve = Callable[..., HookServer]


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Serve]:
    """Makes servers; no proxy of this machine stands in between."""
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    made: list[HookServer] = []

    def server(manner: Manner = "takes", elsewhere: str = "") -> HookServer:
        made.append(HookServer(manner, elsewhere))
        return made[-1]

    yield server
    for each in made:
        each.close()


def _told(*urls: str, limit_s: float = 10.0) -> tuple[Delivery, ...]:
    return AppriseNotifier([Address(url, "--notify") for url in urls]).send(ALERT, limit_s)


def test_what_arrives_is_the_line_the_cause_the_next_command_and_the_report(serve: Serve) -> None:
    server = serve()
    assert _told(f"json://127.0.0.1:{server.port}/{SECRET}") == (Delivery(1, "JSON"),)
    (posted,) = server.fields()
    assert posted["title"] == ALERT.title
    assert posted["title"].startswith("healthcheck: FAIL 4/8 ready, simulated")
    assert posted["type"] == "failure"
    text = str(posted["message"]).splitlines()
    assert text[0] == "Do not start on all 8 nodes. 4 nodes are proven: start there."
    assert text[1].startswith("Cause: node05/hca:mlx5_2: the port runs at 100 Gb/s")
    assert text[-2].strip().startswith("scontrol update NodeName=node05 State=DRAIN")
    assert text[-1] == "Report on head: /srv/reports/run/report.html"
    assert server.posted[0][0] == f"/{SECRET}"


def test_markdown_and_html_show_the_command_as_it_is_to_be_typed(serve: Serve) -> None:
    server = serve()
    base = f"json://127.0.0.1:{server.port}/"
    assert [told.problem for told in _told(f"{base}?format=markdown", f"{base}?format=html")] == [None, None]
    html, markdown = sorted((str(posted["message"]) for posted in server.fields()), key=lambda text: text[0] != "<")
    assert '`scontrol update NodeName=node05 State=DRAIN Reason="mlx5_2 at 100 of 200 Gb/s"`' in markdown
    assert '<code>scontrol update NodeName=node05 State=DRAIN Reason="mlx5_2 at 100 of 200 Gb/s"</code>' in html


def test_each_that_fails_is_told_by_place_and_service_and_the_others_arrive(
    serve: Serve, capfd: pytest.CaptureFixture[str]
) -> None:
    refusing, taking = serve("refuses"), serve()
    elsewhere = serve("elsewhere", f"http://127.0.0.1:{taking.port}/{SECRET}")
    with socket.create_server(("127.0.0.1", 0)) as closed:
        nobody = closed.getsockname()[1]
    told = _told(
        *(f"json://ops:hunter2@127.0.0.1:{port}/{SECRET}" for port in (refusing.port, elsewhere.port, nobody)),
        f"json://127.0.0.1:{taking.port}/{SECRET}",
    )
    assert [one.problem for one in told] == [
        say("notify.problem.status", status=403),
        say("notify.problem.redirect", status=302),
        say("notify.problem.connection"),
        None,
    ]
    assert [one.place for one in told] == [1, 2, 3, 4]
    # Followed, a redirect is a GET without the alert that answers 200.
    assert [path for path, body in taking.posted if not body] == []
    written = "".join(capfd.readouterr()) + "".join(str(one.problem) + one.service for one in told)
    assert "hunter2" not in written
    assert SECRET not in written


def test_one_that_never_ends_its_answer_is_given_up_in_time(serve: Serve) -> None:
    dripping, taking = serve("drips"), serve()
    told = _told(*(f"json://127.0.0.1:{server.port}/{SECRET}" for server in (dripping, taking)), limit_s=5.0)
    assert [one.problem for one in told] == [say("notify.problem.time", seconds=5.0), None]
    assert "within 5 s" in str(told[0].problem)


def test_what_libraries_log_of_an_address_reaches_nobody(
    serve: Serve, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    server = serve("refuses")
    _told(f"json://127.0.0.1:{server.port}/{SECRET}?verify=no")
    assert SECRET not in caplog.text
    assert capfd.readouterr() == ("", "")


PAGE = Path(__file__).parents[2] / "docs" / "howto" / "alerts.md"
KNOWN = [
    ("slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ/#ops", "Slack"),
    ("https://hooks.slack.com/services/T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ", "Slack"),
    ("feishu://0123456789abcdef0123456789abcdef", "Feishu"),
    ("lark://0123456789abcdef0123456789abcdef", "Lark (Feishu)"),
    ("dingtalk://0123456789abcdef0123456789abcdef", "DingTalk"),
    ("dingtalk://SEC0123456789@0123456789abcdef0123456789abcdef", "DingTalk"),
    ("wecombot://693a91f6-7a3c-4bc4-97a0-0ec2f5f5a5aa", "WeCom Bot"),
    ("https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=693a91f6-7a3c-4bc4-97a0-0ec2f5f5a5aa", "WeCom Bot"),
    ("tgram://123456789:abcdefghijklmnop/12315544/", "Telegram"),
    ("workflows://prod.example.org:443/WORKFLOW/SIGNATURE", "Power Automate / Workflows (for MSTeams)"),
    ("discord://1234567890/abcdefghij", "Discord"),
    ("mailtos://user:pass@example.org?smtp=mail.example.org&to=ops@example.org", "E-Mail"),
    ("pagerduty://INTEGRATIONKEY@APIKEY/head", "Pager Duty"),
    ("jsons://hooks.example.org/path", "JSON"),
]


@pytest.mark.parametrize(("url", "service"), KNOWN)
def test_the_spellings_of_the_how_to_are_known(url: str, service: str) -> None:
    """Nothing is sent."""
    assert AppriseNotifier([Address(url, "--notify")]).names == (service,)


def test_the_how_to_names_no_other() -> None:
    named = set(re.findall(r"`(\w+)://", PAGE.read_text(encoding="utf-8").partition("## Addresses")[2]))
    assert named - {"json"} == {url.partition(":")[0] for url, _ in KNOWN}


@pytest.mark.parametrize(
    "url", ["hunter2", "https://open.feishu.cn/hook/hunter2", "slack://hunter2", "nosuch://hunter2"]
)
def test_an_address_nobody_knows_is_refused_and_not_repeated(url: str, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(InputError) as refused:
        AppriseNotifier([Address(url, "notify.conf:3")])
    assert str(refused.value).startswith("notify.conf:3: ")
    assert "hunter2" not in str(refused.value)
    assert capfd.readouterr() == ("", "")
