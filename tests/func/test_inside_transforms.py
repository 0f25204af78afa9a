"""What a function meets inside of a transform: inference mode, writes, its own printed form."""

from __future__ import annotations

import functools
import weakref
from typing import Any

import pytest

import rushlight as torch
from rushlight.func import (
    grad,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    linearize,
    vjp,
    vmap,
)

V = torch.tensor([1.0, 2.0, 3.0])


@pytest.mark.parametrize("inside", [False, True])
def test_inference_mode_and_its_tensors_dont_stop_derivatives(inside: bool) -> None:
    with torch.inference_mode():
        made = torch.tensor([1.0, 2.0, 3.0])
    with torch.inference_mode(inside):
        _differentiate(V, made)
        _differentiate(made, V)
        _differentiate(made, made)
        assert torch.is_inference_mode_enabled() is inside
    with pytest.raises(RuntimeError, match="Inference tensors cannot be saved"):
        torch.ones(3, requires_grad=True) * made


def _differentiate(x: Any, weight: Any) -> None:
    assert grad(lambda a: (a**2 * weight).sum())(x).tolist() == [2, 8, 18]
    assert jvp(lambda a: (a**2 * weight).sum(), (x,), (weight,))[1].item() == 72
    assert jacrev(lambda a: a * weight)(x).equal(torch.diag(V))
    assert jacfwd(lambda a: a * weight)(x).equal(torch.diag(V))
    assert hessian(lambda a: (a**3).sum())(x).equal(torch.diag(6 * V))
    assert vjp(torch.square, x)[1](weight)[0].tolist() == [2, 8, 18]
    assert vmap(grad(lambda a: a**2))(x).tolist() == [2, 4, 6]
    assert not grad(lambda a: a.sum())(x).is_inference()


def _write(x: Any) -> Any:
    y = x.clone()
    y[0] = x[1] * x[2]
    y[1:].mul_(x[:2])
    return y


def test_writes_into_parts_have_jacobians_in_both_directions() -> None:
    expected = torch.tensor([[0.0, 3.0, 2.0], [2.0, 1.0, 0.0], [0.0, 3.0, 2.0]])
    assert jacrev(_write)(V).equal(expected)
    assert jacfwd(_write)(V).equal(expected)
    batch = torch.stack([V, V + 1])
    assert vmap(jacfwd(_write))(batch)[0].equal(expected)
    second = jacfwd(jacfwd(_write))(V)
    assert second.equal(jacrev(jacrev(_write))(V)) and second[0, 1, 2] == 1


@pytest.mark.parametrize("name", ["new_zeros", "new_ones", "new_empty", "new_full"])
def test_what_is_like_a_batch_is_a_batch_where_the_engine_has_left_the_vmap(name: str) -> None:
    from rushlight.func.derivatives import _Outside

    kinds = []

    def f(x: Any) -> Any:
        with _Outside():
            args = ((2, 3), 7.0) if name == "new_full" else ((2, 3),)
            made = getattr(x, name)(*args)
            like = torch.full_like(x, 5.0)
        kinds.append((type(made) is type(x), type(like) is type(x), made.shape, made.dtype))
        assert torch.zeros_like(x, dtype=torch.float64).dtype == torch.float64
        return like

    assert vmap(f)(V).tolist() == [5, 5, 5]
    assert kinds == [(True, True, (2, 3), torch.float32)]


def test_a_tensor_is_printed_with_the_transforms_that_track_it() -> None:
    seen: list[str] = []

    def see(x: Any) -> Any:
        seen.append(repr(x * 1))
        return x.sum()

    grad(see)(V)
    grad(grad(see))(torch.tensor(2.0))
    vmap(grad(see))(V[:2])
    jacfwd(see)(V)
    inner = "tensor([1., 2., 3.])"
    assert seen[0] == seen[3] == f"GradTrackingTensor(lvl=1, value=\n    {inner}\n)"
    assert seen[1] == (
        "GradTrackingTensor(lvl=2, value=\n    GradTrackingTensor(lvl=1, value=\n"
        "        tensor(2.)\n    )\n)"
    )
    assert seen[2] == (
        "GradTrackingTensor(lvl=2, value=\n    BatchedTensor(lvl=1, bdim=0, value=\n"
        "        tensor([1., 2.])\n    )\n)"
    )
    seen.clear()
    grad(lambda x: see(V) + x)(torch.tensor(1.0))  # what is captured is printed as ever
    assert seen == [inner]
    grad(lambda x: vmap(see)(x).sum())(V[:2])
    assert seen[1].startswith("BatchedTensor(lvl=2, bdim=0, value=\n    GradTrackingTensor(lvl=1")


GLOBAL = torch.zeros(3)


def _copy_in(target: Any) -> Any:
    def f(x: Any) -> Any:
        target.copy_(x)
        return target.sum()

    return f


