"""What are we talking about? Nouns: frozen values without IO. Imports nothing but `errors`.

Those of which a run holds thousands are declared `gc=False`: values that are frozen stand in no cycle, and the
collector of cycles would walk over all of them again and again.
"""
