#!/bin/sh
# Suggested actions of healthcheck run 20260314T021503Z-qhzt. Nothing here has been run; every line is commented out.
# Read a line, remove its '# ', run it; those of one finding in their order, because what ends jobs comes after the drain. Nothing happens when this file is run as it is.
# SIMULATED: no real machine was measured. Every number here comes from a model of a cluster.
#
# node13/hca:mlx5_5: FAIL, confirmed. rail 5 of this node (mlx5_5) is slow: it carries about 50 % less than the others. Drain the node, then look at that HCA, its PCIe slot, its cable and its switch port, and at the GPU beside it; swap the cable with the one of a healthy rail and search again. Without Slurm, a node is drained by leaving it out of the hostfile of the next job: exclude.hosts of this run names it.
#   ssh node13 'ibstat mlx5_5'
#   ssh -t node13 'sudo mlxlink -d mlx5_5 -m -c -e'
#   ssh -t node13 'sudo dmesg -T | grep -w mlx5_5 | tail -n 20'
#   ssh node13 'ibstat -s'
#   less reports/20260314T021503Z-qhzt/raw/multi_node/multi_node.all_reduce.29nodes-651569/stdout reports/20260314T021503Z-qhzt/raw/multi_node/multi_node.all_reduce.29nodes-651569/stderr
#   ssh -t node13 'sudo perfquery -C mlx5_5 -R'
#   healthcheck run full --simulate 32 --fault node22:unreachable --fault node27:nvlink=0.95 --fault node30:busy
#
# node27/gpu:0: FAIL, confirmed. NVLinks of a GPU are inactive or missing. Drain the node, then reset the GPUs and look at the links again; have the GPU, bridge or baseboard replaced if the same links stay inactive. Without Slurm, a node is drained by leaving it out of the hostfile of the next job: exclude.hosts of this run names it.
#   ssh node27 'nvidia-smi nvlink -s; nvidia-smi nvlink -e'
#   ssh node27 'nvidia-smi -L'
#   ssh -t node27 'sudo dmesg -T | grep -i -e xid -e nvrm | tail -n 20'
#   less reports/20260314T021503Z-qhzt/raw/single_node/single_node.all_reduce.node27/stdout reports/20260314T021503Z-qhzt/raw/single_node/single_node.all_reduce.node27/stderr
#   ssh -t node27 '! nvidia-smi --query-compute-apps=pid,process_name --format=csv,noheader | grep . && sudo nvidia-bug-report.sh'
#   ssh -t node27 '! nvidia-smi --query-compute-apps=pid,process_name --format=csv,noheader | grep . && sudo nvidia-smi -r'
#   healthcheck run full --simulate 32 --fault node13:hca=mlx5_5,slow=0.5 --fault node22:unreachable --fault node30:busy
#
# node22: INCONCLUSIVE, confirmed. the host does not answer. Check whether it is up and whether its name, port and network are right, then run again.
#   ping -c 3 node22
#   ssh -v -o BatchMode=yes -o ConnectTimeout=5 node22 true
#   healthcheck run full --simulate 32 --fault node13:hca=mlx5_5,slow=0.5 --fault node27:nvlink=0.95 --fault node30:busy
#
# node30: SKIPPED, confirmed. somebody else uses the node: python3 (pid 48213, user mlteam). Wait until the job has ended, then run again; --allow-busy measures anyway and reads low.
#   ssh node30 nvidia-smi
#   healthcheck run full --simulate 32 --fault node13:hca=mlx5_5,slow=0.5 --fault node22:unreachable --fault node27:nvlink=0.95
#
# Start on the 28 proven nodes
#   mpirun --hostfile healthy.hosts ...
#   sbatch --exclude='node[13,22,27,30]' ...
