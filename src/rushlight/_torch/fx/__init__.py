"""`torch.fx`: a module's Python as a graph that can be read, changed and run."""

from __future__ import annotations

from ..._base.lazy import list_names as _listed
from . import graph, graph_module, interpreter, node, proxy
from ._symbolic_trace import PH, PHBase, Tracer, symbolic_trace, wrap
from .graph import Graph
from .graph_module import GraphModule
from .interpreter import Interpreter, Transformer
from .node import Node, has_side_effect, map_arg
from .proxy import Proxy

__all__ = [
    "PH", "Graph", "GraphModule", "Interpreter", "Node", "PHBase", "Proxy", "Tracer",
    "Transformer", "graph", "graph_module", "has_side_effect", "interpreter", "map_arg", "node",
    "proxy", "symbolic_trace", "wrap",
]  # fmt: skip

__dir__ = _listed(globals())
