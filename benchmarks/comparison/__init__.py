"""Every detector on every network, in cells that run apart, and the page that is written from them."""
