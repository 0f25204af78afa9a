# ruff: noqa: E501
"""`torch.autograd.functional`: products and matrices, compared with each other and known ones."""

import pytest

import rushlight as torch

A = torch.autograd.functional


def pair(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return x.exp() * y, (x * y * y).sum()


def near(a: torch.Tensor, b: torch.Tensor) -> bool:
    return a.shape == b.shape and bool(((a - b).abs() <= 1e-9).all().item())


def inputs() -> tuple[torch.Tensor, torch.Tensor]:
    return (
        torch.tensor([0.5, -1.0, 2.0], dtype=torch.float64),
        torch.tensor([1.5, 0.25, -0.5], dtype=torch.float64),
    )


def test_products_are_the_jacobian_times_a_vector_from_either_side() -> None:
    x, y = inputs()
    (jxx, jxy), (jsx, jsy) = A.jacobian(pair, (x, y))
    v = torch.tensor([1.0, -2.0, 0.5], dtype=torch.float64)
    w = torch.tensor([0.5, 1.0, 3.0], dtype=torch.float64)
    s = torch.tensor(2.0, dtype=torch.float64)
    _, (gx, gy) = A.vjp(pair, (x, y), (v, s))
    assert near(gx, v @ jxx + s * jsx) and near(gy, v @ jxy + s * jsy)
    (out, total), (t, u) = A.jvp(pair, (x, y), (v, w))
    assert near(t, jxx @ v + jxy @ w) and near(u, (jsx * v).sum() + (jsy * w).sum())
    assert near(out, x.exp() * y) and near(total, (x * y * y).sum())


def test_forward_mode_gives_the_same_jacobian() -> None:
    x, y = inputs()
    backward = A.jacobian(pair, (x, y))
    forward = A.jacobian(pair, (x, y), vectorize=True, strategy="forward-mode")
    for row_a, row_b in zip(backward, forward):
        for a, b in zip(row_a, row_b):
            assert near(a, b)


def test_products_with_the_hessian_agree_with_it() -> None:
    x, y = inputs()

    def f(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return (x * x * y + x.exp() * y * y).sum()

    (hxx, hxy), (hyx, hyy) = A.hessian(f, (x, y))
    assert near(hxy, hyx.t())
    v, w = torch.ones(3, dtype=torch.float64), torch.tensor([2.0, 0.0, 1.0], dtype=torch.float64)
    for product in (A.vhp, A.hvp):
        value, (a, b) = product(f, (x, y), (v, w))
        assert near(value, f(x, y))
        assert near(a, hxx @ v + hxy @ w) and near(b, hyx @ v + hyy @ w)
    forward = A.hessian(f, (x, y), vectorize=True, outer_jacobian_strategy="forward-mode")
    assert near(forward[0][1], hxy)


def test_results_carry_a_graph_only_when_asked_for() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    assert not A.jacobian(lambda t: t * t, x).requires_grad
    j = A.jacobian(lambda t: t * t, x, create_graph=True)
    j.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


def test_shapes_are_those_of_the_output_then_of_the_input() -> None:
    x = torch.ones(2, 3)
    assert tuple(A.jacobian(lambda t: t.sum(1), x).shape) == (2, 2, 3)
    assert tuple(A.jacobian(lambda t: t.sum(), x).shape) == (2, 3)
    assert tuple(A.hessian(lambda t: (t * t).sum(), x).shape) == (2, 3, 2, 3)


X = torch.tensor([1.0, 2.0])


@pytest.mark.parametrize(
    ("action", "kind", "text"),
    [
        (lambda: A.vjp(lambda t: t * t, X), RuntimeError, "The vector v can only be None if the user-provided function returns a single Tensor with a single element."),
        (lambda: A.jvp(lambda t: t * t, X), RuntimeError, "The vector v can only be None if the input to the user-provided function is a single Tensor with a single element."),
        (lambda: A.vjp(lambda t: t * t, X, torch.ones(3)), RuntimeError, "v has invalid size: should be torch.Size([2]) but got torch.Size([3])."),
        (lambda: A.vjp(lambda t: t, 5), TypeError, "The inputs given to vjp must be either a Tensor or a tuple of Tensors but the given inputs has type <class 'int'>."),
        (lambda: A.hessian(lambda t: t * t, X), RuntimeError, "The Tensor returned by the function given to hessian should contain a single element"),
        (lambda: A.jacobian(lambda t: X * 1, X, strict=True), RuntimeError, "Output 0 of the user-provided function does not require gradients. The outputs must be computed in a differentiable manner from the input when running in strict mode."),
        (lambda: A.jacobian(lambda a, b: a * 2, (X, X), strict=True), RuntimeError, "Output 0 of the user-provided function is independent of input 1. This is not allowed in strict mode."),
        (lambda: A.vjp(lambda a, b: a * 2, (X, X), X, strict=True), RuntimeError, "The output of the user-provided function is independent of input 1. This is not allowed in strict mode."),
        (lambda: A.jacobian(lambda t: t, X, strategy="sideways"), AssertionError, 'Expected strategy to be either "forward-mode" or "reverse-mode". Hint: If your function has more outputs than inputs, "forward-mode" tends to be more performant. Otherwise, prefer to use "reverse-mode".'),
    ],
)  # fmt: skip
def test_wrong_uses_raise_what_pytorch_raises(action, kind, text) -> None:
    with pytest.raises(kind) as caught:
        action()
    assert str(caught.value) == text


def test_an_independent_output_gives_zeros_without_strict() -> None:
    assert A.jacobian(lambda t: X * 1, X).tolist() == [[0.0, 0.0], [0.0, 0.0]]
    value, product = A.hvp(lambda t: t.sum(), X, torch.ones(2))
    assert value.item() == 3.0 and product.tolist() == [0.0, 0.0]


def test_strict_mode_takes_the_hessian_of_a_quadratic_function() -> None:
    x = torch.tensor([1.0, 2.0], dtype=torch.float64)
    found = A.hessian(lambda x: (x**2).sum(), x, strict=True, create_graph=True)
    assert found.tolist() == [[2.0, 0.0], [0.0, 2.0]]
    with pytest.raises(RuntimeError, match="the jacobian of the user-provided function"):
        A.hessian(lambda x: x.sum(), x, strict=True)


def test_integers_can_not_be_differentiated() -> None:
    with pytest.raises(RuntimeError, match="only Tensors of floating point dtype"):
        A.jacobian(lambda x: x.float().sum(), torch.tensor([1, 2]))


def test_all_ways_to_a_jacobian_agree() -> None:
    x, y = torch.tensor([1.0, 2.0, 3.0]), torch.tensor([0.5])
    rows = A.jacobian(pair, (x, y))
    batched = A.jacobian(pair, (x, y), vectorize=True)
    columns = A.jacobian(pair, (x, y), vectorize=True, strategy="forward-mode")
    for i in range(2):
        for j in range(2):
            assert torch.allclose(rows[i][j], batched[i][j])
            assert torch.allclose(rows[i][j], columns[i][j])


def test_forward_over_reverse_sees_writes() -> None:
    x = torch.tensor([1.0, 2.0])
    found = A.hessian(lambda x: x.clone().mul_(x).sum(), x, vectorize=True,
                      outer_jacobian_strategy="forward-mode")  # fmt: skip
    assert found.tolist() == [[2.0, 0.0], [0.0, 2.0]]
