"""The check-up of NVLink and InfiniBand in GPU clusters. docs/architecture.md walks through the rooms."""

__version__ = "0.1.0"
