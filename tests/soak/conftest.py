"""What pytest leaves alone: atheris need not be there."""

collect_ignore = ["guided.py"]
