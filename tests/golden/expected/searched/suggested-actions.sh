#!/bin/sh
# Suggested actions of healthcheck run 20260314T021503Z-qhzt. Nothing here has been run; every line is commented out.
# Read a line, remove its '# ', run it. Nothing happens when this file is run as it is.
#
# node06/hca:mlx5_2: FAIL, confirmed. rail 2 of this node (mlx5_2) is slow: it carries about 50 % less than the others. Look at that HCA, its PCIe slot, its cable and its switch port, and at the GPU beside it; swap the cable with the one of a healthy rail and search again.
#
# Start on the 15 proven nodes
#   mpirun --hostfile healthy.hosts ...
#   sbatch --exclude=node06 ...
#
# Measure the excluded nodes again, once they are repaired
#   healthcheck run monthly -H reports/20260314T021503Z-qhzt/exclude.hosts
