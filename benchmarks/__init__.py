"""What measures oddhop, from a checkout: the comparison of detectors, and scripts that measure one thing each."""
