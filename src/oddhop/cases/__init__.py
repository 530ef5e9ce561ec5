"""Cases: which nodes and events belong together, what happened, what it could be, and where to look next."""
