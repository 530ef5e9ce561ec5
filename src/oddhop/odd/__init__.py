"""Odd: five views of every node, combined. Nothing is trained."""
