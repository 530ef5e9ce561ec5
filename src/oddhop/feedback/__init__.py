"""Learning from the answers of a person."""
