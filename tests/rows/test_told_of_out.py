"""What is said of an `out`, of dimensions and of types, and what isn't refused."""

from __future__ import annotations

import math
import warnings
from typing import Any

import pytest

import rushlight as torch
from rushlight.nn import functional as F

#: A statement, the exception, and how its message begins.
CASES: list[tuple[str, type[Exception], str]] = [
    (
        "torch.index_reduce(x, 0, torch.tensor([0]), x[:1], 'prod', out=torch.ones(1).double())",
        RuntimeError,
        "Expected out tensor to have dtype float, but got double instead",
    ),
    (
        "F.avg_pool2d(torch.ones(2, 4, 4), 2, out=torch.ones(1).half())",
        RuntimeError,
        "Expected out tensor to have dtype float, but got c10::Half instead",
    ),
    (
        "torch.qr(x, out=(torch.ones(1).double(), torch.ones(1)))",
        RuntimeError,
        "Expected out tensor to have dtype float, but got double instead",
    ),
    (
        "torch.softmax(x, 0, out=torch.ones(1).double())",
        RuntimeError,
        "Expected out tensor to have dtype float, but got double instead",
    ),
    ("F.linear(x, x, out=[torch.ones(1)])", TypeError, "linear(): argument 'out' must be Tensor"),
    (
        "torch.split_copy(x, 3, 1, out=(torch.ones(1), torch.ones(1)))",
        RuntimeError,
        "split_copy_Tensor_out() expected an out= argument of size 1, got size 2",
    ),
    (
        "torch.unbind_copy(x, out=[torch.ones(1).long()])",
        RuntimeError,
        "unbind_copy_int_out expected an out= argument of size 3, got size 1",
    ),
    (
        "torch.fft.hfft2(x, out=torch.ones(1) + 0j)",
        RuntimeError,
        "hfftn expects a floating point output tensor, but got ComplexFloat",
    ),
    (
        "torch.amin(torch.ones(0), out=torch.ones(0).half())",
        RuntimeError,
        "Expected the dtype for input and out to match",
    ),
    (
        "torch.nanmean(x, out=x > 5)",
        NotImplementedError,
        "\"nansum_cpu\" not implemented for 'Bool'",
    ),
    (
        "torch.special.xlog1py(x, 1j, out=torch.ones(1))",
        RuntimeError,
        "result type ComplexFloat can't be cast to the desired output type Float",
    ),
    (
        "torch.mvlgamma(x + 2, 1, out=torch.ones(1).long())",
        RuntimeError,
        "mvlgamma: result type Float can't be cast to the desired output type Float",
    ),
    (
        "torch.square(x, out=torch.ones(1, requires_grad=True))",
        RuntimeError,
        "pow(): functions with out=... arguments don't support",
    ),
    ("x.squeeze_(None)", TypeError, "squeeze_() received an invalid combination of arguments"),
    ("torch.ones(0).long().cauchy_()", RuntimeError, "Cauchy distribution is a continuous"),
    (
        "torch.ones(3, dtype=torch.complex64).bernoulli_(torch.rand(2))",
        NotImplementedError,
        "\"bernoulli_tensor_cpu_self_\" not implemented for 'ComplexFloat'",
    ),
    ("torch.ones(()).hash_tensor(3)", IndexError, "Dimension out of range"),
    ("torch.ones(2, 3).hash_tensor((0, 0))", RuntimeError, "dim 0 appears multiple times"),
    (
        "F.embedding(torch.tensor([0]), torch.ones(3, 2).long(), max_norm=1.0)",
        RuntimeError,
        "norm(): input dtype should be either floating point or complex. Got Long instead.",
    ),
    (
        "F.embedding(torch.tensor([0]), x, None, [None])",
        TypeError,
        "embedding_renorm_(): argument 'max_norm' (position 3) must be float, not list",
    ),
    (
        "F.embedding_bag(torch.tensor([[0]]), x, padding_idx=x)",
        TypeError,
        "embedding_bag(): argument 'padding_idx' (position 9) must be int, not Tensor",
    ),
    ("torch.rot90(x, dims=(-1, -3))", IndexError, "Dimension out of range"),
    ("torch.slice_scatter(x, x, 2, 1, 5, 0)", IndexError, "Dimension out of range"),
    (
        "torch.cumulative_trapezoid(x, dx=1j, dim=-7)",
        RuntimeError,
        "cumulative_trapezoid: Currently",
    ),
    ("torch.cumulative_trapezoid(x > 5, x=x > 5, dim=-7)", IndexError, "Dimension out of range"),
    (
        "torch.tensordot(x, x, [1, 0])",
        TypeError,
        "tensordot(): argument 'dims_self' (position 3) must be tuple of ints, not int",
    ),
    ("torch.tensordot(x, x, [(1,), (5,)])", IndexError, "Dimension out of range"),
    (
        "torch.tensordot(x, x, torch.tensor([1, 0, 1]))",
        AssertionError,
        "dims tensor must have size 2",
    ),
    ("F.grid_sample(x[:2, :0], x[:2, :0])", RuntimeError, "grid_sampler(): expected 5D input"),
    ("torch.grid_sampler_2d(x[0, 0], x, 0, 0, True)", IndexError, "Dimension specified as 0 but"),
    ("torch.linalg.pinv(x[0], atol=1e-5)", IndexError, "Dimension out of range"),
    ("F.softshrink(x.long(), 1j)", RuntimeError, "value cannot be converted to type double"),
    (
        "F.glu(x[:2, :2], torch.tensor(True))",
        TypeError,
        "glu(): argument 'dim' (position 2) must be int",
    ),
    (
        "F.batch_norm(x.char(), x[:1].char(), x[:1].char())",
        NotImplementedError,
        "\"batch_norm\" not implemented for 'Char'",
    ),
    (
        "F.multilabel_margin_loss(x.long(), x.long() * 7)",
        RuntimeError,
        "argument #2 'target' is out of range",
    ),
    (
        "torch.tril_indices(-5, -1, dtype=torch.uint8)",
        RuntimeError,
        "row must be non-negative, got-5",
    ),
    (
        "torch.zeros(1, dtype=torch.uint8, pin_memory=True, requires_grad=True)",
        RuntimeError,
        "pin_memory=True requires a CUDA",
    ),
    ("torch.tensor(None, pin_memory=True)", RuntimeError, "Could not infer dtype of NoneType"),
    (
        "torch.histogramdd(x[:, :0], 7, [1, 1.0])",
        RuntimeError,
        "torch.histogramdd: for a 0-dimensional histogram range should have 0 elements, but got 2",
    ),
    (
        "torch.unique_consecutive(x[0] + 0j, dim=1)",
        NotImplementedError,
        "\"unique_dim\" not implemented for 'ComplexFloat'",
    ),
    ("F.adaptive_avg_pool2d(x[None], 2**63)", ValueError, "Overflow when unpacking long long"),
    ("torch.broadcast_shapes((torch.tensor(3),))", AssertionError, "Expected bool, got"),
    (
        "(x + 0j).requires_grad_().abs_()",
        RuntimeError,
        "a leaf Variable that requires grad is being used in an in-place operation.",
    ),
    (
        "x.requires_grad_().bernoulli(0.5).sum().backward()",
        RuntimeError,
        "derivative for aten::bernoulli is not implemented",
    ),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("statement, exception, message", CASES)
def test_the_words(statement: str, exception: type[Exception], message: str) -> None:
    x = torch.ones(3, 3)
    with pytest.raises(exception) as caught:
        eval(statement, {"torch": torch, "F": F, "x": x})
    assert str(caught.value).startswith(message)
    assert torch.equal(x, torch.ones(3, 3))


def test_a_number_of_dimensions_may_be_a_tensor_of_a_float() -> None:
    x = torch.ones(3, 3)
    assert torch.equal(torch.tensordot(x, x, torch.tensor(1.0)), x @ x)
    assert torch.equal(torch.tensordot(x, x, torch.tensor([[1], [0]])), x @ x)


def test_half_of_a_negative_count_is_taken_as_in_c() -> None:
    assert torch.fft.rfftfreq(-1).tolist() == [0.0]
    assert torch.fft.rfftfreq(-3).tolist() == []
    with pytest.raises(RuntimeError, match="negative dimension -1"):
        torch.fft.rfftfreq(-4)


def test_the_margin_is_a_float() -> None:
    x = torch.tensor([1, 2], dtype=torch.int32)
    assert F.margin_ranking_loss(x, x, x).dtype is torch.float32


def test_bytes_are_words() -> None:
    x = torch.ones(3)
    assert torch.equal(torch.div(x, 2, rounding_mode=b"floor"), torch.zeros(3))  # type: ignore
    assert torch.equal(F.pad(x, (1, 1), b"constant"), F.pad(x, (1, 1)))


def test_a_derivative_of_an_order_beyond_32_bits_is_infinite() -> None:
    x = torch.tensor([0.5, 1.5, 3.0])
    assert torch.polygamma(2**62, x).tolist() == [-math.inf] * 3
    assert torch.polygamma(2**62 + 1, x).tolist() == [math.inf] * 3


def test_complex_right_sides_lose_their_imaginary_parts_with_a_warning() -> None:
    b: Any = torch.ones(2, 2) * (1 + 1j)
    with pytest.warns(UserWarning, match="Casting complex values to real discards"):
        x = torch.linalg.solve_triangular(torch.eye(2), b, upper=False)
    assert torch.equal(x, torch.ones(2, 2))


def test_the_mean_without_nan_is_written_where_it_is_asked_for() -> None:
    out = torch.ones(())
    torch.nanmean(torch.tensor([1.0, math.nan, 3.0]), out=out)
    assert out.item() == 2 and out._version == 2


def test_powers_of_whole_numbers_are_long() -> None:
    x = torch.tensor([1, 2], dtype=torch.uint8)
    assert {torch.vander(x, n).dtype for n in (0, 1, 2)} == {torch.int64}


@pytest.mark.filterwarnings("ignore:at..frobenius_norm is deprecated")
def test_a_frobenius_norm_is_written_in_its_own_type() -> None:
    x = torch.ones(2, 2, dtype=torch.complex64)
    assert torch.frobenius_norm(x, (0, 1), out=torch.empty(())).item() == 2
    for dtype in (torch.complex64, torch.float64, torch.int64):
        with pytest.raises(RuntimeError, match="Expected out tensor to have dtype float, but got"):
            torch.frobenius_norm(x, (0, 1), out=torch.empty((), dtype=dtype))


@pytest.mark.parametrize("name", ["eq", "ne", "logical_and", "logical_or", "logical_xor"])
def test_a_comparison_of_complex_numbers_that_is_written_as_real_warns(name: str) -> None:
    z, x = torch.tensor([1 + 1j, 0]), torch.tensor([1.0, 0.0])
    told = pytest.warns(UserWarning, match="discards the imaginary part")
    for dtype in (torch.uint8, torch.float32, torch.float16):
        with told:
            getattr(torch, name)(z, z, out=torch.zeros(2, dtype=dtype))
        with told:
            getattr(x.to(dtype), f"{name}_")(z)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        getattr(torch, name)(z, z, out=torch.zeros(2, dtype=torch.bool))
        getattr(torch, name)(z, z, out=torch.zeros(2, dtype=torch.complex64))
        getattr(torch, name)(z[:0], z[:0], out=torch.zeros(0))
        getattr(torch, name)(x, x, out=torch.zeros(2, dtype=torch.uint8))
        torch.logical_not(z, out=torch.zeros(2))


def test_a_range_is_told_to_be_deprecated_before_its_out_is_refused() -> None:
    leaf = torch.ones(3, requires_grad=True)
    for given in ({"out": leaf}, {"out": torch.ones(3), "dtype": torch.int64}):
        with (
            pytest.warns(UserWarning, match="torch.range is deprecated"),
            pytest.raises(RuntimeError, match=r"out=... arguments don't|does not match dtype"),
        ):
            torch.range(0, 2, **given)
    with torch.no_grad(), pytest.warns(UserWarning, match="torch.range is deprecated"):
        assert torch.range(0, 2, out=leaf) is leaf and leaf.tolist() == [0.0, 1.0, 2.0]


def test_a_chain_of_matrices_is_written_as_multi_dot_writes_it() -> None:
    x = torch.arange(4.0).reshape(2, 2)
    torch.set_warn_always(True)
    try:
        with (
            pytest.warns(UserWarning, match="torch.chain_matmul is deprecated"),
            pytest.raises(RuntimeError, match=r"multi_dot.*: expected out tensor to have dtype"),
        ):
            torch.chain_matmul(x, x, out=torch.ones(2, 2, dtype=torch.int64))
    finally:
        torch.set_warn_always(False)
    out = torch.ones(2, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert torch.chain_matmul(x, x, x, out=out) is out
        assert torch.equal(out, x @ x @ x)
        assert torch.chain_matmul(x, out=out) is out and torch.equal(out, x)
        whole = torch.empty(0, dtype=torch.int64)
        assert torch.chain_matmul(x, out=whole).tolist() == [[0, 1], [2, 3]]
        with pytest.raises(TypeError, match="argument 'out' must be Tensor, not int"):
            torch.chain_matmul(x, x, out=5)
