"""Reductions where care is needed: ties, zeros, NaN, empty dimensions, named results, messages."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

import rushlight as torch

NAN = float("nan")
INF = float("inf")


def gradient(f: Any, values: Any) -> Any:
    x = torch.tensor(values, dtype=torch.float64, requires_grad=True)
    f(x).backward()
    return x.grad.tolist()


def second(f: Any, values: Any) -> Any:
    """The gradient of the sum of squares of the gradient."""
    x = torch.tensor(values, dtype=torch.float64, requires_grad=True)
    (g,) = torch.autograd.grad(f(x), x, create_graph=True)
    (gg,) = torch.autograd.grad((g * g).sum(), x)
    return gg.tolist()


def test_the_gradient_of_a_product_is_right_with_no_one_and_two_zeros() -> None:
    assert gradient(lambda x: x.prod(), [2.0, 3.0, 4.0]) == [12.0, 8.0, 6.0]
    assert gradient(lambda x: x.prod(), [2.0, 0.0, 4.0]) == [0.0, 8.0, 0.0]
    assert gradient(lambda x: x.prod(), [0.0, 0.0, 4.0]) == [0.0, 0.0, 0.0]


def test_the_second_derivative_of_a_product_is_right_with_zeros() -> None:
    # d/dx of (bc)² + (ac)² + (ab)² at a, b, c.
    for a, b, c in ([2.0, 3.0, 4.0], [0.0, 3.0, 4.0], [0.0, 0.0, 4.0]):
        expected = [2 * a * (b * b + c * c), 2 * b * (a * a + c * c), 2 * c * (a * a + b * b)]
        assert second(lambda x: x.prod(), [a, b, c]) == pytest.approx(expected)
        assert second(lambda x: x.prod(0), [a, b, c]) == pytest.approx(expected)


def test_the_largest_elements_share_the_gradient_and_the_chosen_one_takes_it_all() -> None:
    assert gradient(lambda x: x.max(), [1.0, 3.0, 3.0]) == [0.0, 0.5, 0.5]
    assert gradient(lambda x: x.amax(0), [1.0, 3.0, 3.0]) == [0.0, 0.5, 0.5]
    assert gradient(lambda x: x.max(0).values, [1.0, 3.0, 3.0]) == [0.0, 1.0, 0.0]
    assert gradient(lambda x: x.median(), [1.0, 1.0, 3.0]) == [0.5, 0.5, 0.0]
    assert gradient(lambda x: sum(x.aminmax()), [2.0, 2.0]) == [1.0, 1.0]


def test_equal_operands_of_max_get_half_of_the_gradient_each() -> None:
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = torch.tensor([3.0, 2.0, 1.0], requires_grad=True)
    result = torch.max(x, y)
    assert type(result.grad_fn).__name__ == "MaximumBackward0"
    result.sum().backward()
    assert x.grad.tolist() == [0.0, 0.5, 1.0]
    assert y.grad.tolist() == [1.0, 0.5, 0.0]


def test_nan_is_the_largest_and_the_smallest_and_comes_first() -> None:
    x = torch.tensor([1.0, NAN, 3.0, NAN])
    assert x.max(0).indices.item() == x.min(0).indices.item() == x.argmax().item() == 1
    assert torch.isnan(x.max()) and torch.isnan(x.amin()) and torch.isnan(x.median())
    assert x.nanmedian().item() == 1.0
    assert x.nansum().item() == 4.0
    assert x.nanmean().item() == 2.0


def test_the_gradient_of_max_goes_to_nan_where_there_is_one() -> None:
    x = torch.tensor([NAN, 1.0, NAN], requires_grad=True)
    x.max().backward()
    assert x.grad.tolist() == [0.5, 0.0, 0.5]


@pytest.mark.parametrize("p", [1, 1.5, 2, 3])
def test_a_norm_of_zeros_has_the_subgradient_zero(p: float) -> None:
    assert gradient(lambda x: x.norm(p), [0.0, 0.0]) == [0.0, 0.0]


def test_the_largest_magnitudes_share_the_gradient_of_the_maximum_norm() -> None:
    assert gradient(lambda x: x.norm(INF), [-3.0, 3.0, 1.0]) == [-0.5, 0.5, 0.0]


def test_a_deviation_of_equal_elements_has_the_gradient_zero() -> None:
    assert gradient(lambda x: x.std(), [2.0, 2.0, 2.0]) == [0.0, 0.0, 0.0]


def test_too_few_elements_for_a_variance_warn_and_give_nan() -> None:
    with pytest.warns(UserWarning, match="degrees of freedom is <= 0"):
        assert torch.isnan(torch.tensor([1.0]).var())


def test_std_takes_every_form_of_its_arguments() -> None:
    x = torch.tensor([[1.0, 2.0], [3.0, 6.0]], dtype=torch.float64)
    biased = [0.5, 1.5]
    assert x.std(1, False).tolist() == biased
    assert x.std(1, unbiased=False).tolist() == biased
    assert x.std(dim=1, correction=0).tolist() == biased
    assert x.std(axis=1, correction=0).tolist() == biased
    assert x.std(1, False, True).shape == (2, 1)
    assert x.var(False).item() == x.var(correction=0).item() == 3.5
    assert [t.item() for t in torch.var_mean(x, correction=0)] == [3.5, 3.0]


def test_results_with_names_print_unpack_and_pickle_like_named_tuples() -> None:
    result = torch.tensor([1.0, 3.0, 2.0]).max(0)
    assert repr(result) == "torch.return_types.max(\nvalues=tensor(3.),\nindices=tensor(1))"
    values, indices = result
    assert values is result.values and indices is result[1]
    assert isinstance(result, tuple) and isinstance(result, torch.return_types.max)
    with pytest.raises(AttributeError):
        result.values = values
    again = pickle.loads(pickle.dumps(torch.return_types.max((1, 2))))
    assert type(again) is torch.return_types.max and tuple(again) == (1, 2)
    assert type(copy.copy(again)) is torch.return_types.max
    message = r"takes a 2-sequence \(1-sequence given\)"
    with pytest.raises(TypeError, match=message):
        torch.return_types.max((1,))
    assert type(torch.std_mean(torch.ones(3))) is tuple


def test_named_results_are_written_to_out() -> None:
    values, indices = torch.empty(2), torch.empty(2, dtype=torch.int64)
    x = torch.tensor([[1.0, 3.0], [5.0, 2.0]])
    result = torch.max(x, 1, out=(values, indices))
    assert result.values is values and values.tolist() == [3.0, 5.0]
    assert indices.tolist() == [1, 0]
    assert type(result) is torch.return_types.max_out


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda e: e.max(), RuntimeError, "max(): Expected reduction dim to be specified for "),
        (lambda e: e.max(0), IndexError, "max(): Expected reduction dim 0 to have non-zero size."),
        (lambda e: e.amax(-2), IndexError, "amax(): Expected reduction dim -2 to have non-zero "),
        (lambda e: e.argmax(), IndexError, "argmax(): Expected reduction dim to be specified for "),
        (lambda e: e.norm(INF), RuntimeError, "linalg.vector_norm cannot compute the inf norm on "),
        (lambda e: e.sum(2), IndexError, "Dimension out of range (expected to be in range of "),
        (lambda e: e.sum((0, -2)), RuntimeError, "dim 0 appears multiple times in the list of di"),
        (lambda e: e.long().mean(), RuntimeError, "mean(): could not infer output dtype. Input "),
        (lambda e: e.long().std(), RuntimeError, "std and var only support floating point and "),
    ],
)
def test_a_refusal_has_pytorchs_words(call: Any, kind: Any, message: str) -> None:
    with pytest.raises(kind) as raised:
        call(torch.empty(0, 3))
    assert str(raised.value).startswith(message)


def test_reductions_of_nothing_have_their_identities() -> None:
    e = torch.empty(0, 3)
    assert e.sum(0).tolist() == [0.0] * 3
    assert e.prod().item() == 1.0
    assert e.logsumexp(0).tolist() == [-INF] * 3
    assert torch.isnan(e.mean()) and torch.isnan(e.median())
    assert bool(e.all()) and not bool(e.any())
    assert e.max(1).values.shape == (0,)


def test_integers_are_summed_in_int64_and_truth_of_bytes_is_bytes() -> None:
    x = torch.tensor([200, 200], dtype=torch.uint8)
    assert x.sum().item() == 400 and x.sum().dtype is torch.int64
    assert x.prod().item() == 40000
    assert x.any().dtype is torch.uint8 and x.bool().any().dtype is torch.bool
    assert x.sum(dtype=torch.float32).dtype is torch.float32


def test_a_keyword_may_change_its_type_from_call_to_call() -> None:
    x = torch.ones(2, 3)
    assert x.sum(dim=1).tolist() == [3.0, 3.0]
    assert x.sum(dim=(0, 1)).item() == 6.0
    assert x.sum(dim=[0]).tolist() == [2.0] * 3
    assert x.sum(dim=None).item() == 6.0


def test_half_precision_sums_do_not_stall() -> None:
    assert torch.ones(4096, dtype=torch.float16).sum().item() == 4096.0
    assert torch.full((4096,), 0.25, dtype=torch.bfloat16).sum().item() == 1024.0


def test_logsumexp_survives_large_and_infinite_elements() -> None:
    x = torch.tensor([[1000.0, 1000.0], [-INF, -INF], [INF, 0.0]], dtype=torch.float64)
    assert x.logsumexp(1).tolist() == pytest.approx([1000 + 0.6931471805599453, -INF, INF])
    assert gradient(lambda v: v.logsumexp(0), [1000.0, 1000.0]) == pytest.approx([0.5, 0.5])


def test_a_distance_broadcasts_and_sums_its_gradients_back() -> None:
    x = torch.zeros(2, 3, dtype=torch.float64, requires_grad=True)
    y = torch.tensor([3.0, 0.0, 0.0], dtype=torch.float64, requires_grad=True)
    d = torch.dist(x, y)
    assert d.item() == pytest.approx(18**0.5)
    d.backward()
    assert x.grad.shape == (2, 3)
    assert y.grad.tolist() == pytest.approx([2**0.5, 0.0, 0.0])


def test_what_is_refused_of_the_smallest_inputs() -> None:
    with pytest.raises(RuntimeError, match=r"doesn't match the broadcast shape \[1, 1\]"):
        torch.ones(2, 3).logsumexp(())
    with pytest.raises(NotImplementedError, match='"median_out" not implemented'):
        torch.tensor(True).median(0)
    with pytest.raises(NotImplementedError, match='"cumsum_out_cpu" not implemented'):
        torch.ones(2).cumsum(0, dtype=torch.bool)
    x = torch.ones(0, 3, dtype=torch.complex64, requires_grad=True)
    for name in ("cummax", "softmax"):
        with pytest.raises(RuntimeError, match=f"{name} does not support automatic different"):
            getattr(x, name)(0)


def test_what_is_dropped_or_undefined_is_warned_of() -> None:
    with pytest.warns(UserWarning, match="discards the imaginary part"):
        torch.ones(3, dtype=torch.complex64).sum(dtype=torch.float32)
    with pytest.warns(UserWarning, match="degrees of freedom is <= 0"):
        torch.ones(3, 0).var(0)


def test_a_norm_of_an_order_beyond_single_precision() -> None:
    assert torch.ones(3).norm(1e40).item() == 1.0
    assert torch.full((3,), 2.0).norm(1e40).item() == 1.0


def test_a_complex_tensor_without_parts_is_summed() -> None:
    assert sum(torch.ones(0, dtype=torch.complex64, requires_grad=True)) == 0
    with pytest.raises(IndexError, match="Dimension out of range"):
        torch.ones(2).cumprod(7, dtype=torch.bool)


def test_a_histogram_comes_from_its_operands_and_has_no_derivative() -> None:
    x = torch.ones(3, requires_grad=True)
    for part in (*x.histogram(2), x.long().bincount(x)):
        assert part.grad_fn.name() == "torch::autograd::NotImplemented"
        with pytest.raises(RuntimeError, match=r"derivative for aten::\w+ is not implemented"):
            part.sum().backward()
    hist, edges = torch.histogramdd(torch.ones(3, 2), [2, 2], weight=x)
    assert hist.requires_grad
    assert edges[0].requires_grad
    given = [torch.tensor([0.0, 1.0]), torch.tensor([0.0, 1.0], requires_grad=True)]
    hist, edges = torch.histogramdd(torch.ones(3, 2), given)
    assert hist.requires_grad
    assert edges[1] is given[1]


def test_the_edges_of_bins_are_those_of_linspace() -> None:
    for bins in (3, 5, 7, 15, 100):
        edges = torch.ones(3).histogram(bins).bin_edges
        assert torch.equal(edges, torch.linspace(0.5, 1.5, bins + 1))


def test_an_out_is_looked_at_before_its_type() -> None:
    x, out = torch.ones(2, 2), torch.ones(2, dtype=torch.uint8)
    for reduce in (torch.sum, torch.nansum, torch.mean):
        with pytest.raises(IndexError, match="Dimension out of range"):
            reduce(x, 5, dtype=torch.float64, out=out)
        text = "provided dtype must match" if reduce is torch.nansum else "to have dtype double"
        with pytest.raises(RuntimeError, match=text):
            reduce(x, 1, dtype=torch.float64, out=out)
        with pytest.raises(RuntimeError, match="support automatic differentiation"):
            reduce(x.clone().requires_grad_(), 1, dtype=torch.float64, out=out)


def test_an_out_that_requires_grad_is_refused_by_the_name_of_the_kernel() -> None:
    x, out = torch.ones(2, dtype=torch.int64), torch.ones(2, requires_grad=True)
    for function, name in ((torch.bitwise_xor, "aten::bitwise_xor"), (torch.max, "maximum")):
        with pytest.raises(RuntimeError, match=rf"^{name}\(\): functions with out="):
            function(x, x, out=out)


@pytest.mark.parametrize("p", [1e10, -1e10, 3])
def test_the_norm_of_a_number_is_its_magnitude_however_large_the_order(p: float) -> None:
    x = torch.tensor(-3.0)
    assert torch.linalg.vector_norm(x, p).item() == torch.dist(x, x * 0, p).item() == 3.0
    assert torch.linalg.vector_norm(x[None], p).item() == 3.0


@pytest.mark.parametrize(
    "reduce",
    [
        lambda x, d: x.sum(d, keepdim=True), lambda x, d: x.amax(d, keepdim=True),
        lambda x, d: x.prod(d, keepdim=True), lambda x, d: (x > 0).any(d, keepdim=True),
        lambda x, d: x.mode(d, keepdim=True).indices, lambda x, d: x.logsumexp(d, keepdim=True),
        lambda x, d: x.count_nonzero(d),
    ],
    ids=["sum", "amax", "prod", "any", "mode", "logsumexp", "count_nonzero"],
)  # fmt: skip
@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (0, 2, 1), (1, 0, 2)])
def test_a_result_of_any_layout_is_in_c_order(reduce: Any, order: tuple[int, ...]) -> None:
    x = torch.randn(2, 3, 4).permute(order)
    for dim in range(3):
        r = reduce(x, dim)
        assert r.stride() == torch.empty(r.shape).stride()
    rows = reduce(torch.randn(4, 3), 1)
    assert rows.stride() == torch.empty(rows.shape).stride()
