"""Which command line starts this job? Pure. Imports parsing, model."""
