"""The version of oddhop."""

__version__ = "0.1.0"
