"""Links and training together: which rule of thumb answers each question, and what would have to be known.

`table.py` joins the rules, which are data: one list a question, in the order in which they are asked.
"""
