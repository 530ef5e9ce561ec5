"""Passes over a network: arrays of its nodes and entries, in memory or in files, made range by range."""
