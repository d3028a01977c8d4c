"""Units of systemd: what a path may hold means nothing in them, and what is not PASS is a failure."""

from __future__ import annotations

from msgspec.structs import replace

from healthcheck.model.schedule import Schedule
from healthcheck.parsing.calendar import parse_every
from healthcheck.reporting.schedule.systemd import path, unit_files, word

PLAIN = Schedule(
    name="healthcheck-monthly",
    command=("/opt/healthcheck/bin/healthcheck",),
    playbook="monthly",
    hosts="/etc/healthcheck/gpu.hosts",
    results="/var/lib/healthcheck",
    every=parse_every("monthly"),
    delay_s=3600,
    keep=24,
    user="ops",
    home="/home/ops",
)


def settings(text: str) -> dict[str, list[str]]:
    """key -> values, in order; comments and sections are none."""
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        if line and line[0] not in "#[":
            key, _, value = line.partition("=")
            found.setdefault(key, []).append(value)
    return found


def parts(schedule: Schedule) -> tuple[dict[str, list[str]], dict[str, list[str]], dict[str, list[str]]]:
    """(service, timer, alert)."""
    service, timer, alert = unit_files(schedule).values()
    return settings(service), settings(timer), settings(alert)


def test_the_service_runs_the_check_up_and_then_takes_old_runs_away() -> None:
    service, _, _ = parts(PLAIN)
    words = "-H /etc/healthcheck/gpu.hosts -o /var/lib/healthcheck"
    assert service["ExecStart"] == [f"/opt/healthcheck/bin/healthcheck run monthly {words}"]
    # ExecStartPost= would not come after a FAIL.
    (prune,) = service["ExecStopPost"]
    assert prune == "-/opt/healthcheck/bin/healthcheck prune --keep 24 -o /var/lib/healthcheck --quiet"
    assert "ExecStartPost" not in service and service["User"] == ["ops"]
    assert "ExecStopPost" not in parts(replace(PLAIN, keep=0))[0]


def test_all_but_a_pass_starts_the_alert() -> None:
    service, _, alert = parts(PLAIN)
    assert service["OnFailure"] == ["healthcheck-monthly-alert.service"]
    # Not 1, 3 or 4: FAIL, INCONCLUSIVE and DEGRADED have to be heard of.
    assert service["SuccessExitStatus"] == ["143"]
    assert "<3>" in alert["ExecStart"][0] and "sendmail" not in alert["ExecStart"][0]
    mailed = parts(replace(PLAIN, mail_to="ops@example.org"))[2]["ExecStart"][0]
    assert mailed.endswith('| sendmail -t" sh healthcheck-monthly.service ops@example.org')


def test_nothing_keeps_ssh_from_its_keys_or_takes_it_down_first() -> None:
    service, _, _ = parts(PLAIN)
    assert {"ProtectHome", "PrivateDevices", "PrivateNetwork", "DynamicUser", "PrivateUsers"}.isdisjoint(service)
    assert service["KillMode"] == ["mixed"]


def test_the_timer_makes_up_for_what_passed_and_does_not_begin_with_all_others() -> None:
    _, timer, _ = parts(PLAIN)
    assert timer["OnCalendar"] == ["*-*-01 04:00:00"]
    assert (timer["RandomizedDelaySec"], timer["Persistent"]) == (["3600s"], ["true"])
    assert "RandomizedDelaySec" not in parts(replace(PLAIN, delay_s=0))[1]


def test_no_character_of_a_path_means_anything() -> None:
    odd = '/srv/100% of $HOME/a "b" \\n'
    assert word(odd) == '"/srv/100%% of $$HOME/a \\"b\\" \\\\n"'
    assert path(odd) == '"/srv/100%% of $HOME/a \\"b\\" \\\\n"'
    assert word(";") == '";"' and word("") == '""' and word("-x") == "-x"
    service, _, _ = parts(replace(PLAIN, results=odd, hosts="/h osts"))
    assert word(odd) in service["ExecStart"][0] and word(odd) in service["ExecStopPost"][0]
    assert service["RequiresMountsFor"] == [f'{path(odd)} "/h osts"']
    assert service["ReadWritePaths"] == [path(f"-{odd}")]


def test_it_waits_for_the_mount_of_every_file_it_names() -> None:
    named = {
        "options": ("--baseline", "/nfs/base.json"),
        "notify": ("--notify", "@/secret/slack", "--notify-on", "change"),
    }
    service, _, _ = parts(replace(PLAIN, hosts="gpu[001-128]", playbook="/home/ops/night.yaml", **named))
    assert service["RequiresMountsFor"] == ["/var/lib/healthcheck /home/ops/night.yaml /nfs/base.json /secret/slack"]


def test_a_node_set_is_no_place_that_could_be_mounted() -> None:
    service, _, _ = parts(replace(PLAIN, hosts="gpu[001-128]"))
    assert service["RequiresMountsFor"] == ["/var/lib/healthcheck"]
    assert '-H "gpu[001-128]"' in service["ExecStart"][0]
