"""Engines: each maps a function over blocks. No stage knows which one runs it."""
