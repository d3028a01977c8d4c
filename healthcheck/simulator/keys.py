"""Keys and client files of one start of the SSH front: made new every time, in a folder only we can read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import paramiko
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

_HOST_KEY, _CLIENT_KEY, _KNOWN_HOSTS, _SSH_CONFIG = "host_ed25519", "id_ed25519", "known_hosts", "ssh_config"
FILE_NAMES = (_HOST_KEY, _CLIENT_KEY, _KNOWN_HOSTS, _SSH_CONFIG)
"""What a key ring leaves in its folder."""


class KeyRing:
    """The host key of all nodes and the one client key that is let in. `folder` holds none of `FILE_NAMES` yet."""

    def __init__(self, folder: Path) -> None:
        self.identity = folder / _CLIENT_KEY
        self.known_hosts = folder / _KNOWN_HOSTS
        self.ssh_config = folder / _SSH_CONFIG
        self.host_key = _new_key(folder / _HOST_KEY)
        self.client_key = _new_key(self.identity)

    def write_files(self, addresses: Mapping[str, tuple[str, int]]) -> None:
        """`known_hosts` and `ssh_config` for (address, port) by node name."""
        key = f"{self.host_key.get_name()} {self.host_key.get_base64()}"
        self.known_hosts.write_text(
            "".join(f"[{address}]:{port} {key}\n" for address, port in addresses.values()), encoding="utf-8"
        )
        blocks = [
            f"Host {name}\n    HostName {address}\n    Port {port}\n" for name, (address, port) in addresses.items()
        ]
        blocks.append(
            "Host *\n"
            f'    IdentityFile "{self.identity}"\n'
            "    IdentitiesOnly yes\n"
            f'    UserKnownHostsFile "{self.known_hosts}"\n'
            "    StrictHostKeyChecking yes\n"
            "    BatchMode yes\n"
        )
        self.ssh_config.write_text("# simulated by healthcheck\n" + "".join(blocks), encoding="utf-8")


def _new_key(path: Path) -> paramiko.Ed25519Key:
    text = Ed25519PrivateKey.generate().private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.OpenSSH, serialization.NoEncryption()
    )
    path.touch(0o600, exist_ok=False)
    path.write_bytes(text)
    return paramiko.Ed25519Key.from_private_key_file(str(path))
