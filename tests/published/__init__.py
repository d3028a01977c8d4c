"""Numbers that others have published, and those of docs/bandwidth.md."""
