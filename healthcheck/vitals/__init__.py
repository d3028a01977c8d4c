"""Is the training itself healthy? Pure readers of its files. Imports evaluation and below."""
