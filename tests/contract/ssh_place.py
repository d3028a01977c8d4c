"""An SSH server, and the client files that lead to it."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType

import paramiko

from healthcheck.edge.ssh import SshSettings
from healthcheck.model.host import Host
from tests.contract.shell_server import ShellServer


class SshPlace:
    """A running `ShellServer`, a client key it accepts, and an ssh configuration; files live beside `home`."""

    def __init__(self, home: Path, *, drop_first: int = 0, mute: bool = False) -> None:
        self.folder = home.with_name(f"{home.name}-ssh")
        self.folder.mkdir()
        key = paramiko.ECDSAKey.generate()
        key.write_private_key_file(str(self.folder / "id"))
        self.server = ShellServer(home, key, drop_first=drop_first, mute=mute)
        self.known_hosts = self.folder / "known_hosts"
        self.known_hosts.write_text(self.server.known_hosts_line)
        self.config = self.folder / "config"
        self.write_config()

    @property
    def host(self) -> Host:
        return Host("node1", "127.0.0.1", port=self.server.port)

    def write_config(self, *lines: str, identity: str = "id") -> None:
        """A configuration for every host, `lines` first."""
        rest = (
            "Host *",
            "User tester",
            f"IdentityFile {self.folder}/{identity}",
            "IdentitiesOnly yes",
            f"UserKnownHostsFile {self.known_hosts}",
            "GlobalKnownHostsFile /dev/null",
        )
        self.config.write_text("\n".join((*lines, *rest)) + "\n")

    def settings(self, *, accept_new: bool = False, login_timeout_s: float = 10) -> SshSettings:
        return SshSettings(config_file=self.config, accept_new=accept_new, login_timeout_s=login_timeout_s)

    def __enter__(self) -> SshPlace:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.server.close()
