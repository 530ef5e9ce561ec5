"""Crimes and their innocent twins in made-up networks of events: how many of them are among the first cases."""
