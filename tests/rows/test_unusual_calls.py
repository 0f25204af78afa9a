"""Calls with arguments that are rarely given, and what is said of them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import rushlight as torch


def test_an_array_without_dimensions_is_a_size_among_sizes() -> None:
    x = torch.ones(3)
    assert x.view(np.array(3)).shape == (3,)
    assert x.repeat(np.array(2)).shape == x.tile(np.array(2)).shape == (6,)
    with pytest.raises(TypeError, match=r"must be tuple of ints, not numpy.ndarray"):
        x.tile(np.array([1, 2]))
    with pytest.raises(TypeError, match=r"'start_dim' .* must be int, not numpy.ndarray"):
        torch.ones(2, 3).flatten(np.array(1))


def test_a_size_of_more_than_64_bits_is_refused_by_its_name() -> None:
    x = torch.ones(3)
    for call, name in (
        (lambda: x.reshape(1, 2**63), "reshape"),
        (lambda: x.view([1, 2**63]), "view"),
        (lambda: x.expand(1, 2**63), "expand"),
    ):
        with pytest.raises(
            TypeError, match=rf"{name}\(\): .* failed to unpack the object at pos 2"
        ):
            call()
    with pytest.raises(RuntimeError, match=r"shape '\[\]' is invalid for input of size 3"):
        torch.reshape(x, [])


def test_a_keyword_is_refused_that_a_call_like_it_was_not_asked_about() -> None:
    x, index, source = torch.ones(3), torch.tensor([1]), torch.ones(1)
    x.put(index, source)
    with pytest.raises(TypeError, match="unexpected keyword argument 'out'"):
        x.put(index, source, out=None)  # type: ignore[call-arg]


def test_windows_take_numpy_lengths_and_python_types() -> None:
    assert torch.bartlett_window(np.int64(3)).shape == (3,)  # type: ignore[arg-type]
    assert torch.hann_window(3, dtype=float).dtype is torch.float64  # type: ignore[arg-type]
    with pytest.raises(RuntimeError, match="expects floating point dtypes"):
        torch.hann_window(3, dtype=int)  # type: ignore[arg-type]


def test_a_complex_tensor_without_imaginary_part_stands_for_a_number() -> None:
    x = torch.randn(2, 3)
    eps = torch.tensor(1 + 0j)
    layer = torch.nn.functional.layer_norm
    assert torch.equal(layer(x, [3], eps=eps), layer(x, [3], eps=1.0))  # type: ignore[arg-type]
    with pytest.raises(RuntimeError, match="cannot be converted to type double"):
        torch.nn.functional.group_norm(x, 3, eps=torch.tensor(1j))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda one: torch.linalg.pinv(torch.eye(2), rtol=one), "'linalg_pinv' is not differen"),
        (
            lambda one: torch.geqrf(one * (1j * torch.ones(2, 2))),
            "geqrf does not support automatic",
        ),
        (lambda one: torch.bernoulli(one, out=torch.ones(())), "bernoulli.*with out=... arguments"),
        (
            lambda one: torch.take(torch.ones(3), one, out=torch.ones(())),
            "Expected a long tensor for index",
        ),
    ],
)
def test_what_has_no_derivative_is_refused(
    call: Callable[[torch.Tensor], object], text: str
) -> None:
    with pytest.raises(RuntimeError, match=text):
        call(torch.ones((), requires_grad=True))


def test_dimensions_that_are_not_there_are_told() -> None:
    with pytest.raises(RuntimeError, match=r"ArrayRef: invalid slice, N = 2; size = 1"):
        torch.linalg.tensorinv(torch.ones(1))
    with pytest.raises(RuntimeError, match=r"dims must be different. Got \(1, 1\)"):
        torch.linalg.matrix_norm(torch.ones(2, 2), dim=(-1, 1))
    with pytest.raises(IndexError, match="Dimension specified as 2 but tensor has no dimensions"):
        torch.unique_consecutive(torch.tensor(1.0), dim=2)
    with pytest.raises(IndexError, match=r"range of \[-1, 0\], but got 1"):
        torch.segment_reduce(torch.ones(2), "amin", lengths=torch.tensor([2]), axis=1)


def test_nothing_is_asked_of_a_type_that_no_element_is_computed_in() -> None:
    assert torch.nn.functional.pdist(torch.ones(1, 3).half()).shape == (0,)
    assert torch.normal(2.0, torch.zeros(0, dtype=torch.int16)).shape == (0,)
    with pytest.raises(NotImplementedError, match="pdist"):
        torch.nn.functional.pdist(torch.ones(2, 3).half())


def test_a_wrapped_diagonal_is_written_in_two_parts() -> None:
    x = torch.zeros(7, 2)
    x.fill_diagonal_(1, wrap=True)
    assert x._version == 2
    assert x.nonzero().tolist() == [[0, 0], [1, 1], [3, 0], [4, 1], [6, 0]]


def test_the_types_of_results_that_are_given_are_asked_first() -> None:
    with pytest.raises(RuntimeError, match="Expected out tensor to have dtype int, but got float"):
        torch.linalg.ldl_factor(torch.eye(3), out=(torch.eye(3), torch.zeros(3)))
    with pytest.raises(RuntimeError, match=r"provided dtype must match dtype of result. Got Float"):
        torch.nansum(torch.ones(3), dtype=torch.float64, out=torch.ones(()))
    with pytest.raises(RuntimeError, match="result type Byte can't be cast"):
        torch.mvlgamma(torch.ones(2, dtype=torch.uint8) * 3, 1, out=torch.zeros(2).long())


def test_the_statistics_of_a_batch_have_the_type_of_its_parameters() -> None:
    x, ones = torch.randn(3, 4).half(), torch.ones(4)
    found = torch.native_batch_norm(x, ones, ones, None, None, True, 0.1, 1e-5)
    assert [t.dtype for t in found] == [torch.float16, torch.float32, torch.float32]
    with pytest.raises(RuntimeError, match="must have at least one element"):
        torch.native_batch_norm(x[:0], None, None, None, None, True, 0.1, 1e-5)


def test_a_margin_is_a_real_number() -> None:
    x = torch.ones(2, dtype=torch.int64)
    assert torch.margin_ranking_loss(x, x, x, True).dtype is torch.float32
    with pytest.raises(TypeError, match="'<=' not supported between"):
        torch.nn.functional.triplet_margin_loss(x, x, x, torch.int64)  # type: ignore[arg-type]


def test_more_draws_than_counts_are_warned_of() -> None:
    with pytest.warns(UserWarning, match=r"it had shape \[\], .* output shape \[3\]"):
        torch.binomial(torch.ones(()), torch.ones(3))


def test_numpy_scalars_are_not_copied_into_another_type() -> None:
    with pytest.raises(ValueError, match="can't alias tensor with dtype 'Double' into dtype"):
        torch.asarray(np.float64(2.0), dtype=torch.float32, copy=True)
    assert torch.asarray(np.ones(2), dtype=torch.float32, copy=True).dtype is torch.float32


def test_more_terms_than_memory_has_room_for_are_refused_at_once() -> None:
    with pytest.raises(RuntimeError, match="Storage size calculation overflowed"):
        torch.mvlgamma(torch.ones(2) * 9, 2**62)


def test_where_refuses_two_numbers_that_its_result_cannot_hold() -> None:
    condition = torch.tensor([True, False])
    assert torch.where(condition, 1.5, 2).tolist() == [1.5, 2.0]
    for numbers in ((1.0, 1e40), (1e40, 1)):
        with pytest.raises(RuntimeError, match="to type float without overflow"):
            torch.where(condition, *numbers)


@pytest.mark.filterwarnings("ignore:Casting complex values")
def test_a_half_is_compared_in_place_with_a_complex_number() -> None:
    x = torch.tensor([1.0, 2.0], dtype=torch.float16)
    assert x.clone().eq_(2 + 0j).tolist() == [0.0, 1.0]
    assert x.ne_(torch.tensor(1 + 0j)).tolist() == [0.0, 1.0]


@pytest.mark.parametrize("kind", [bool, int, float, complex])
def test_asarray_without_a_copy_takes_types_of_python(kind: type) -> None:
    with pytest.raises(ValueError, match="can't alias tensor with dtype 'Float' into dtype"):
        torch.asarray(torch.ones(1), dtype=kind, copy=False)


def test_bounds_of_a_range_fit_into_64_bits() -> None:
    with pytest.raises(RuntimeError, match="to type int64_t without overflow"):
        torch.arange(2**63)
    with pytest.raises(OverflowError, match="int too big to convert"):
        torch.arange(0, 2, 2**64, dtype=torch.float32)
    assert torch.arange(2**63 - 2, 2**63 - 1).tolist() == [2**63 - 2]


@pytest.mark.parametrize("n", [0, 1, 2])
def test_polygamma_in_place_refuses_complex_numbers(n: int) -> None:
    name = {0: "digamma", 1: "trigamma"}.get(n, "polygamma")
    z = torch.ones(2, dtype=torch.complex64)
    with pytest.raises(NotImplementedError, match=f'"{name}" not implemented for'):
        z.polygamma_(n)
    assert z.tolist() == [1, 1]


def test_losses_of_logits_are_reduced_by_one_and_two_alone() -> None:
    x = torch.zeros(2, 3)
    shapes = [
        torch.binary_cross_entropy_with_logits(x, x, reduction=k).shape for k in (0, 1, 2, 5, -1)
    ]
    assert shapes == [(2, 3), (), (), (2, 3), (2, 3)]


def test_no_elements_are_summed_as_complex_numbers() -> None:
    assert torch.nansum(torch.ones(0), dtype=torch.complex64).item() == 0
    with pytest.raises(NotImplementedError, match="nansum_cpu"):
        torch.nansum(torch.ones(1), dtype=torch.complex64)


def test_slice_inverse_takes_no_out_and_no_complex_numbers_with_gradients() -> None:
    x = torch.ones(4)
    with pytest.raises(TypeError, match="unexpected keyword argument 'out'"):
        torch.slice_inverse(x, x, out=x)
    with pytest.raises(TypeError, match=r"argument 'dim' \(position 2\) must be int, not list"):
        x.slice_inverse(x, [1, 2])
    z = torch.ones(2, dtype=torch.complex64, requires_grad=True)
    with pytest.raises(RuntimeError, match="outputs with complex dtype"):
        z.slice_inverse(z)


def test_tensorsolve_compares_with_how_many_numbers_there_are() -> None:
    assert torch.linalg.tensorsolve(torch.ones(2, 0), torch.ones(0)).shape == (0,)
    with pytest.raises(RuntimeError, match="but got 1 != 0"):
        torch.linalg.tensorsolve(torch.ones(1), torch.ones(0))
    solved = torch.linalg.tensorsolve(torch.eye(6).reshape(2, 3, 6), torch.ones(2, 3))
    assert solved.tolist() == [1.0] * 6


@pytest.mark.parametrize(("name", "known_as"), [
    ("eigh", "_linalg_eigh"), ("svd", "_linalg_svd"), ("det", "_linalg_det"),
    ("inv", "linalg_inv_ex"), ("cholesky", "linalg_cholesky_ex"),
])  # fmt: skip
def test_decompositions_into_tensors_name_the_operator_that_has_no_gradients(name, known_as):
    x = torch.eye(2, requires_grad=True)
    count = {"eigh": 2, "svd": 3}.get(name, 1)
    out = torch.zeros(2, 2) if count == 1 else tuple(torch.zeros(2, 2) for _ in range(count))
    with pytest.raises(RuntimeError, match=rf"^{known_as}\(\): functions with out="):
        getattr(torch.linalg, name)(x, out=out)
