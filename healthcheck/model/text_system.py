"""Texts about looks at the operating system of a node, and at its scheduler."""

SYSTEM_TEXTS: dict[str, str] = {
    "probe.clock.hides": "whether times in its logs can be compared with others",
    "probe.clock.ahead": "its clock is {seconds:g} s ahead of ours: times in its logs fit no other log",
    "probe.clock.behind": "its clock is {seconds:g} s behind ours: times in its logs fit no other log",
    "probe.clock.not_compared": "the clock was not compared with ours",
    "probe.clock.unsynchronised": "the clock is right, but no time server keeps it so",
    "probe.clock.right": "the clock is right",
}
