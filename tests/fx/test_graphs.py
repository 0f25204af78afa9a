"""`torch.fx`: what a module does becomes a graph that runs, can be changed and is written down."""

import copy
import math
import operator
import pickle
from typing import Any

import pytest

import rushlight as torch
from rushlight import fx, nn
from rushlight.nn import functional as F


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(3, 4)
        self.rest = nn.Sequential(nn.Tanh(), nn.Linear(4, 2))
        self.scale = nn.Parameter(torch.ones(2))

    def forward(self, x, times=2):
        h = F.relu(self.fc(x)) * times
        a, b = (self.rest(h) + self.scale).chunk(2, dim=-1)
        return {"out": torch.cat([a, b], dim=1).view(x.size(0), -1), "rows": 1 + x.shape[0]}


def test_a_traced_module_gives_what_the_module_gives() -> None:
    net, x = Net(), torch.randn(5, 3)
    traced = fx.symbolic_trace(net)
    assert torch.equal(traced(x)["out"], net(x)["out"])
    assert torch.equal(traced(x, 3)["out"], net(x, 3)["out"])
    assert traced(x)["rows"] == 6
    assert traced.fc.weight is net.fc.weight
    assert sorted(traced.state_dict()) == sorted(net.state_dict())


def test_the_listing_is_pytorchs() -> None:
    traced = fx.symbolic_trace(lambda x, y=3: torch.sum(torch.relu(x) + y))
    assert str(traced.graph).splitlines() == [
        "graph():",
        "    %x : [num_users=1] = placeholder[target=x]",
        "    %y : [num_users=1] = placeholder[target=y](default=3)",
        "    %relu : [num_users=1] = call_function[target=torch.relu](args = (%x,), kwargs = {})",
        "    %add : [num_users=1] = call_function[target=operator.add]"
        "(args = (%relu, %y), kwargs = {})",
        "    %sum_1 : [num_users=1] = call_function[target=torch.sum](args = (%add,), kwargs = {})",
        "    return sum_1",
    ]
    assert "relu = torch.relu(x);  x = None" in traced.code


def test_a_step_can_be_replaced() -> None:
    traced = fx.symbolic_trace(lambda x: torch.relu(x) + 1)
    (node,) = [n for n in traced.graph.nodes if n.target is torch.relu]
    with traced.graph.inserting_after(node):
        new = traced.graph.call_function(torch.tanh, node.args)
    node.replace_all_uses_with(new)
    traced.graph.erase_node(node)
    traced.graph.lint()
    traced.recompile()
    x = torch.randn(3)
    assert torch.equal(traced(x), torch.tanh(x) + 1)


def test_a_step_that_is_used_is_not_erased() -> None:
    graph = fx.symbolic_trace(lambda x: torch.relu(x) + 1).graph
    with pytest.raises(RuntimeError, match="still had 1 users"):
        graph.erase_node(next(iter(graph.nodes)))


def test_a_branch_on_a_value_is_an_error_that_says_what_to_do() -> None:
    with pytest.raises(fx.proxy.TraceError, match="control flow") as caught:
        fx.symbolic_trace(lambda x: x if x.sum() > 0 else -x)
    assert "concrete_args" in caught.value.__notes__[0]
    with pytest.raises(fx.proxy.TraceError, match="cannot be iterated"):
        fx.symbolic_trace(lambda x: [-y for y in x])


def test_an_argument_with_a_value_is_no_input() -> None:
    traced = fx.symbolic_trace(
        lambda x, flag: torch.relu(x) if flag else x, concrete_args={"flag": True}
    )
    assert torch.equal(traced(torch.tensor([-1.0])), torch.zeros(1))


def test_unused_steps_are_removed() -> None:
    graph = fx.symbolic_trace(lambda x: (x + 1, x)[1]).graph
    assert graph.eliminate_dead_code()
    assert [node.op for node in graph.nodes] == ["placeholder", "output"]


