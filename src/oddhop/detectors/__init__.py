"""Detectors: each wires the stages and shows the face of scikit-learn."""
