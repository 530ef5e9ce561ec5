"""Views of a network: each says in its own way how odd a node is, and how rare that is among the nodes."""
