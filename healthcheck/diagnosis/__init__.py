"""Who is it, and why? Verdicts to findings, pure. Imports probes and below."""
