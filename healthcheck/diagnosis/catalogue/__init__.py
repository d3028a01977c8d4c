"""The causes there are, as data: one file an area, its rows in order of urgency. Joined in `diagnosis/causes.py`."""
