#!/bin/sh
# Suggested actions of healthcheck run 20260314T021503Z-wxyz. Nothing here has been run; every line is commented out.
# Read a line, remove its '# ', run it; those of one finding in their order, because what ends jobs comes after the drain. Nothing happens when this file is run as it is.
# INTERRUPTED RUN: stopped by the user. What was not reached is not measured, and nothing below is a final judgement.
#
# Go on where the run was stopped; what is measured stays
#   healthcheck run --resume 20260314T021503Z-wxyz
