"""The inner product whose first vector is conjugated."""

from __future__ import annotations

import rushlight
from rushlight import Tensor


def pair() -> tuple[Tensor, Tensor]:
    x = rushlight.tensor([1 + 2j, 3 - 1j], requires_grad=True)
    return x, rushlight.tensor([2 - 1j, 1j], requires_grad=True)


def test_value_and_node() -> None:
    x, y = pair()
    product = rushlight.vdot(x, y)
    assert product.item() == (x.conj() * y).sum().item()
    assert product.grad_fn is not None and product.grad_fn.name() == "VdotBackward0"
    real = rushlight.vdot(rushlight.ones(3, requires_grad=True), rushlight.ones(3))
    assert real.grad_fn is not None and real.grad_fn.name() == "VdotBackward0"


def test_gradients_of_both_orders() -> None:
    x, y = pair()
    seed = rushlight.tensor(1 + 1j)
    first = rushlight.autograd.grad(rushlight.vdot(x, y), (x, y), seed, create_graph=True)
    plain = rushlight.autograd.grad((x.conj() * y).sum(), (x, y), seed, create_graph=True)
    assert [g.tolist() for g in first] == [g.tolist() for g in plain]
    assert rushlight.autograd.gradcheck(
        rushlight.vdot, tuple(v.detach().to(rushlight.complex128).requires_grad_() for v in (x, y))
    )
    assert rushlight.autograd.gradgradcheck(
        rushlight.vdot, tuple(v.detach().to(rushlight.complex128).requires_grad_() for v in (x, y))
    )


def test_batches_conjugate_the_first() -> None:
    a, b = (
        rushlight.randn(4, 3, dtype=rushlight.complex64),
        rushlight.randn(4, 3, dtype=rushlight.complex64),
    )
    both = rushlight.vmap(rushlight.vdot)(a, b)
    one = rushlight.vmap(rushlight.vdot, (0, None))(a, b[0])
    rushlight.testing.assert_close(both, (a.conj() * b).sum(1))
    rushlight.testing.assert_close(one, (a.conj() * b[0]).sum(1))


def test_autocast_leaves_it_alone() -> None:
    x = rushlight.ones(3)
    with rushlight.autocast("cpu", dtype=rushlight.bfloat16):
        assert rushlight.vdot(x, x).dtype is rushlight.float32


def test_matrix_norms_keep_dimensions_as_they_lay() -> None:
    x = rushlight.randn(2, 3, 4)
    for order in ("nuc", 2):
        kept = rushlight.linalg.matrix_norm(x, order, (0, 1), keepdim=True)
        assert kept.shape == (1, 1, 4) and kept.stride() == (1, 1, 1)
