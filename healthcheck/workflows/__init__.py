"""In which order does everything happen? The verbs, over ports only. Imports ports and below."""
