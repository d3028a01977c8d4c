#!/bin/sh
# healthcheck 运行 20260314T021503Z-qhzt 的建议操作。这里的命令均未执行；每一行都已注释掉。
# 看懂一行，去掉开头的 '# '，再执行；同一结论的各行按顺序执行，因为会中断作业的命令排在隔离（drain）之后。原样运行本文件不会做任何事。
#
# node06/hca:mlx5_2：FAIL，已确认。此节点的 rail 2（mlx5_2）慢：流量比其他 rail 约低 50 %。先隔离节点（drain），再检查该 HCA 及其 PCIe 插槽、线缆和交换机端口，以及旁边的 GPU；与健康 rail 对换线缆，再搜索一次。没有 Slurm 时，隔离节点就是不把它写进下一个作业的 hostfile：本次运行的 exclude.hosts 列有它。
#   ssh -t node06 'sudo perfquery -C mlx5_2 -R'
#   healthcheck run monthly -H 'node[01,06]'
#
# 在已验证的 15 个节点上启动
#   mpirun --hostfile healthy.hosts ...
#   sbatch --exclude=node06 ...
#
# 修复之后，重新测量被排除的节点
#   healthcheck run monthly -H reports/20260314T021503Z-qhzt/exclude.hosts
