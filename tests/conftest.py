"""Every test speaks English, whatever the shell of whoever runs it asks for; those of other languages say so."""

from __future__ import annotations

import os

os.environ["LC_ALL"] = "C.UTF-8"
