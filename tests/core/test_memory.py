"""Memory: graphs go when nobody holds them, without the cycle collector and without recursion."""

import gc
import os
import weakref
from collections.abc import Iterator

import pytest

import rushlight as torch


@pytest.fixture(autouse=True)
def without_the_collector() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def leaf(*values: float) -> torch.Tensor:
    return torch.tensor(values, requires_grad=True)


def test_a_chain_of_a_million_nodes_runs_and_goes_without_recursion() -> None:
    x = leaf(1.0)
    y = x
    for _ in range(1_000_000):
        y = y + 0.0
    y.backward()
    assert x.grad.item() == 1.0
    alive = weakref.ref(y)
    del y
    assert alive() is None


def test_a_chain_that_never_ran_goes_without_recursion() -> None:
    y = leaf(1.0)
    for _ in range(300_000):
        y = y * 1.0
    alive = weakref.ref(y)
    del y
    assert alive() is None


def test_intermediate_tensors_go_with_the_last_reference() -> None:
    x = leaf(1.0, 2.0)
    y = x * 2
    z = (y * y).sum()
    alive = weakref.ref(y)
    del y
    assert alive() is not None  # saved by the product
    del z
    assert alive() is None


def test_backward_releases_what_was_saved_while_the_root_still_stands() -> None:
    x = leaf(1.0, 2.0)
    y = x * 2
    z = (y * y).sum()
    alive = weakref.ref(y)
    del y
    z.backward()
    assert alive() is None and z.item() == 20.0


def test_a_saved_output_makes_no_cycle() -> None:
    y = leaf(1.0).exp()
    alive = weakref.ref(y)
    del y
    assert alive() is None


def test_an_accumulate_node_makes_no_cycle_with_its_leaf() -> None:
    x = leaf(1.0)
    node = (x * 2).grad_fn.next_functions[0][0]
    assert (x * 3).grad_fn.next_functions[0][0] is node
    alive = weakref.ref(x)
    del node, x
    assert alive() is None


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x * x
        ctx.save_for_backward(x, y)
        ctx.note = object()
        return y

    @staticmethod
    def backward(ctx, g):
        x, _ = ctx.saved_tensors
        return g * 2 * x


def test_a_custom_function_that_saves_its_output_makes_no_cycle() -> None:
    x = leaf(3.0)
    y = Square.apply(x)
    context = y.grad_fn
    tensor, ctx = weakref.ref(y), weakref.ref(context)
    del context
    assert ctx() is None
    del y
    assert tensor() is None


def test_a_custom_function_releases_what_it_saved() -> None:
    x = leaf(3.0)
    middle = x * 2
    y = Square.apply(middle)
    alive = weakref.ref(middle)
    del middle
    y.backward()
    assert alive() is None and x.grad.item() == 24.0


def test_retained_gradients_and_hooks_make_no_cycle() -> None:
    x = leaf(3.0)
    y = x * 2
    y.retain_grad()
    y.register_hook(lambda g: None)
    (y * 1).backward()
    alive = weakref.ref(y)
    del y
    assert alive() is None


def test_recorded_gradients_go_with_their_last_reference() -> None:
    x = leaf(3.0)
    (g,) = torch.autograd.grad(x * x * x, x, create_graph=True)
    alive = weakref.ref(g)
    del g
    assert alive() is None


def test_an_in_place_write_through_a_view_makes_no_cycle() -> None:
    x = leaf(1.0, 2.0)
    y = x * 1
    view = y[0]
    view.mul_(3.0)
    alive = weakref.ref(y)
    del y, view
    assert alive() is None


def test_a_failed_backward_keeps_no_gradient() -> None:
    x = leaf(1.0)
    kept: list[weakref.ref[torch.Tensor]] = []
    y = x * 2

    def refuse(g: torch.Tensor) -> None:
        kept.append(weakref.ref(g))
        raise ValueError("no")

    y.register_hook(refuse)
    with pytest.raises(ValueError, match="no"):
        (y * 3).backward()
    gc.collect()  # the traceback that pytest holds is the only cycle
    assert kept[0]() is None


def test_forward_mode_leaves_no_cycle_when_its_level_ends() -> None:
    fw = torch.autograd.forward_ad
    x = leaf(0.5)
    with fw.dual_level():
        y = fw.make_dual(x, torch.ones(1)).exp()
        tangent = fw.unpack_dual(y).tangent
        assert tangent.requires_grad
    alive = weakref.ref(y)
    del y, tangent
    assert alive() is None


def resident() -> int:
    """The memory of this process that is in use, in bytes."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="memory is read from /proc")
def test_training_with_checkpoints_hooks_profiles_and_errors_keeps_memory_flat() -> None:
    from rushlight.autograd.profiler import profile
    from rushlight.utils.checkpoint import checkpoint

    net = torch.nn.Sequential(torch.nn.Linear(8, 64), torch.nn.Tanh(), torch.nn.Linear(64, 4))
    optimizer = torch.optim.Adam(net.parameters(), 1e-3)
    x, y = torch.randn(32, 8), torch.randn(32, 4)

    def step(k: int) -> None:
        optimizer.zero_grad()
        if k % 6 == 0:
            out = checkpoint(net, x, use_reentrant=False)
        elif k % 6 == 1:
            out = checkpoint(net, x.detach().requires_grad_(), use_reentrant=True)
        elif k % 6 == 2:
            with profile():
                out = net(x)
        elif k % 6 == 3:
            with torch.autograd.set_detect_anomaly(True):
                out = net(x)
        else:
            out = net(x)
            out.register_hook(lambda g: g * 1)
        if k % 6 == 5:
            with pytest.raises(RuntimeError):
                torch.add(out, torch.ones(3, 3))
        torch.nn.functional.mse_loss(out, y).backward()
        optimizer.step()

    for k in range(200):
        step(k)
    gc.collect()  # what is loaded at its first use leaves a few
    before = resident()
    for k in range(600):
        step(k)
    assert resident() - before < 2_000_000
    assert gc.collect() == 0


def test_what_watches_operations_leaves_no_cycle() -> None:
    from rushlight.overrides import BaseTorchFunctionMode

    from rushlight.autograd.profiler import profile
    from rushlight.utils._python_dispatch import BaseTorchDispatchMode
    from rushlight.utils.flop_counter import FlopCounterMode

    net = torch.nn.Linear(3, 2)
    for mode in (profile, BaseTorchFunctionMode, BaseTorchDispatchMode,
                 lambda: FlopCounterMode(display=False)):  # fmt: skip
        with mode():
            net(torch.ones(4, 3)).sum().backward()
        gc.collect()
        with mode():
            net(torch.ones(4, 3)).sum().backward()
        assert gc.collect() == 0
