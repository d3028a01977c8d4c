"""What are we talking about? Nouns: frozen values without IO. Imports nothing but `errors`."""
