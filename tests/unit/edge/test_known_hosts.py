"""known_hosts lines of every kind sshd(8) describes."""

from __future__ import annotations

import hashlib
import hmac
from base64 import b64encode
from pathlib import Path

import pytest

from healthcheck.edge.known_hosts import KnownHosts, KnownKey, Standing, host_names

KEY = KnownKey(type="ssh-ed25519", base64=b64encode(b"key one").decode())
OTHER = KnownKey(type="ssh-ed25519", base64=b64encode(b"key two").decode())
RSA = KnownKey(type="ssh-rsa", base64=b64encode(b"key three").decode())


def files(tmp_path: Path, *lines: str) -> KnownHosts:
    """The content of one file; `{key}`, `{other}` and `{rsa}` stand for keys."""
    keys = {name: f"{key.type} {key.base64}" for name, key in (("key", KEY), ("other", OTHER), ("rsa", RSA))}
    path = tmp_path / "known_hosts"
    path.write_text("".join(f"{line.format(**keys)}\n" for line in lines))
    return KnownHosts([path])


def hashed(name: str) -> str:
    salt = b"0123456789abcdefghij"
    return f"|1|{b64encode(salt).decode()}|{b64encode(hmac.digest(salt, name.encode(), hashlib.sha1)).decode()}"


@pytest.mark.parametrize(
    ("line", "address", "port", "standing"),
    [
        ("n1 {key}", "n1", 22, Standing.KNOWN),
        ("n1 {key} a comment", "N1", 22, Standing.KNOWN),
        ("n1,10.0.0.1 {key}", "10.0.0.1", 22, Standing.KNOWN),
        ("n1 {key}", "n2", 22, Standing.UNKNOWN),
        ("n1 {other}", "n1", 22, Standing.CHANGED),
        ("n1 {rsa}", "n1", 22, Standing.CHANGED),
        ("[n1]:2222 {key}", "n1", 2222, Standing.KNOWN),
        ("[n1]:2222 {key}", "n1", 22, Standing.UNKNOWN),
        ("[n1]:2222 {key}", "n1", 2223, Standing.UNKNOWN),
        ("n1 {key}", "n1", 2222, Standing.KNOWN),
        ("gpu* {key}", "gpu-01.cluster", 22, Standing.KNOWN),
        ("gpu?? {key}", "gpu1", 22, Standing.UNKNOWN),
        ("gpu*,!gpu9 {key}", "gpu9", 22, Standing.UNKNOWN),
        ("[gpu*]:2222 {key}", "gpu7", 2222, Standing.KNOWN),
        ("fe80::1 {key}", "FE80::1", 22, Standing.KNOWN),
        (f"{hashed('n1')} {{key}}", "n1", 22, Standing.KNOWN),
        (f"{hashed('[n1]:2222')} {{key}}", "n1", 2222, Standing.KNOWN),
        (f"{hashed('n1')} {{key}}", "n2", 22, Standing.UNKNOWN),
        ("@cert-authority * {key}", "n1", 22, Standing.UNKNOWN),
        ("# n1 {key}", "n1", 22, Standing.UNKNOWN),
        ("|1|not base64|! {key}", "n1", 22, Standing.UNKNOWN),
        ("n1", "n1", 22, Standing.UNKNOWN),
    ],
)
def test_a_key_is_judged_as_ssh_does(tmp_path: Path, line: str, address: str, port: int, standing: Standing) -> None:
    assert files(tmp_path, line).judge(host_names(address, port), KEY) is standing


def test_a_revoked_key_is_refused_even_where_it_is_listed(tmp_path: Path) -> None:
    known = files(tmp_path, "n1 {key}", "@revoked * {key}")
    assert known.judge(["n1"], KEY) is Standing.CHANGED


def test_the_name_with_the_port_goes_before_the_bare_one(tmp_path: Path) -> None:
    known = files(tmp_path, "n1 {other}", "[n1]:2222 {key}")
    assert known.judge(host_names("n1", 2222), KEY) is Standing.KNOWN
    assert known.judge(host_names("n1", 2222), OTHER) is Standing.CHANGED


def test_several_keys_of_one_host_are_all_good(tmp_path: Path) -> None:
    known = files(tmp_path, "n1 {rsa}", "n1 {key}")
    assert [known.judge(["n1"], key) for key in (KEY, RSA)] == [Standing.KNOWN] * 2
    assert [key.type for key in known.keys(["n1"])] == ["ssh-rsa", "ssh-ed25519"]


def test_a_remembered_key_counts_at_once_and_the_next_time(tmp_path: Path) -> None:
    known = KnownHosts([tmp_path / "new" / "known_hosts"])
    assert known.judge(["n1"], KEY) is Standing.UNKNOWN
    known.remember("n1", KEY)
    assert known.judge(["n1"], KEY) is Standing.KNOWN
    assert KnownHosts([known.file]).judge(["n1"], KEY) is Standing.KNOWN
    assert known.file.stat().st_mode & 0o777 == 0o600


def test_a_fingerprint_is_written_as_ssh_prints_it() -> None:
    digest = b64encode(hashlib.sha256(b"key one").digest()).decode().rstrip("=")
    assert KEY.fingerprint == f"SHA256:{digest}"
