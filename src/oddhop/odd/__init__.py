"""Odd: three views of every node, combined. Nothing is trained."""
