"""What does the log of a training say? Lines in, steps and events out, for every framework in the same words."""
