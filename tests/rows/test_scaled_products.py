"""Products of matrices of 8-bit floats."""

import pytest

import rushlight as torch

KINDS = [torch.float8_e4m3fn, torch.float8_e5m2, torch.float8_e4m3fnuz, torch.float8_e5m2fnuz]
ONE = torch.tensor(1.0)


def draw(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(sum(shape)))


@pytest.mark.parametrize("a_kind", KINDS)
@pytest.mark.parametrize("kind", [None, torch.float32, torch.bfloat16, torch.int32])
def test_a_scaled_product_is_that_of_the_scaled_matrices(a_kind: torch.dtype, kind: None) -> None:
    a, b = draw(4, 6).to(a_kind), draw(6, 5).to(torch.float8_e4m3fn)
    rows, columns = torch.arange(1.0, 5).reshape(4, 1), torch.arange(1.0, 6).reshape(1, 5)
    for left, right in ((torch.tensor(0.5), torch.tensor([[2.0]])), (rows, columns)):
        bias = torch.arange(5.0)
        found = torch._scaled_mm(a, b, left, right, bias=bias, out_dtype=kind)
        wanted = (a.float() * left) @ (b.float() * right) + bias
        assert found.dtype is (kind or a_kind) and found.shape == (4, 5)
        assert torch.equal(found.float(), wanted.to(kind or a_kind).float())


def test_a_scaled_product_goes_into_an_out_of_its_type() -> None:
    a, b = draw(2, 3).to(KINDS[0]), draw(3, 2).to(KINDS[0])
    out = torch.empty(0)
    assert torch._scaled_mm(a, b, ONE, ONE, out=out) is out and out.shape == (2, 2)
    assert torch.equal(out, a.float() @ b.float())
    with pytest.raises(ValueError, match="out_dtype must match output matrix type"):
        torch._scaled_mm(a, b, ONE, ONE, out=out, out_dtype=torch.bfloat16)
    with pytest.raises(RuntimeError, match="don't support automatic differentiation"):
        torch._scaled_mm(a, b, ONE.clone().requires_grad_(), ONE, out=out)


def test_other_types_shapes_and_scales_are_refused() -> None:
    a, b = draw(4, 6).to(KINDS[0]), draw(6, 5).to(KINDS[1])
    wrong = [
        (a.float(), b, ONE, ONE),
        (a, b, ONE.double(), ONE),
        (a, b, torch.ones(4), torch.ones(5)),
        (a, b, torch.ones(4, 1), ONE),
        (a, b, torch.ones(4, 2)[:, :1], torch.ones(1, 5)),
    ]
    for arguments in wrong:
        with pytest.raises(ValueError, match=r"scale_a should be \(4, 1\) and scale_b should be"):
            torch._scaled_mm(*arguments)
    with pytest.raises(ValueError, match=r"expected scale_a.stride"):
        torch._scaled_mm(a, b, torch.ones(1, 4).t(), torch.ones(1, 5))
    with pytest.raises(RuntimeError, match=r"shapes cannot be multiplied \(4x6 and 4x6\)"):
        torch._scaled_mm(a, a, ONE, ONE)
    with pytest.raises(RuntimeError, match="mat2 must be a matrix"):
        torch._scaled_mm(a, b[0], ONE, ONE)
    with pytest.raises(RuntimeError, match="Bias must be size 5 but got 4"):
        torch._scaled_mm(a, b, ONE, ONE, bias=torch.ones(4))


def test_products_of_nothing_are_zeros() -> None:
    a, b = torch.empty(3, 0).to(KINDS[0]), torch.empty(0, 2).to(KINDS[0])
    assert torch._scaled_mm(a, b, ONE, ONE, out_dtype=torch.float32).tolist() == [[0.0, 0.0]] * 3
