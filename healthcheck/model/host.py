"""A host as the user wrote it."""

from __future__ import annotations

from msgspec import Struct


class Host(Struct, frozen=True):
    """One line of a hostfile. `name` is the key by which every record, job and report knows it.

    `slots` None means the GPU count of the platform. `labels` are the inline `leaf=`, `rack=`, `pod=` words.
    """

    name: str
    address: str
    port: int | None = None
    user: str | None = None
    slots: int | None = None
    labels: tuple[tuple[str, str], ...] = ()

    def label(self, key: str) -> str | None:
        """The value of one label, None when the hostfile does not give it."""
        return dict(self.labels).get(key)
