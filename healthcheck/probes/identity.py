"""Who are we on this node, and which boot of it is this?"""

from __future__ import annotations

from healthcheck.model.node import Identity
from healthcheck.model.reading import Reading, ReadingState
from healthcheck.probes.batch import Part, PartOutput, one_line
from healthcheck.probes.trouble import garbled, usable

NAME = "identity"
_TEXT = one_line("""
    echo "uid $(id -u)"; echo "user $(id -un)"; echo "home $HOME"; echo "arch $(uname -m)"; echo "hostname $(uname -n)";
    if read -r boot 2>/dev/null </proc/sys/kernel/random/boot_id; then echo "boot_id $boot"; fi
""")


def part() -> Part:
    """Lines `key value`: uid, user, home, arch, hostname, boot_id; a simulated node adds `simulated`."""
    return Part(NAME, 5, _TEXT)


def read(output: PartOutput | None) -> Reading[Identity]:
    """Only a whole answer with a numeric uid and a home counts."""
    answer = usable(NAME, output)
    if isinstance(answer, Reading):
        return answer
    words = dict(line.partition(" ")[::2] for line in answer.stdout.splitlines())
    uid, home = words.get("uid", ""), words.get("home", "")
    if not uid.isascii() or not uid.isdigit() or len(uid) > 10 or not home.startswith("/"):
        return garbled(NAME, answer)
    return Reading(
        ReadingState.OBSERVED,
        Identity(
            uid=int(uid),
            user=words.get("user") or None,
            home=home,
            arch=words.get("arch") or None,
            hostname=words.get("hostname") or None,
            boot_id=words.get("boot_id") or None,
            simulated="simulated" in words,
        ),
    )
