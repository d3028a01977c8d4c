"""The simulator: its numbers, its faults, its texts, its fronts."""
