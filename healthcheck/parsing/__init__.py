"""What does this text say? Text to nouns, without IO. Imports model and errors."""
