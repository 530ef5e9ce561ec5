"""Injected anomalies, baselines and metrics: what a detector is measured by."""
