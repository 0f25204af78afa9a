"""Anomaly mode: where a failing node was made, and nan as an error."""

import warnings

import pytest

import rushlight as torch


def leaf(*values: float) -> torch.Tensor:
    return torch.tensor(values, requires_grad=True)


class Bad(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1

    @staticmethod
    def backward(ctx, g):
        raise RuntimeError("inside")


class Nan(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1

    @staticmethod
    def backward(ctx, g):
        return g * float("nan")


def test_nan_names_the_function_and_the_place_where_it_was_called() -> None:
    with torch.autograd.set_detect_anomaly(True), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        y = Nan.apply(leaf(1.0))
        with pytest.raises(
            RuntimeError, match="Function 'NanBackward' returned nan values in its 0th output"
        ):
            y.backward()
    text = str(caught[0].message)
    assert text.startswith("Error detected in NanBackward. Traceback of forward call that caused")
    assert "Nan.apply(leaf(1.0))" in text


def test_a_node_of_the_table_is_checked_too() -> None:
    x = leaf(0.0)
    with torch.autograd.set_detect_anomaly(True), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        y = (x * 0) / (x * 0)
        with pytest.raises(
            RuntimeError, match="Function 'DivBackward0' returned nan values in its 1th"
        ):
            y.backward()


def test_nan_passes_where_it_isnt_checked() -> None:
    x = leaf(1.0)
    with torch.autograd.set_detect_anomaly(True, check_nan=False):
        Nan.apply(x).backward()
    assert x.grad.isnan().item()
    x.grad = None
    Nan.apply(x).backward()
    assert x.grad.isnan().item()


def test_errors_in_backward_say_where_forward_was() -> None:
    with (
        torch.autograd.set_detect_anomaly(True),
        pytest.warns(UserWarning, match="Error detected in Bad"),
    ):
        y = Bad.apply(leaf(1.0))
        with pytest.raises(RuntimeError, match="inside"):
            y.backward()


def test_a_node_made_before_has_no_place_to_name() -> None:
    y = Bad.apply(leaf(1.0))
    warned = pytest.warns(UserWarning, match="No forward pass information available")
    refused = pytest.raises(RuntimeError, match="inside")
    with torch.autograd.set_detect_anomaly(True), warned, refused:
        y.backward()


def test_a_node_made_during_a_backward_names_its_parent() -> None:
    class Inner(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return Bad.apply(g)

    x, seed = leaf(1.0), leaf(1.0)
    with torch.autograd.set_detect_anomaly(True):
        (g,) = torch.autograd.grad(Inner.apply(x), x, seed, create_graph=True)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            with pytest.raises(RuntimeError, match="inside"):
                g.backward()
    assert "Previous calculation was induced by InnerBackward" in str(caught[1].message)


def test_an_overwritten_value_points_at_the_backtrace() -> None:
    with (
        torch.autograd.set_detect_anomaly(True),
        pytest.warns(UserWarning, match="Error detected in Exp"),
    ):
        y = leaf(1.0).exp()
        y.add_(1)
        with pytest.raises(RuntimeError, match="the backtrace further above shows the operation"):
            y.backward()


def test_the_mode_warns_once_on_entering_and_ends() -> None:
    with pytest.warns(UserWarning, match="Anomaly Detection has been enabled"):
        mode = torch.autograd.detect_anomaly(check_nan=False)
    with mode:
        assert torch.is_anomaly_enabled() and not torch.is_anomaly_check_nan_enabled()
    assert not torch.is_anomaly_enabled() and torch.is_anomaly_check_nan_enabled()


def test_views_made_in_anomaly_mode_are_views() -> None:
    x = torch.ones(2, 2, requires_grad=True)
    with pytest.warns(UserWarning, match="Anomaly"), torch.autograd.detect_anomaly():
        for view in (lambda y: y.t(), torch.view_as_complex):
            y = x * 1
            v = view(y)
            assert v._base is y
            v.mul_(3)
            (g,) = torch.autograd.grad(y.sum(), x)
            assert g.tolist() == [[3.0, 3.0], [3.0, 3.0]]


def test_a_hook_that_fails_names_its_node() -> None:
    y = torch.rand(3, 3, requires_grad=True).t()
    y.register_hook(lambda g: 1 / 0)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        with pytest.raises(ZeroDivisionError), torch.autograd.detect_anomaly():
            y.sum().backward(inputs=[y])
    assert str(seen[-1].message).startswith("Error detected in TBackward0. No forward pass")


def test_a_node_that_is_made_while_a_leaf_takes_its_gradient_has_the_leaf_for_parent() -> None:
    a = torch.rand((), requires_grad=True)
    a.grad = torch.ones((), requires_grad=True) * 1
    y = a.sigmoid()
    torch.autograd.graph.register_multi_grad_hook([a, a], lambda g: None, mode="any")
    with warnings.catch_warnings(), torch.autograd.set_detect_anomaly(True):
        warnings.simplefilter("ignore")  # of the cycle that a graph in `.grad` makes
        y.backward(create_graph=True)
    assert a.grad is not None and a.grad.grad_fn is not None
    parent = a.grad.grad_fn.metadata["parent_"]
    assert parent.name() == "torch::autograd::AccumulateGrad" and parent.variable is a
