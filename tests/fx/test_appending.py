"""Proxies that put steps at the end of a graph; functions that are noted as PyTorch notes them."""

import rushlight as torch
from rushlight import fx
from rushlight.nn import functional as F


def graph_of(function):
    graph = fx.Graph()
    tracer = fx.proxy.GraphAppendingTracer(graph)
    graph.output(function(fx.Proxy(graph.placeholder("a"), tracer)).node)
    return graph


def test_a_function_of_operations_is_one_step():
    graph = graph_of(lambda a: torch.broadcast_tensors(a, a)[0])
    assert [n.op for n in graph.nodes] == [
        "placeholder", "call_function", "call_function", "output",
    ]  # fmt: skip
    assert list(graph.nodes)[1].target is torch.broadcast_tensors


def test_operands_of_einsum_are_noted_one_by_one():
    graph = graph_of(lambda a: torch.functional.einsum("ij,jk->ik", [a, a]))
    step = list(graph.nodes)[1]
    assert step.target is torch.einsum
    assert len(step.args) == 3


def test_defaults_of_functions_in_python_are_written_out():
    step = list(graph_of(lambda a: F.cross_entropy(a, a)).nodes)[1]
    assert len(step.args) == 2
    assert step.kwargs == {"weight": None, "size_average": None, "ignore_index": -100,
                           "reduce": None, "reduction": "mean", "label_smoothing": 0.0}  # fmt: skip


def test_what_was_appended_runs():
    graph = graph_of(lambda a: torch.cat([a, torch.einsum("ij,jk->ik", a, a)], dim=-1))
    module = fx.GraphModule(torch.nn.Module(), graph)
    assert module(torch.eye(2)).tolist() == [[1.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 1.0]]
