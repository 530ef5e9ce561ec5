"""Explanations that any detector can fill, the columns behind them, and the audit of a ranking."""
