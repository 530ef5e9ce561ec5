"""HCM over a network in partitions: files in, files out, one partition a task."""
