"""What does the node say about itself?

Command, parse, judge; one round trip a node. Imports evaluation, planning, launchers and below.
"""
