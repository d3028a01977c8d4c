"""How is it told? Findings to pages. Imports diagnosis and below."""
