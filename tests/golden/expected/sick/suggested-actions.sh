#!/bin/sh
# Suggested actions of healthcheck run 20260314T021503Z-mvkd. Nothing here has been run; every line is commented out.
# Read a line, remove its '# ', run it; those of one finding in their order, because what ends jobs comes after the drain. Nothing happens when this file is run as it is.
# SIMULATED: no real machine was measured. Every number here comes from a model of a cluster.
#
# node05/hca:mlx5_2: FAIL, confirmed. the port runs at 100 Gb/s instead of 200, it trained with 2 of 4 lanes. drain node05; reseat the cable of mlx5_2 at both ends; if the rate stays, replace it
#   scontrol update NodeName=node05 State=DRAIN Reason="mlx5_2 at 100 of 200 Gb/s"
#   ssh node05 cat /sys/class/infiniband/mlx5_2/ports/1/rate
#   healthcheck run monthly -H 'node[05-06]'
#
# node07: INCONCLUSIVE, confirmed. no answer on port 22: No route to host (3 tries). check power and the management network; when it answers, measure it alone
#   ping -c 3 node07
#   healthcheck run monthly -H node07 --only single_node
#   healthcheck run monthly -H node07
#
# node03: DEGRADED, likely. 191.7 GB/s inside the node, 64 % of peak 300. look at clocks, temperatures and NVLink counters of its GPUs, then measure again
#   ssh node03 nvidia-smi -q -d PERFORMANCE,TEMPERATURE
#   healthcheck run monthly -H node03
#
# node08: SKIPPED, confirmed. busy: 8 processes of user alice hold its GPUs. measure it when the job ends
#   healthcheck run monthly -H node08 --only single_node
#   healthcheck run monthly -H node08
#
# Start on the 4 proven nodes
#   mpirun --hostfile healthy.hosts ...
#   sbatch --exclude='node[03,05,07-08]' ...
#
# Measure the excluded nodes again, once they are repaired
#   healthcheck run monthly -H reports/20260314T021503Z-mvkd/exclude.hosts
#
# End what may still run of this run
#   healthcheck clean 20260314T021503Z-mvkd
