"""A network in partitions: what a task is, and the edges that cross partitions."""