def test_what_a_function_captures_isnt_written_with_what_is_tracked() -> None:
    mine = torch.zeros(3)
    f = _copy_in(mine)

    def window(x: Any) -> Any:
        mine[0] = x[1]
        return x.sum()

    def by_name(x: Any) -> Any:
        GLOBAL.add_(x)
        return x.sum()

    def by_default(x: Any, target: Any = mine) -> Any:
        return target.mul_(x).sum()

    refused = r"in-place operation \(aten::{}\) that would mutate a captured Tensor"
    for function, op in (
        (f, "copy_"),
        (lambda x: f(x), "copy_"),
        (functools.partial(f), "copy_"),
        (functools.partial(lambda target, x: target.sub_(x).sum(), mine), "sub_.Tensor"),
        (window, "copy_"),
        (by_name, "add_.Tensor"),
        (by_default, "mul_.Tensor"),
    ):
        for call in (
            lambda g: grad(g)(V),
            lambda g: vjp(g, V),
            lambda g: jvp(g, (V,), (V,)),
            lambda g: jacrev(g)(V),
            lambda g: jacfwd(g)(V),
            lambda g: linearize(g, V),
            lambda g: grad(lambda x: grad(g)(x).sum())(V),
        ):
            with pytest.raises(RuntimeError, match=refused.format(op)):
                call(function)
    with pytest.raises(RuntimeError, match=refused.format("copy_")):
        grad(lambda x, y: y.copy_(x).sum())(V, mine)
    for t in (mine, GLOBAL):
        assert t.tolist() == [0, 0, 0] and not t.requires_grad
    f(V)  # outside, a name is written as ever
    assert mine.tolist() == V.tolist()


def test_what_a_function_makes_is_written_also_where_it_gives_it_a_name() -> None:
    made = mine = torch.zeros(3)

    def f(x: Any) -> Any:
        nonlocal made
        made = torch.zeros(3)
        made.copy_(x)
        other = mine.clone()
        other[0] = x[0]
        return (made * made).sum() + other.sum()

    assert grad(f)(V).tolist() == [3, 4, 6]
    assert jacfwd(f)(V).tolist() == [3, 4, 6]
    assert mine.tolist() == [0, 0, 0]


def test_the_level_of_a_tensor_ends_with_its_derivative() -> None:
    from rushlight._torch._C import _functorch

    kept: list[Any] = []
    levels: list[Any] = []

    def f(x: Any) -> Any:
        y = x.sin()
        kept.append(y)
        levels.append([_functorch.dlevel(t) for t in (x, y, V)])
        levels.append(_functorch.is_gradtrackingtensor(y))
        return y.sum()

    grad(f)(V)
    grad(lambda x: grad(f)(x).sum())(V)
    assert levels == [[1, 1, 0], True, [2, 2, 0], True]
    later = kept[0].sum()
    assert [_functorch.dlevel(t) for t in (kept[0], later, V)] == [-1, 0, 0]
    assert later.item() == V.sin().sum().item()
    alive = weakref.ref(kept[0])
    kept.clear()
    del later
    assert alive() is None


def test_gradients_arent_asked_for_inside() -> None:
    for switch in (True, False):
        for transform in (grad, vmap, lambda f: vjp(f, V)):
            asking = functools.partial(torch.Tensor.requires_grad_, requires_grad=switch)
            with pytest.raises(RuntimeError, match=r"call Tensor.requires_grad_\(\)"):
                transform(asking)(V)  # type: ignore[operator]
    with pytest.raises(RuntimeError, match=r"call Tensor.retain_grad\(\) inside .*call retain_gr"):
        grad(lambda x: (x.retain_grad(), x.sum())[1])(V)


def test_what_has_no_jacobian_is_refused() -> None:
    for name, transform in (("jacrev", jacrev), ("jacfwd", jacfwd)):
        with pytest.raises(RuntimeError, match=f"{name}: Expected all inputs to be real .* idx: 1"):
            transform(lambda a, b: a, argnums=0)(V, V + 0j)
        with pytest.raises(RuntimeError, match=f"{name}: Expected all outputs to be real"):
            transform(lambda a: (a, a * 1j))(V)
    with pytest.raises(RuntimeError, match=r"vjp\(f, ...\): All outputs of f must be floating"):
        vjp(lambda a: (a, a.long()), V)
    for call in (
        lambda: jvp(torch.sin, (V.long(),), (V,)),
        lambda: jacfwd(torch.sin)(V.long()),
        lambda: linearize(torch.sin, V.long()),
    ):
        with pytest.raises(ValueError, match="Expected primal to be floating point or complex"):
            call()
    with pytest.raises(ValueError, match="Expected tangent to be floating point or complex"):
        jvp(torch.sin, (V,), (V.long(),))
    with pytest.raises(RuntimeError, match="argnum must be int, got: <class 'float'>"):
        grad(torch.add, argnums=(0, 1.5))(V, V)  # type: ignore[arg-type]
    value, along = jvp(torch.square, (V + 0j,), (V,))
    assert along.tolist() == [2, 8, 18] and along.dtype == value.dtype
