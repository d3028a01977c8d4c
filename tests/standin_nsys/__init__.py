"""Stand-ins for Nsight Systems and a training, for tests of `vitals capture` on machines without a GPU."""
