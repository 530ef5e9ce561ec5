"""Facts: what the events of every node say, how rare that is among its like, and the events that carry it."""
