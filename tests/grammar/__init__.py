"""Outputs written from the grammar of nccl-tests; `python -m tests.grammar.remake` writes them and their answers."""
