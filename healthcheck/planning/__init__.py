"""Which jobs follow from this playbook and these hosts? Pure. Imports parsing, model."""
