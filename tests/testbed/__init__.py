"""Real sshd, real Open MPI, several hosts on one machine: what only shows there. Needs root; see `make testbed`."""
