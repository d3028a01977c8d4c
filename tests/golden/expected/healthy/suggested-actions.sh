#!/bin/sh
# Suggested actions of healthcheck run 20260314T021503Z-qhzt. Nothing here has been run; every line is commented out.
# Read a line, remove its '# ', run it; those of one finding in their order, because what ends jobs comes after the drain. Nothing happens when this file is run as it is.
#
# Start on the 8 proven nodes
#   mpirun --hostfile healthy.hosts ...
