"""From tables to a network, and from results back to tables."""