def test_an_interpreter_runs_step_by_step() -> None:
    seen = []

    class Watched(fx.Interpreter):
        def call_function(self, target, args, kwargs):
            seen.append(target)
            return super().call_function(target, args, kwargs)

    traced = fx.symbolic_trace(lambda x: torch.relu(x) + 1)
    assert Watched(traced).run(torch.ones(1)).item() == 2
    assert seen == [torch.relu, operator.add]


def test_a_transformer_writes_another_graph() -> None:
    class Smooth(fx.Transformer):
        def call_function(self, target, args, kwargs):
            return super().call_function(
                torch.tanh if target is torch.relu else target, args, kwargs
            )

    x = torch.randn(3)
    changed = Smooth(fx.symbolic_trace(lambda x: torch.relu(x) * 2)).transform()
    assert torch.equal(changed(x), torch.tanh(x) * 2)


def test_graph_modules_are_copied_and_pickled() -> None:
    net, x = Net(), torch.randn(2, 3)
    traced = fx.symbolic_trace(net)
    for twin in (copy.deepcopy(traced), pickle.loads(pickle.dumps(traced))):
        assert torch.equal(twin(x)["out"], net(x)["out"])
        assert twin.fc.weight is not net.fc.weight


def test_modules_are_leaves_where_the_tracer_says_so() -> None:
    class Deep(fx.Tracer):
        def is_leaf_module(self, m, name):
            return isinstance(m, Net) or super().is_leaf_module(m, name)

    outer = nn.Sequential(Net())
    graph = Deep().trace(outer)
    assert [str(n.target) for n in graph.nodes if n.op == "call_module"] == ["0"]


def _twice() -> Any:
    class Twice(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.relu(x + 1)

    return torch.fx.symbolic_trace(Twice()).graph


def test_a_place_of_insertion_counts_without_a_context_too() -> None:
    graph = _twice()
    n = list(graph.nodes)[1]
    graph.inserting_after(n)
    graph.call_function(torch.sin, (n,))
    graph.call_function(torch.cos, (n,))
    assert [node.name for node in graph.nodes] == ["x", "add", "cos", "sin", "relu", "output"]
    with graph.inserting_before(n):
        graph.call_function(torch.exp, (n.args[0],))
        graph.call_function(torch.tan, (n.args[0],))
    graph.call_function(torch.log, (n,))
    names = ["x", "exp", "tan", "add", "log", "cos", "sin", "relu", "output"]
    assert [node.name for node in graph.nodes] == names


def test_a_node_of_another_graph_is_no_place_of_insertion() -> None:
    first, second = _twice(), _twice()
    with pytest.raises(AssertionError, match=r"Node to insert after is not in graph\."):
        first.inserting_after(next(iter(second.nodes)))
    with pytest.raises(AssertionError, match=r"Node to insert before is not in graph\."):
        first.inserting_before(next(iter(second.nodes)))


def test_each_graph_module_has_a_class_of_its_own_that_programs_know_by_its_text():
    class Twice(torch.nn.Module):
        def forward(self, x):
            return x * 2

    one, other = fx.symbolic_trace(Twice()), fx.symbolic_trace(Twice())
    assert type(one) is not type(other)
    assert "GraphModuleImpl" in str(type(one))
    assert type(one).__name__ == "Twice"
    type(one).forward = lambda self, x: x
    assert one(3) == 3
    assert other(3) == 6
    one.recompile()
    assert one(3) == 6


def halve(x: Any) -> Any:
    return x // 2 if x else 0


class _Rounded(nn.Module):
    def forward(self, x: Any) -> Any:
        return math.floor(x) + halve(x)


def test_functions_that_a_tracer_is_told_of_are_steps_and_so_are_those_of_math() -> None:
    graph = fx.Tracer(autowrap_functions=(halve,)).trace(nn.Sequential(_Rounded()))
    made = fx.GraphModule(nn.Module(), graph)
    targets = [node.target for node in graph.nodes if node.op == "call_function"]
    assert targets == [math.floor, halve, operator.add]
    assert made(5.5) == 7.0
    assert math.floor(2.5) == 2 and halve(4) == 2  # they are what they were
    with pytest.raises(TypeError, match="Proxy"):
        fx.Tracer(autowrap_modules=()).trace(_Rounded())
