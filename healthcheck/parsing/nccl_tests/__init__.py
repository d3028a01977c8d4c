"""Reads what nccl-tests and rccl-tests print, of every era since 2017.

`lines` strips what launchers put in front, `stream` follows one process down its tables (`heads`, `layout`, `draft`),
`failures` and `judge` say what went wrong, `reader` puts it together.
"""

from healthcheck.parsing.nccl_tests.reader import parse_output

__all__ = ["parse_output"]
