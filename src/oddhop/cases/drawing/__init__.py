"""A case as HTML and SVG: the card and the list of cases."""
