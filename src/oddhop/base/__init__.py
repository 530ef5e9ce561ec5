"""What everything else stands on: arrays, compiled kernels, random numbers, threads and clusters, files."""
