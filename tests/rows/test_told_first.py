"""Which fault of a call is told, and by which exception: of types, of devices, of values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rushlight as torch

#: A statement or two, the exception of the last one, and how its message begins.
CASES: list[tuple[str, type[Exception], str]] = [
    (
        "torch.ones(2).nansum(0, dtype=torch.complex64)",
        NotImplementedError,
        "\"nansum_cpu\" not implemented for 'ComplexFloat'",
    ),
    (
        "x = torch.zeros(5, 4, dtype=torch.complex64, requires_grad=True); "
        "torch.select_scatter(x, x[0], 0, 1)",
        RuntimeError,
        "select_scatter does not support automatic differentiation for outputs with complex dtype.",
    ),
    (
        "torch.histogramdd(torch.ones(0, 3).long(), 7, weight=torch.ones(2))",
        RuntimeError,
        "torch.histogramdd: if weight tensor is provided, input tensor and weight tensor should",
    ),
    ("torch.celu(torch.ones(3).short(), 1j)", RuntimeError, "value cannot be converted to type"),
    ("torch.ones(3).var(correction=1j)", RuntimeError, "value cannot be converted to type double"),
    ("torch.ones(2, 0).renorm_(1.0, -1, 1j)", RuntimeError, "renorm: maxnorm must be real-valued"),
    (
        "torch.unravel_index(torch.ones(3).long(), -2**63 - 1)",
        ValueError,
        "'shape' cannot have negative values, but got (-9223372036854775809,)",
    ),
    ("torch.ones(3).half().cumsum_(-7, dtype=torch.int16)", IndexError, "Dimension out of range"),
    (
        "torch.fft.fft(torch.ones(0, 3, requires_grad=True), -5, 3, out=torch.zeros(1) + 0j)",
        IndexError,
        "Dimension out of range",
    ),
    (
        "torch.fft.irfft(torch.ones(2, 3, requires_grad=True), out=torch.zeros(1))",
        RuntimeError,
        "_fft_c2r(): functions with out=... arguments",
    ),
    (
        "torch.nn.functional.group_norm(torch.ones(1, 2, 4), 2.5)",
        TypeError,
        "group_norm(): argument 'num_groups' (position 2) must be int, not float",
    ),
    (
        "torch.nn.functional.instance_norm(torch.ones(3, 3), momentum=torch.ones(3))",
        ValueError,
        "Expected more than 1 spatial element when training",
    ),
    (
        "torch.normal(torch.ones(2, 0) > 0, torch.ones(2, 0))",
        RuntimeError,
        "result type Float can't be cast to the desired output type Bool",
    ),
    (
        "torch.linalg.matrix_rank(torch.ones(3, 3).bfloat16(), 0.1)",
        NotImplementedError,
        "\"linalg_svd_cpu\" not implemented for 'BFloat16'",
    ),
    (
        "torch.linalg.cond(torch.ones(3, 3).half(), 'nuc')",
        NotImplementedError,
        "\"linalg_svd_cpu\" not implemented for 'Half'",
    ),
    (
        "torch.ones(3, 3).ormqr(torch.tensor(1.5), torch.ones(2, 3), False)",
        IndexError,
        "Dimension specified as -1 but tensor has no dimensions",
    ),
    (
        "torch.cross(torch.ones(3, 4, requires_grad=True), torch.ones(3, 4), out=torch.ones(3))",
        RuntimeError,
        "linalg_cross(): functions with out=... arguments",
    ),
    (
        "torch.ones(2, device=b'a')",
        RuntimeError,
        "Expected one of cpu, cuda, ipu, xpu, mkldnn, opengl, opencl,",
    ),
    ("torch.ones(2, device=-1)", RuntimeError, "Device index must not be negative"),
    ("torch.ones([-1], device=2**63)", ValueError, "Overflow when unpacking long long"),
    ("torch.ones(2, device='')", RuntimeError, "Device string must not be empty"),
    (
        "torch.zeros(2).new_full((2,), 1, device=0)",
        RuntimeError,
        "Cannot access accelerator device when none is available.",
    ),
    (
        "torch.randn_like(torch.ones(2), device=2**63)",
        ValueError,
        "Overflow when unpacking long long",
    ),
    (
        "torch.hann_window(-2, device=0)",
        RuntimeError,
        "Cannot access accelerator device when none is available.",
    ),
    (
        "torch.tril_indices(2, -2, device=0)",
        RuntimeError,
        "Cannot access accelerator device when none is available.",
    ),
    ("torch.tril_indices(1, -1, pin_memory=True)", RuntimeError, "col must be non-negative, got-1"),
    (
        "torch.range(0, 2, requires_grad=None)",
        TypeError,
        "range(): argument 'requires_grad' must be bool, not NoneType",
    ),
    (
        "torch.zeros(3).backward(create_graph=[1])",
        TypeError,
        "'list' object cannot be interpreted as an integer",
    ),
    (
        "x = torch.zeros(1, requires_grad=True); x.backward(retain_graph=torch.tensor([1, 2]))",
        TypeError,
        "only integer tensors of a single element can be converted to",
    ),
    (
        "x = torch.zeros(3, requires_grad=True).sum(); x.backward(create_graph=2**31)",
        OverflowError,
        "unsigned byte integer is greater than maximum",
    ),
    (
        "x = torch.zeros(1, requires_grad=True); torch.autograd.grad(x, x, create_graph=None)",
        TypeError,
        "'NoneType' object cannot be interpreted as an integer",
    ),
    (
        "x = torch.zeros(3, requires_grad=True); x.backward(x[:2], 'a')",
        RuntimeError,
        "Mismatch in shape: grad_output[0] has a shape of torch.Size(",
    ),
    (
        "torch.zeros(2).to(1.5, None)",
        TypeError,
        "to() received an invalid combination of arguments - got (flo",
    ),
    ("torch.zeros(2).to(2**63)", ValueError, "Overflow when unpacking long long"),
    (
        "torch.zeros(2).copy_(torch.zeros(2), None)",
        TypeError,
        "copy_(): argument 'non_blocking' (position 2) must be bool, ",
    ),
    ("torch.zeros(2).copy_(2**64)", OverflowError, "int too big to convert"),
    (
        "torch.zeros(0, 3).requires_grad_(torch.zeros(0, 3))",
        TypeError,
        "requires_grad_(): argument 'requires_grad' (position 1) must",
    ),
    (
        "torch.zeros(2, 1).dim_order(ambiguity_check=True)",
        RuntimeError,
        "The tensor does not have unique dim order, or cannot map to ",
    ),
    (
        "torch.zeros(2, 1, 4, 5).dim_order(ambiguity_check=[torch.contiguous_format])",
        RuntimeError,
        "The tensor does not have unique dim order.",
    ),
    (
        "torch.zeros(2).dim_order(ambiguity_check=[1])",
        TypeError,
        "The ambiguity_check argument must be a bool or a list of mem",
    ),
    (
        "torch.zeros(2, 3, 4).type(torch.float64, memory_format=torch.channels_last)",
        RuntimeError,
        "required rank 4 tensor to use channels_last format",
    ),
    (
        "torch.repeat_interleave(torch.zeros(2, 2), 2, 1, output_size=3)",
        RuntimeError,
        "repeat_interleave: Invalid output_size, expected 4 but got 3",
    ),
    (
        "torch.repeat_interleave(torch.tensor([1, 2]), output_size=7)",
        RuntimeError,
        "allocated size does not match required size",
    ),
    (
        "torch.repeat_interleave(torch.tensor([1, 2]), output_size=-1)",
        RuntimeError,
        "Trying to create tensor with negative dimension -1: [-1]",
    ),
    (
        "torch.repeat_interleave(repeats=torch.tensor([[1]]))",
        RuntimeError,
        "repeat_interleave only accept 1D vector as repeat",
    ),
    (
        "torch.unravel_index(torch.tensor(1), -1.5)",
        TypeError,
        "expected 'shape' to be int or sequence of ints, but got <cla",
    ),
    (
        "torch.unravel_index(torch.tensor(1), (np.int64(2),))",
        TypeError,
        "expected 'shape' sequence to only contain ints, but got <cla",
    ),
    ("torch.unravel_index(torch.tensor(1), (2, 0))", RuntimeError, "ZeroDivisionError"),
    (
        "torch.broadcast_shapes(1.5)",
        RuntimeError,
        "Input shapes should be of type ints, a tuple of ints, or a l",
    ),
    (
        "torch.broadcast_shapes({})",
        RuntimeError,
        "Input shapes should be of type ints, a tuple of ints, or a l",
    ),
    ("torch.stft(torch.zeros(3, 3), float('nan'))", ValueError, "cannot convert float NaN"),
    ("torch.zeros(3, 3).sum(2**63)", ValueError, "Overflow when unpacking long long"),
    ("torch.zeros(3, 3).unsqueeze(-(2**63) - 1)", ValueError, "Overflow when unpacking long long"),
    ("torch.triu(torch.zeros(3, 3), 2**63)", ValueError, "Overflow when unpacking long long"),
    (
        "torch.zeros(3).istft(3, return_complex=3)",
        TypeError,
        "istft(): argument 'return_complex' m",
    ),
    (
        "torch.triplet_margin_loss(*[torch.zeros(2, 3)] * 3, margin=torch.tensor(1j))",
        RuntimeError,
        "value cannot be converted to type double without overflow",
    ),
    ("torch.linspace(1j, 2, 1, dtype=torch.int16)", RuntimeError, "torch.linspace(): inferred dt"),
    ("torch.linspace(1j, 2, 1, out=torch.zeros(1))", RuntimeError, "value cannot be converted to"),
    ("torch.arange(1j)", RuntimeError, "value cannot be converted to type double without overfl"),
    ("torch.zeros(3).unflatten(torch.zeros(2), [3])", TypeError, "unflatten(): argument 'dim' (po"),
    ("torch.unflatten(torch.zeros(3), -7, [])", IndexError, "Dimension out of range"),
    ("torch.zeros(3).unflatten(-7, [])", RuntimeError, "unflatten: sizes must be non-empty"),
    (
        "torch.tensor(1, names=(), other=3)",
        TypeError,
        "tensor() got an unexpected keyword argument",
    ),
    ("torch.reshape(torch.zeros(2), (2,), input=3)", TypeError, "reshape() got multiple values"),
    (
        "torch.normal(torch.zeros(2), torch.ones(2, requires_grad=True), out=torch.zeros(2))",
        RuntimeError,
        "normal(): functions with out=... arguments don't support automatic differentiation",
    ),
    (
        "torch.linalg.inv(torch.eye(2), out=torch.zeros(2, 2).half())",
        RuntimeError,
        "Expected out t",
    ),
    (
        "torch.argsort(torch.zeros(2), stable=True, out=torch.zeros(2))",
        RuntimeError,
        "Expected out",
    ),
    (
        "torch.any(torch.zeros(2), [1, 1], out=torch.zeros(2))",
        RuntimeError,
        "any only supports bool",
    ),
    ("torch.diff(torch.zeros(3), out=torch.zeros(2).long())", RuntimeError, "result type Float ca"),
    (
        "torch.sum(torch.zeros(3), 0, dtype=torch.float64, out=torch.zeros(1))",
        RuntimeError,
        "Expected out tensor to have dtype double, but got float instead",
    ),
    (
        "torch.nn.functional.silu(np.float32(1.5))",
        TypeError,
        "silu(): argument 'input' (position 1",
    ),
    (
        "torch.nn.functional.embedding(torch.tensor([1]), torch.zeros(3, 2), -7.5)",
        AssertionError,
        "Padding_idx must be within num_embeddings",
    ),
    (
        "torch.nn.functional.silu(torch.zeros(2, dtype=torch.complex64, requires_grad=True))",
        RuntimeError,
        "silu does not support automatic differentiation for outputs with complex dtype.",
    ),
    *(
        (
            f"x = torch.zeros(1, 2, 3, dtype=torch.complex64, requires_grad=True); torch.{call}",
            RuntimeError,
            f"{name} does not support automatic differentiation for outputs with complex dtype.",
        )
        for name, call in [
            ("embedding", "nn.functional.embedding(torch.tensor([0]), x[0])"),
            ("select_copy", "select_copy(x, 0, 0)"),
            ("slice_copy", "slice_copy(x, 0, 0, 1)"),
            ("affine_grid_generator", "affine_grid_generator(x, (1, 1, 2, 2), False)"),
        ]
    ),
    (
        "torch.zeros(3, 4).nonzero_static(size=2**62)",
        RuntimeError,
        "Storage size calculation overf",
    ),
    (
        "torch.fft.rfftn(torch.zeros(3, 2).bfloat16(), -5)",
        RuntimeError,
        "Invalid number of data po",
    ),
    (
        "torch.fft.fftn(torch.zeros(3), dim=5, out=torch.zeros(0))",
        IndexError,
        "Dimension out of ra",
    ),
    (
        "torch.fft.fft(torch.zeros(1, 3), 2**62)",
        RuntimeError,
        "Storage size calculation overflowed ",
    ),
    (
        "torch.linalg.pinv(torch.zeros(2, 3, 4), rtol=torch.zeros(2, 3, 4))",
        RuntimeError,
        "The size of tensor a (4) must match the size of tensor b (2)",
    ),
    (
        "torch.linalg.lstsq(torch.ones(2, 2).half(), torch.ones(2, 2).half(), 1.0)",
        NotImplementedError,
        "\"linalg_lstsq_cpu\" not implemented for 'Half'",
    ),
    (
        "torch.orgqr(torch.eye(3), torch.tensor(1.0))",
        IndexError,
        "Dimension specified as -1 but te",
    ),
    (
        "torch.tensordot(torch.eye(3), torch.eye(3), 1.5)",
        RuntimeError,
        "tensordot expects dims to b",
    ),
    (
        "torch.nn.functional.lp_pool1d(torch.zeros(2, 4), 2.0, 1.5)",
        TypeError,
        "avg_pool1d(): argument 'kernel_size' (position 2) must be tuple of ints, not float",
    ),
    (
        "torch.nn.functional.adaptive_max_pool2d(torch.zeros(1, 3, 3).short(), (1, -1))",
        RuntimeError,
        "Trying to create tensor with negative dimension -1: [1, 1, -1]",
    ),
    (
        "torch.nn.functional.fractional_max_pool2d(torch.zeros(1, 2, 5, 5), 2, 1.5)",
        TypeError,
        "fractional_max_pool2d(): argument 'output_size' (position 3) must be tuple of ints",
    ),
    (
        "torch.nn.functional.max_unpool1d(torch.zeros(1, 2, 3), torch.zeros(1, 2, 3).long(), 1.5)",
        TypeError,
        "max_unpool2d(): argument 'output_size' (position 3) must be tuple of ints",
    ),
    (
        "torch.nn.functional.interpolate(torch.zeros(1, 2, 2), 1.5)",
        TypeError,
        "upsample_nearest1d() received an invalid combination of arguments",
    ),
    (
        "torch.searchsorted(torch.zeros(3), torch.zeros(3), sorter=torch.zeros(3))",
        RuntimeError,
        "torch.searchsorted(): sorter must be a tensor of long dtype but got dtype Float",
    ),
    (
        "torch.histogram(torch.zeros(3).long(), 0)",
        RuntimeError,
        "torch.histogram(): bins must be > 0",
    ),
    ("torch.polygamma(-1, torch.tensor(1j))", RuntimeError, "polygamma(n, x) does not support neg"),
    (
        "torch.trapezoid(torch.zeros(3), dx=True)",
        RuntimeError,
        "trapezoid: Currently, we only supp",
    ),
    (
        "torch.zeros(3).unique(return_counts=torch.zeros(2))",
        RuntimeError,
        "Boolean value of Tensor",
    ),
    (
        "torch.zeros(3).unique(return_counts=1)",
        TypeError,
        "_unique2(): argument 'return_counts' mus",
    ),
    (
        "torch.nn.functional.multilabel_margin_loss(torch.zeros(0) > 0, torch.zeros(2, 3) > 0)",
        RuntimeError,
        "Expected non-empty vector or matrix with optional 0-dim batch size",
    ),
    (
        "torch.randint_like(torch.zeros(2), torch.tensor([3]))",
        RuntimeError,
        "high must be a scalar ",
    ),
    ("torch.dropout(torch.zeros(2), float('nan'), True)", RuntimeError, "dropout probability has "),
    (
        "torch.zeros(3, 3).to_sparse(0)",
        RuntimeError,
        "dense_to_sparse: sparse_dim argument must be ",
    ),
    (
        "torch.is_complex(3, input=torch.zeros(2))",
        TypeError,
        "is_complex(): argument 'input' (positio",
    ),
    (
        "torch.tensordot(3, torch.zeros(2, requires_grad=True), out=torch.zeros(1))",
        AttributeError,
        "",
    ),
    (
        "torch.nn.functional.glu(torch.zeros(1).long())",
        RuntimeError,
        "Halving dimension must be even",
    ),
    (
        "torch.zeros(3).histc(2, max=1j)",
        RuntimeError,
        "value cannot be converted to type double wit",
    ),
    (
        "torch.range(0, 1, layout=None)",
        TypeError,
        "range(): argument 'layout' must be torch.layout, n",
    ),
    ("torch.repeat_interleave(torch.zeros(2, 2))", NotImplementedError, '"repeat_interleave_cpu" '),
    ("torch.zeros(3).new_ones([-5, 4], device=b'a')", RuntimeError, "Expected one of cpu"),
    (
        "torch.zeros(2).stride(1.5)",
        TypeError,
        "stride(): argument 'dim' (position 1) must be int, not",
    ),
    (
        "torch.nn.functional.pad(torch.zeros(3), (1,), 2.0)",
        TypeError,
        "pad(): argument 'mode' (positi",
    ),
]


@pytest.mark.parametrize(("statements", "error", "text"), CASES)
def test_what_is_told(statements: str, error: type[Exception], text: str) -> None:
    *before, last = statements.split("; ")
    names: dict[str, Any] = {"torch": torch, "np": np}
    exec("\n".join(before), names)
    with pytest.raises(error) as raised:
        eval(last, names)
    assert type(raised.value) is error
    assert str(raised.value).startswith(text)


def test_a_number_is_a_tensor_of_its_own_type_to_to() -> None:
    x = torch.zeros(2, 3)
    assert x.to(True).dtype is torch.bool
    assert x.to(1j).dtype is torch.complex128
    assert x.to(np.float32(1)).dtype is torch.float64


def test_a_change_of_type_or_place_takes_a_memory_format() -> None:
    x = torch.zeros(2, 3, 4, 5)
    assert x.type(torch.float64, memory_format=torch.channels_last).stride() == (60, 1, 15, 3)
    assert x.to("meta", memory_format=torch.channels_last).stride() == (60, 1, 15, 3)
    assert x.type(memory_format=torch.channels_last) == "torch.FloatTensor"


def test_dim_order_of_spread_dimensions() -> None:
    assert torch.zeros(1, 2, 3).expand(2, 2, 3).dim_order() == (0, 1, 2)
    assert torch.zeros(2, 3, 4, 5).to(memory_format=torch.channels_last).dim_order() == (0, 2, 3, 1)


def test_a_number_beyond_signed_ones_is_copied() -> None:
    assert torch.zeros(2).copy_(2**63).tolist() == [2.0**63, 2.0**63]


def test_places_to_repeat_may_be_named() -> None:
    assert torch.repeat_interleave(repeats=torch.tensor([1, 2])).tolist() == [0, 1, 1]


def test_a_tensor_of_one_integer_stands_for_sizes() -> None:
    x = torch.arange(24.0).reshape(2, 3, 4)
    one = torch.tensor([1])
    assert torch.equal(x.sum(one), x.sum(1))
    assert torch.equal(x.sum(torch.tensor(True)), x.sum(1))
    assert torch.equal(torch.amax(x, torch.tensor([[1]])), x.amax(1))
    assert torch.equal(torch.adaptive_max_pool1d(x, one)[0], x.amax(2, keepdim=True))
    assert torch.equal(torch.roll(x, one), x.roll(1))
    assert x.view(torch.tensor([24])).shape == (24,)


def test_what_has_an_index_stands_for_a_count() -> None:
    x = torch.arange(12.0).reshape(2, 6)
    assert torch.topk(x, np.array(1)).values.tolist() == [[5.0], [11.0]]
    assert torch.topk(x, torch.tensor([1])).values.tolist() == [[5.0], [11.0]]
    assert torch.fft.fft(x, torch.tensor([1])).shape == (2, 1)
    assert len(torch.tensor_split(x, np.array(2))) == 2
    with pytest.raises(TypeError, match="must be int, not"):
        torch.cumsum(x, np.array(1))


def test_a_refused_call_warns_of_no_window(recwarn: pytest.WarningsRecorder) -> None:
    torch.set_warn_always(True)
    try:
        with pytest.raises(TypeError):
            torch.zeros(2, 2).istft(3, onesided=torch.zeros(2))
    finally:
        torch.set_warn_always(False)
    assert not recwarn.list


def test_a_sum_into_out_is_taken_in_its_type() -> None:
    x = torch.tensor([[1.5, -0.5], [-2.5, 0.5]])
    assert torch.sum(x, -1, out=torch.zeros(2).long()).tolist() == [1, -2]


def test_answers_are_written_where_a_gradient_is_required() -> None:
    out = torch.zeros(2, requires_grad=True)
    assert torch.gt(torch.tensor([1.0, -1.0]), 0, out=out) is out
    assert out.tolist() == [1.0, 0.0]


def test_complex_numbers_between_two() -> None:
    assert torch.logspace(0, 1j, 2).dtype is torch.complex64
    assert torch.arange(2 + 0j).tolist() == [0.0, 1.0]


def test_a_result_of_linear_algebra_lies_in_a_new_out_as_it_is() -> None:
    assert torch.linalg.inv(torch.eye(3)[None], out=torch.zeros(0)).stride() == (9, 1, 3)


def test_the_margins_of_complex_numbers() -> None:
    x = torch.tensor([1 + 1j])
    found = torch.nn.functional.soft_margin_loss(x, x).item()
    assert abs(found - np.log1p(np.exp(-((1 + 1j) ** 2)))) < 1e-6


def test_an_out_of_as_many_elements_keeps_its_shape() -> None:
    assert torch.arange(2, out=torch.zeros(2, 1).long()).shape == (2, 1)
    with pytest.warns(UserWarning, match="The number of elements in the out tensor"):
        assert torch.fft.fftfreq(2, out=torch.zeros(1, 3)).shape == (2,)


def test_a_rank_of_more_tolerances_than_matrices_warns() -> None:
    with pytest.warns(UserWarning, match="was resized since it had shape"):
        found = torch.linalg.matrix_rank(torch.eye(3), atol=torch.zeros(2))
    assert found.tolist() == [3, 3]


def test_pools_to_one_place_or_none() -> None:
    x = torch.arange(8.0).reshape(2, 2, 2)
    assert torch.nn.functional.adaptive_avg_pool3d(x, 1).tolist() == [[[3.5]]]
    assert torch.nn.functional.fractional_max_pool2d(x, 1, (0, 1)).shape == (2, 0, 1)
    assert torch.adaptive_max_pool1d(torch.zeros(0, 3), 2)[0].shape == (0, 2)


def test_parts_of_bools_are_reduced() -> None:
    x = torch.tensor([[True, False], [True, True]])
    found = x.index_reduce(0, torch.tensor([0, 0]), x, "prod")
    assert found.tolist() == [[True, False], [True, True]]


def test_a_histogram_of_nothing_is_a_number() -> None:
    hist, edges = torch.histogramdd(torch.zeros(2, 0), 1)
    assert hist.item() == 0 and edges == ()


def test_memory_is_copied_as_another_type() -> None:
    found = torch.view_copy(torch.tensor([1.0, 2.0]), torch.int32)
    assert found.tolist() == [1065353216, 1073741824]
    assert torch.view_copy(torch.zeros(3, 2), dtype=torch.int16).shape == (3, 4)


def test_rounding_to_digits_that_no_float_has() -> None:
    assert torch.tensor([1.5]).round(decimals=2**62).isnan().all()


def test_repeats_of_a_vector_have_no_view_in_their_history() -> None:
    x = torch.zeros(2, requires_grad=True)
    node = x.repeat_interleave(torch.tensor([1, 2])).grad_fn.next_functions[0][0]
    assert type(node).__name__ == "AccumulateGrad"


def test_none_stands_for_an_empty_list() -> None:
    assert torch.roll(torch.arange(3), 1, None).tolist() == [2, 0, 1]
