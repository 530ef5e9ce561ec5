"""The benchmark: networks by name, cells that run apart, and the page that is written from them."""
