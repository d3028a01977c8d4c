"""What an operator would miss in a report."""
