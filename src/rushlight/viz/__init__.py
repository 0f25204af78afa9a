"""Pictures of what autograd has recorded."""

from .graph import graph_dot, graph_svg

__all__ = ["graph_dot", "graph_svg"]
