"""What would a cluster without hardware answer?

Bandwidth model, planted faults and their fronts. Imports workflows and below.
"""
