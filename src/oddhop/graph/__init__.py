"""The network: an attributed graph, checked once, in memory or on disk."""
