"""The case report: one HTML file that can be handed on."""
