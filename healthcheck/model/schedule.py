"""A check-up that comes back by itself: what is run, when, what of it is kept, and who hears of it."""

from __future__ import annotations

from msgspec import Struct


class Every(Struct, frozen=True):
    """When it is due, in the two languages of those who keep time; None where one of them cannot say it.

    `words` is as the user gave it. `calendar` is one OnCalendar= of systemd (systemd.time(7)), `cron` the five fields
    of crontab(5). `named`: it was given as a word such as `monthly`, and the minute is free to be chosen.
    """

    words: str
    calendar: str | None
    cron: str | None
    named: bool = False


class Schedule(Struct, frozen=True):
    """One check-up to be repeated. Whoever renders it quotes every word: paths and host names are data.

    `name` is that of its files and units, `command` the absolute words that start healthcheck, `playbook` a shipped
    name or an absolute file, `hosts` what -H is given (an absolute hostfile, or a node set; empty where the hosts come
    with the place it runs in), `results` the absolute folder of the runs, and `options` further options of
    `healthcheck run`, each word of them by itself. `delay_s` is the longest random delay in seconds, `keep` the number
    of runs that stay (0: all). `user` and `home` are whom it runs as, `mail_to` the address that hears of everything
    but a PASS, empty for nobody; `notify` the words of the alert options, which hold no secret.
    """

    name: str
    command: tuple[str, ...]
    playbook: str
    hosts: str
    results: str
    every: Every
    delay_s: int
    keep: int
    user: str = ""
    home: str = ""
    mail_to: str = ""
    options: tuple[str, ...] = ()
    notify: tuple[str, ...] = ()

    def run(self) -> tuple[str, ...]:
        """The words of the check-up, unquoted; its story goes to the log, and it exits as every run does."""
        hosts = ("-H", self.hosts) if self.hosts else ()
        return (*self.command, "run", self.playbook, *hosts, "-o", self.results, *self.options, *self.notify)

    def prune(self) -> tuple[str, ...]:
        """The words that take old runs away, unquoted; none where all are kept."""
        if not self.keep:
            return ()
        return (*self.command, "prune", "--keep", str(self.keep), "-o", self.results, "--quiet")
