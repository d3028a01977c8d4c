"""Reports compared with committed files; remade with `python -m tests.golden.remake` and read as diffs."""
