"""The drawing of a graph, on stand-ins that show the public interface and on real tensors."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree

import pytest

import rushlight
from rushlight.viz import graph_dot, graph_svg

SVG = "{http://www.w3.org/2000/svg}"


class Leaf:
    """A tensor that someone made."""

    grad_fn = None

    def __init__(self, *shape, requires_grad=True):
        self.shape = shape
        self.requires_grad = requires_grad
        self.fills = Accumulate(self) if requires_grad else None


class Accumulate:
    next_functions = ()

    def __init__(self, variable):
        self.variable = variable

    def name(self):
        return "torch::autograd::AccumulateGrad"


class Function:
    """A recorded function; inputs are leaves, results or None."""

    def __init__(self, name, *inputs, **saved):
        self._name = name
        self.next_functions = tuple((function_of(value), 0) for value in inputs)
        for key, value in saved.items():
            setattr(self, f"_saved_{key}", value)

    def name(self):
        return self._name


class Result:
    """A tensor that a function made."""

    requires_grad = True

    def __init__(self, grad_fn, *shape):
        self.grad_fn = grad_fn
        self.shape = shape


def function_of(value):
    if isinstance(value, Leaf):
        return value.fills
    return value.grad_fn if isinstance(value, Result) else value


def result(name, *inputs, **saved):
    return Result(Function(name, *inputs, **saved))


def boxes(svg):
    """Name, further lines and class of every box, in order."""
    found = []
    for group in ElementTree.fromstring(svg).iter(f"{SVG}g"):
        if group.find(f"{SVG}title") is not None:
            words = ["".join(text.itertext()) for text in group.findall(f"{SVG}text")]
            found.append((words[0], words[1:], group.get("class")))
    return found


def names(svg):
    return [name for name, _, _ in boxes(svg)]


def tooltips(svg):
    return [element.text for element in ElementTree.fromstring(svg).iter(f"{SVG}title")]


def arrows(svg):
    paths = ElementTree.fromstring(svg).iter(f"{SVG}path")
    return sum(path.get("class") == "rl-tip" for path in paths)


def note(svg):
    return "".join(list(ElementTree.fromstring(svg).iter(f"{SVG}text"))[-1].itertext())


def test_every_function_and_every_leaf_has_one_box():
    w, x = Leaf(2, 3), Leaf(3)
    svg = graph_svg(result("SumBackward0", result("MulBackward0", w, x)))
    assert sorted(names(svg)) == ["MulBackward0", "SumBackward0", "leaf", "leaf"]
    assert arrows(svg) == 3
    assert note(svg) == "2 functions, 2 leaves"


def test_a_leaf_used_twice_is_one_box():
    w = Leaf(2)
    svg = graph_svg(result("AddBackward0", result("ExpBackward0", w), result("SinBackward0", w)))
    assert names(svg).count("leaf") == 1
    assert note(svg) == "3 functions, 1 leaf"


def test_leaves_carry_their_names_and_shapes():
    w, b = Leaf(10, 64), Leaf(10)
    svg = graph_svg(result("AddmmBackward0", b, w), params={"fc.weight": w})
    assert ("fc.weight", ["(10, 64)"], "rl-leaf") in boxes(svg)
    assert ("leaf", ["(10,)"], "rl-leaf") in boxes(svg)


def test_a_leaf_without_dimensions_has_an_empty_shape():
    assert ("leaf", ["()"], "rl-leaf") in boxes(graph_svg(result("ExpBackward0", Leaf())))


def test_only_the_root_is_marked():
    svg = graph_svg(result("SumBackward0", result("ExpBackward0", Leaf(2))))
    assert [name for name, _, kind in boxes(svg) if "rl-root" in kind] == ["SumBackward0"]


def test_inputs_that_need_no_gradient_are_not_drawn():
    svg = graph_svg(result("MulBackward0", Leaf(2), Leaf(2, requires_grad=False), None))
    assert names(svg) == ["MulBackward0", "leaf"]


def test_a_leaf_that_requires_grad_is_a_picture_of_one_box():
    w = Leaf(4)
    svg = graph_svg(w, params={"w": w})
    assert boxes(svg) == [("w", ["(4,)"], "rl-leaf rl-root")]
    assert arrows(svg) == 0


def test_a_tensor_without_history_is_refused():
    with pytest.raises(ValueError, match="does not require grad and has no grad_fn"):
        graph_svg(Leaf(2, requires_grad=False))


@pytest.mark.parametrize("draw", [graph_svg, graph_dot])
def test_fewer_than_one_node_is_refused(draw):
    with pytest.raises(ValueError, match="max_nodes must be at least 1, got 0"):
        draw(Leaf(2), max_nodes=0)


def test_a_users_function_that_keeps_a_variable_is_no_leaf():
    function = Function("MineBackward", Leaf(2))
    function.variable = Leaf(7)
    assert names(graph_svg(Result(function))) == ["MineBackward", "leaf"]


def test_a_deep_graph_is_counted_whole_and_cut_with_a_note():
    value = Leaf(1)
    for _ in range(100_000):
        value = result("MulBackward0", value)
    svg = graph_svg(value, max_nodes=10)
    assert names(svg) == ["MulBackward0"] * 10 + ["…"]
    assert note(svg) == "the 10 nearest to the root of 100 000 functions, 1 leaf"
    assert tooltips(svg)[-1] == "1 input is not drawn"
    # Let go from the far end: a chain of this length would be freed recursively.
    functions = [value.grad_fn]
    while functions[-1].next_functions:
        functions.append(functions[-1].next_functions[0][0])
    while functions:
        functions.pop().next_functions = ()


def test_a_graph_just_within_the_limit_is_not_cut():
    root = result("AddBackward0", Leaf(1), Leaf(1))
    assert note(graph_svg(root, max_nodes=3)) == "1 function, 2 leaves"
    assert "nearest to the root" in note(graph_svg(root, max_nodes=2))


def test_names_are_escaped():
    w = Leaf(1)
    svg = graph_svg(result("<&Backward0", w), params={'a<b>&"c"': w})
    assert names(svg) == ["<&Backward0", 'a<b>&"c"']


def test_the_picture_holds_no_script_link_or_address():
    svg = graph_svg(result("ExpBackward0", Leaf(1)))
    assert "<script" not in svg and "href" not in svg and "url(" not in svg
    assert re.findall(r"https?://[^\"]*", svg) == ["http://www.w3.org/2000/svg"]


def test_saved_tensors_are_told_only_when_asked_for():
    root = result("MulBackward0", Leaf(3), other=Leaf(3), scale=2.0)
    assert boxes(graph_svg(root))[0][1] == []
    svg = graph_svg(root, saved=True)
    assert boxes(svg)[0][1] == ["saves other"]
    assert tooltips(svg)[0] == "MulBackward0\nsaved other: (3,)\nsaved scale: 2.0 (root)"


def test_saved_tensors_that_backward_has_freed_are_said_to_be():
    class Spent(Function):
        @property
        def _saved_self(self):
            raise RuntimeError("Trying to backward through the graph a second time")

    svg = graph_svg(Result(Spent("ExpBackward0", Leaf(2))), saved=True)
    assert "saved self: freed" in tooltips(svg)[0]


def test_dot_names_every_node_and_edge():
    w = Leaf(2, 2)
    unbind = Function("UnbindBackward0", w)
    root = Function("AddBackward0")
    root.next_functions = ((unbind, 0), (unbind, 1))
    text = graph_dot(Result(root), params={'the "w"': w})
    assert text.startswith("digraph autograd {") and text.endswith("}\n")
    assert 'n2 [label="the \\"w\\"\\n(2, 2)"' in text
    edges = re.findall(r"^  (n\d+ -> n\d+.*);$", text, re.MULTILINE)
    assert edges == ["n0 -> n1", "n0 -> n1 [label=1]", "n1 -> n2"]


def test_dot_tells_what_is_left_out():
    text = graph_dot(result("AddBackward0", Leaf(1), Leaf(1)), max_nodes=1)
    assert "the 1 nearest to the root of 1 function, 2 leaves" in text


def test_a_recorded_graph_is_drawn_from_its_tensors():
    w = rushlight.ones(2, 3, requires_grad=True)
    x = rushlight.ones(3)
    svg = graph_svg((w * x).exp().sum(), params={"w": w})
    assert names(svg) == ["SumBackward0", "ExpBackward0", "MulBackward0", "w"]
    assert boxes(svg)[-1] == ("w", ["(2, 3)"], "rl-leaf")


def test_the_parameters_of_a_module_are_named():
    model = rushlight.nn.Sequential(
        rushlight.nn.Linear(4, 3), rushlight.nn.ReLU(), rushlight.nn.Linear(3, 1)
    )
    params = dict(model.named_parameters())
    drawn = names(graph_svg(model(rushlight.ones(2, 4)).sum(), params=params))
    assert sorted(set(drawn) & set(params)) == ["0.bias", "0.weight", "2.bias", "2.weight"]
    assert "leaf" not in drawn


def test_drawing_leaves_the_graph_usable():
    w = rushlight.ones(3, requires_grad=True)
    loss = (w * w).sum()
    graph_svg(loss, saved=True)
    graph_dot(loss)
    loss.backward()
    assert w.grad.tolist() == [2.0, 2.0, 2.0]


def test_what_a_real_function_saved_is_told_until_backward_frees_it():
    w = rushlight.ones(3, requires_grad=True)
    loss = w.exp().sum()
    assert "saved result: (3,)" in "\n".join(tooltips(graph_svg(loss, saved=True)))
    loss.backward()
    assert "saved result: freed" in "\n".join(tooltips(graph_svg(loss, saved=True)))


def test_a_tensor_outside_autograd_is_refused():
    with pytest.raises(ValueError, match="no graph to draw"):
        graph_svg(rushlight.ones(2))
