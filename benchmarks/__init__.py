"""Measurements side by side with a named peer, each one command that prints a table. Quote ratios, not seconds."""
