"""The only file that picks implementations by name."""
