"""The stages of HCM over a network in partitions: files in, files out, and no process that holds the whole of it."""
