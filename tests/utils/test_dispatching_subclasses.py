"""Subclasses of `Tensor` with `__torch_dispatch__`, with memory of their own and without."""

import gc

import pytest

import rushlight
from rushlight._table.rows import meta as _meta
from rushlight.utils._pytree import tree_map


class Held(rushlight.Tensor):
    """Keeps its elements in an attribute."""

    seen: list = []

    @staticmethod
    def __new__(cls, held):
        return rushlight.Tensor._make_wrapper_subclass(
            cls, held.size(), strides=held.stride(), dtype=held.dtype
        )

    def __init__(self, held):
        self.held = held.detach()

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        cls.seen.append(str(func))
        bare = [x.held if isinstance(x, cls) else x for x in args]
        out = func(*tree_map(lambda x: x.held if isinstance(x, cls) else x, bare), **(kwargs or {}))
        return tree_map(lambda x: cls(x) if isinstance(x, rushlight.Tensor) else x, out)


@pytest.fixture(autouse=True)
def _forgotten():
    Held.seen.clear()


def test_a_wrapper_has_a_shape_and_no_memory() -> None:
    x = Held(rushlight.ones(2, 3))
    assert x.shape == (2, 3) and x.device.type == "cpu" and x.data_ptr() == 0


def test_the_elements_of_a_wrapper_are_never_read_behind_its_back() -> None:
    x = Held(rushlight.full((2,), 3.0))
    with pytest.raises(RuntimeError, match="not supported for tensor subclasses"):
        x.numpy()
    with pytest.raises(RuntimeError, match="got Held"):
        x.tolist()
    assert float(x[0]) == 3.0 and x[1].item() == 3.0 and bool(x[0] > 2)


def test_the_class_is_asked_for_each_operation() -> None:
    out = Held(rushlight.ones(2)) * 2 + 1
    assert type(out) is Held and out.held.tolist() == [3.0, 3.0]
    assert Held.seen == ["aten.mul.Tensor", "aten.add.Tensor"]


def test_a_backward_through_wrappers_gives_a_wrapper() -> None:
    w = Held(rushlight.tensor([1.0, 2.0])).requires_grad_()
    w.exp().sum().backward()
    assert type(w.grad) is Held
    rushlight.testing.assert_close(w.grad.held, rushlight.tensor([1.0, 2.0]).exp())


def test_a_second_derivative_goes_through_a_saved_result() -> None:
    w = Held(rushlight.tensor([0.5, 1.5])).requires_grad_()
    (g,) = rushlight.autograd.grad(w.exp().sum(), w, create_graph=True)
    (h,) = rushlight.autograd.grad(g.sum(), w)
    rushlight.testing.assert_close(h.held, w.held.exp())


def test_a_class_that_answers_not_implemented_is_named() -> None:
    class Mute(rushlight.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            return NotImplemented

    with pytest.raises(TypeError, match="all __torch_dispatch__ handlers returned NotImplemented"):
        rushlight.exp(rushlight.ones(2).as_subclass(Mute))


def test_only_a_class_with_the_method_can_be_made_without_memory() -> None:
    with pytest.raises(TypeError, match="Tensor must define __torch_dispatch__"):
        rushlight.Tensor._make_wrapper_subclass(rushlight.Tensor, (2,))


def test_backwards_run_on_arrays_again_when_the_last_wrapper_has_gone() -> None:
    x = Held(rushlight.ones(2))
    assert id(x) in _meta.LIVE
    key = id(x)
    del x
    gc.collect()
    assert key not in _meta.LIVE


@pytest.mark.parametrize(
    "function",
    [lambda x: x.exp() * 3, lambda x: x.cumprod(0), lambda x: (x * x).sum(0).repeat(2)],
)
def test_tangents_go_through_wrappers(function) -> None:
    x, t = rushlight.tensor([1.0, 2.0, 3.0]), rushlight.tensor([1.0, 0.0, 2.0])
    _, wanted = rushlight.func.jvp(function, (x,), (t,))
    with rushlight.autograd.forward_ad.dual_level():
        dual = rushlight.autograd.forward_ad.make_dual(Held(x), Held(t))
        found = rushlight.autograd.forward_ad.unpack_dual(function(dual)).tangent
    rushlight.testing.assert_close(found.held, wanted)


@pytest.mark.parametrize("strategy", ["reverse-mode", "forward-mode"])
def test_a_batched_jacobian_goes_through_wrappers(strategy) -> None:
    x = rushlight.tensor([1.0, 2.0, 3.0])
    jacobian = rushlight.autograd.functional.jacobian
    found = jacobian(lambda x: x.sin() * x.sum(), Held(x), vectorize=True, strategy=strategy)
    wanted = jacobian(lambda x: x.sin() * x.sum(), x)
    rushlight.testing.assert_close(getattr(found, "held", found), wanted)


@pytest.mark.parametrize(
    ("shape", "repeats"),
    [((), (3,)), ((2,), (3,)), ((2, 3), (1, 4)), ((2, 3), (2, 1, 1)), ((2, 3), (0, 2))],
)
def test_a_backward_of_repeat_goes_through_wrappers(shape, repeats) -> None:
    x = rushlight.rand(shape)
    v = rushlight.rand(x.repeat(repeats).shape)
    vjp = rushlight.autograd.functional.vjp
    wanted = vjp(lambda x: x.repeat(repeats), x, v)[1]
    found = vjp(lambda x: x.repeat(repeats), Held(x), Held(v))[1]
    rushlight.testing.assert_close(found.held, wanted)


def test_a_wrapper_is_made_from_positional_arguments() -> None:
    made = rushlight.Tensor._make_wrapper_subclass(
        Held, (2, 3), (1, 2), None, None, rushlight.float64, rushlight.strided, "cpu", False, True
    )
    assert made.stride() == (1, 2) and made.dtype is rushlight.float64 and made.requires_grad


def test_what_a_formula_makes_like_a_wrapper_is_a_wrapper() -> None:
    x = Held(rushlight.tensor([1.5, -2.5])).requires_grad_()
    rushlight.floor(x).sum().backward()
    assert type(x.grad) is Held and x.grad.held.tolist() == [0.0, 0.0]
    assert Held.seen[-1] == "aten.zeros_like.default"


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_gradient_of_a_loss_of_classes_asks_the_class(reduction: str, weighted: bool) -> None:
    rushlight.manual_seed(0)
    logits = rushlight.randn(4, 3)
    target = rushlight.tensor([2, 0, 1, -100])
    weight = rushlight.tensor([1.0, 2.0, 3.0]) if weighted else None
    x, y = logits.clone().requires_grad_(), Held(logits).requires_grad_()
    for of in (x, y):
        log_p = rushlight.log_softmax(of, 1)
        loss = rushlight.nn.functional.nll_loss(log_p, target, weight, reduction=reduction)
        loss.sum().backward()
    rushlight.testing.assert_close(y.grad.held, x.grad)


def test_a_function_makes_wrappers_in_its_backward_when_none_lives_any_more() -> None:
    class Open(rushlight.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.held.clone()

        @staticmethod
        def backward(ctx, g):
            return Held(g * 2)

    class Close(rushlight.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return Held(x)

        @staticmethod
        def backward(ctx, g):
            seen.append(type(g))
            return g.held

    seen: list = []
    x = rushlight.ones(2, requires_grad=True)
    out = Open.apply(Close.apply(x))
    gc.collect()
    out.sum().backward()
    assert seen == [Held] and x.grad.tolist() == [2.0, 2.0]
    del out
    gc.collect()
    assert not _meta.LIVE
