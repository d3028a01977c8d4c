"""Is it a measurement, and is it fast enough? Nouns to verdicts, pure. Imports parsing, model."""
