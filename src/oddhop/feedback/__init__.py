"""Learning from an analyst's answers."""
