"""Anomaly mode and activation checkpointing."""

import contextlib
import io
import warnings

import torch
from observation import near, outcome


def _leaf(*values: float) -> torch.Tensor:
    return torch.tensor(values, requires_grad=True)


def _checkpoint(*arguments, **options):
    return torch.utils.checkpoint.checkpoint(*arguments, **options)


def nan_gradients_are_named() -> None:
    x = _leaf(0.0)
    with torch.autograd.set_detect_anomaly(True), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        y = (x * 0) / (x * 0)
        outcome(y.backward)
    print([str(w.message).splitlines()[0] for w in caught])


def the_warning_shows_where_the_node_was_made() -> None:
    x = _leaf(-1.0)
    with torch.autograd.detect_anomaly(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        y = torch.sqrt(x)
        outcome(y.backward)
    text = str(caught[-1].message)
    print("torch.sqrt(x)" in text, "the_warning_shows" in text, text.splitlines()[0])


def nan_is_not_checked_when_not_asked() -> None:
    x = _leaf(-1.0)
    with torch.autograd.detect_anomaly(check_nan=False):
        torch.sqrt(x).backward()
    print(x.grad)


def nan_passes_outside_anomaly_mode() -> None:
    x = _leaf(-1.0, 0.0, 1.0)
    torch.sqrt(x).sum().backward()
    print(x.grad)


def anomaly_mode_covers_errors_in_backward() -> None:
    class Bad(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            raise RuntimeError("inside")

    with torch.autograd.detect_anomaly(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        y = Bad.apply(_leaf(1.0))
        outcome(y.backward)
    print([str(w.message).splitlines()[0] for w in caught])


def anomaly_mode_names_the_operation_that_was_overwritten() -> None:
    x = _leaf(1.0)
    with torch.autograd.detect_anomaly(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        y = x.exp()
        z = y * 1
        y.add_(1)
        outcome(z.backward)
    print([str(w.message).splitlines()[0] for w in caught])


def a_node_made_before_anomaly_mode() -> None:
    x = _leaf(-1.0)
    y = torch.sqrt(x)
    with torch.autograd.detect_anomaly(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        outcome(y.backward)
    print([str(w.message).splitlines()[0] for w in caught])


def nodes_keep_their_traceback_in_metadata() -> None:
    with torch.autograd.detect_anomaly(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        y = _leaf(1.0) * 2
    print(sorted(y.grad_fn.metadata), type(y.grad_fn.metadata["traceback_"]).__name__)


def a_checkpoint_gives_the_same_gradients() -> None:
    x = torch.randn(3, requires_grad=True)
    calls = []

    def f(t):
        calls.append(torch.is_grad_enabled())
        return t.exp().sin()

    for reentrant in (False, True):
        x.grad = None
        y = _checkpoint(f, x, use_reentrant=reentrant)
        print(near(y), y.grad_fn.name(), calls)
        y.sum().backward()
        print(near(x.grad), calls)
        calls.clear()


def a_checkpoint_warns_when_the_kind_is_not_given() -> None:
    outcome(lambda: near(_checkpoint(torch.exp, torch.ones(1, requires_grad=True))))


def a_checkpoint_of_inputs_without_gradient_warns() -> None:
    y = _checkpoint(torch.exp, torch.ones(1), use_reentrant=True)
    print(y.requires_grad)
    print(_checkpoint(torch.exp, torch.ones(1), use_reentrant=False).requires_grad)


def a_checkpoint_repeats_the_random_numbers() -> None:
    x = torch.ones(20, requires_grad=True)

    def f(t):
        return torch.nn.functional.dropout(t * 2, 0.5)

    y = _checkpoint(f, x, use_reentrant=False)
    y.sum().backward()
    print(x.grad.equal(y.detach()), y.detach().sum())
    x.grad = None
    y = _checkpoint(f, x, use_reentrant=True, preserve_rng_state=True)
    torch.rand(5)
    y.sum().backward()
    print(x.grad.equal(y.detach()))


def a_checkpoint_of_a_function_that_changes_is_found() -> None:
    state = []

    def f(t):
        state.append(1)
        return t.exp() if len(state) == 1 else t.exp().sin().cos()

    y = _checkpoint(f, torch.ones(2, requires_grad=True), use_reentrant=False)
    try:
        y.sum().backward()
        print("no error")
    except Exception as error:
        print(type(error).__name__, str(error).splitlines()[0])


def a_checkpoint_saves_only_its_inputs() -> None:
    packed = []
    x = torch.ones(4, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(
        lambda t: packed.append(tuple(t.shape)) or t, lambda t: t
    ):
        x.exp().sin().cos()
        print(len(packed))
        packed.clear()
        _checkpoint(lambda t: t.exp().sin().cos(), x, use_reentrant=False)
        print(len(packed))


def nested_and_repeated_checkpoints() -> None:
    x = torch.ones(1, requires_grad=True)
    inner = lambda t: _checkpoint(torch.sin, t, use_reentrant=False)  # noqa: E731
    y = _checkpoint(lambda t: inner(t).exp(), x, use_reentrant=False)
    y.backward(retain_graph=True)
    outcome(y.backward)
    print(near(x.grad))


def a_sequential_checkpoint() -> None:
    net = torch.nn.Sequential(*[torch.nn.Linear(2, 2) for _ in range(4)])
    x = torch.ones(1, 2, requires_grad=True)
    y = torch.utils.checkpoint.checkpoint_sequential(net, 2, x, use_reentrant=False)
    y.sum().backward()
    print(near(y), near(x.grad), near(net[0].weight.grad))


def reentrant_checkpoints_refuse_autograd_grad() -> None:
    x = torch.ones(1, requires_grad=True)
    y = _checkpoint(torch.exp, x, use_reentrant=True)
    try:
        torch.autograd.grad(y, x)
    except RuntimeError as error:
        print(str(error)[:80])
    y = _checkpoint(torch.exp, x, use_reentrant=False)
    print(near(torch.autograd.grad(y, x)))


def profiling_prints_nothing_by_itself() -> None:
    with contextlib.redirect_stderr(io.StringIO()) as text:
        torch.ones(1, requires_grad=True).exp().backward()
    print(repr(text.getvalue()))
