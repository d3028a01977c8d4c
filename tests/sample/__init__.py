"""The committed sample report: how it is made, and whether it is what the code makes today."""
