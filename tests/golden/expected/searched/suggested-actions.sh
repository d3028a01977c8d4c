#!/bin/sh
# Suggested actions of healthcheck run 20260314T021503Z-qhzt. Nothing here has been run; every line is commented out.
# Read a line, remove its '# ', run it; those of one finding in their order, because what ends jobs comes after the drain. Nothing happens when this file is run as it is.
#
# node06/hca:mlx5_2: FAIL, confirmed. rail 2 of this node (mlx5_2) is slow: it carries about 50 % less than the others. Drain the node, then look at that HCA, its PCIe slot, its cable and its switch port, and at the GPU beside it; swap the cable with the one of a healthy rail and search again. Without Slurm, a node is drained by leaving it out of the hostfile of the next job: exclude.hosts of this run names it.
#   ssh -t node06 'sudo perfquery -C mlx5_2 -R'
#   healthcheck run monthly -H 'node[01,06]'
#
# Start on the 15 proven nodes
#   mpirun --hostfile healthy.hosts ...
#   sbatch --exclude=node06 ...
#
# Measure the excluded nodes again, once they are repaired
#   healthcheck run monthly -H reports/20260314T021503Z-qhzt/exclude.hosts
