"""Machine types as data: one YAML each, every number with its source. No Python."""
