"""Pointwise operations at their edges: zeros and signs, nan and infinity, integers, errors."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest

import rushlight as torch

inf, nan = math.inf, math.nan


def values(t: Any) -> list[Any]:
    """A tensor's elements as text, in which nan equals nan and -0.0 differs from 0.0."""
    return [repr(v) for v in t.tolist()]


def texts(*numbers: float) -> list[str]:
    return [repr(n) for n in numbers]


def gradient(function: Any, *points: float) -> list[str]:
    x = torch.tensor(points, dtype=torch.float64, requires_grad=True)
    function(x).sum().backward()
    return values(x.grad)


# ---- division ---------------------------------------------------------------------------------
def test_floor_division_rounds_down_and_the_remainder_has_the_divisors_sign() -> None:
    a, b = torch.tensor([7, 7, -7, -7]), torch.tensor([3, -3, 3, -3])
    assert (a // b).tolist() == [2, -3, -3, 2]
    assert (a % b).tolist() == [1, -2, 2, -1]
    assert torch.fmod(a, b).tolist() == [1, 1, -1, -1]
    assert torch.div(a, b, rounding_mode="trunc").tolist() == [2, -2, -2, 2]
    assert torch.div(a, b, rounding_mode="floor").tolist() == [2, -3, -3, 2]
    assert torch.div(a, b).dtype is torch.float32


def test_division_of_floats_by_zero_gives_infinities_and_nan() -> None:
    x = torch.tensor([1.0, -1.0, 0.0])
    assert values(x / 0) == texts(inf, -inf, nan)
    assert values(x // 0) == texts(inf, -inf, nan)
    assert values(x % 0) == texts(nan, nan, nan)


@pytest.mark.parametrize("divide", [
    lambda a, b: a // b, lambda a, b: a % b, torch.fmod,
    lambda a, b: torch.div(a, b, rounding_mode="trunc"),
    lambda a, b: torch.div(a, b, rounding_mode="floor"),
])  # fmt: skip
def test_division_of_integers_by_zero_raises(divide: Any) -> None:
    with pytest.raises(RuntimeError, match=r"^ZeroDivisionError$"):
        divide(torch.tensor([1, 2]), torch.tensor([1, 0]))


def test_a_zero_remainder_keeps_the_sign_of_the_dividend() -> None:
    assert values(torch.tensor([-4.0, 4.0]) % 2) == texts(-0.0, 0.0)


def test_an_unknown_rounding_mode_is_refused() -> None:
    with pytest.raises(RuntimeError, match="one of None, 'trunc', or 'floor' but found 'up'"):
        torch.div(torch.ones(2), 2, rounding_mode="up")


def test_a_number_on_the_left_is_the_first_operand() -> None:
    x = torch.tensor([2.0, 4.0], dtype=torch.float64, requires_grad=True)
    for result, wanted, node in [
        (1 - x, [-1.0, -3.0], "RsubBackward1"),
        (2 / x, [1.0, 0.5], "MulBackward0"),
        (2**x, [4.0, 16.0], "PowBackward2"),
        (5 % x, [1.0, 1.0], "RemainderBackward0"),
    ]:
        assert result.tolist() == wanted
        if node != "RemainderBackward0":
            assert type(result.grad_fn).__name__ == node
    assert type((2 / x).grad_fn.next_functions[0][0]).__name__ == "ReciprocalBackward0"
    assert (7 // x).tolist() == [3.0, 1.0]
    assert (1 << torch.tensor([3, 4])).tolist() == [8, 16]


def test_floor_division_refuses_to_be_differentiated() -> None:
    x = torch.tensor([3.0], requires_grad=True)
    y = x // 2
    assert y.requires_grad
    with pytest.raises(RuntimeError, match="derivative for aten::floor_divide is not implemented"):
        y.backward()


# ---- powers -----------------------------------------------------------------------------------
def test_integers_to_a_negative_power_raise() -> None:
    for dtype in (torch.int64, torch.uint8):
        with pytest.raises(
            RuntimeError, match="Integers to negative integer powers are not allowed"
        ):
            torch.tensor([2], dtype=dtype) ** -1


def test_integers_to_powers_in_a_tensor_round_what_isnt_whole_towards_zero() -> None:
    powers = torch.tensor([2, 1, -1, -1, 3]) ** torch.tensor([-1, -1, -3, -2, 2])
    assert powers.tolist() == [0, 1, -1, 1, 9]


@pytest.mark.parametrize("exponent", [0, 1, 2, 3, 4, 0.5, -0.5, -1, -2, 1.7])
def test_the_short_ways_to_a_power_agree_with_the_long_one(exponent: float) -> None:
    x = torch.tensor([0.3, 1.0, 2.5], dtype=torch.float64, requires_grad=True)
    short = x**exponent
    long = torch.pow(x, torch.full((3,), float(exponent), dtype=torch.float64))
    assert torch.allclose(short, long, rtol=1e-14, atol=0)
    assert type(short.grad_fn).__name__ == "PowBackward0"
    assert short.grad_fn._saved_exponent == exponent
    (first,) = torch.autograd.grad(short.sum(), x, create_graph=True)
    (other,) = torch.autograd.grad(long.sum(), x, create_graph=True)
    assert torch.allclose(first, other, rtol=1e-13, atol=0)


def test_the_zeroth_power_of_zero_is_one_and_flat() -> None:
    assert values(torch.tensor([0.0]) ** 0) == texts(1.0)
    assert gradient(lambda x: x**0, 0.0, 2.0) == texts(0.0, 0.0)
    zero = torch.zeros(2, dtype=torch.float64)
    exponent = torch.tensor([0.0, 2.0], dtype=torch.float64, requires_grad=True)
    torch.pow(zero, exponent).sum().backward()
    assert values(exponent.grad) == texts(0.0, 0.0)


def test_a_float_exponent_makes_integers_floats() -> None:
    assert (torch.tensor([4, 9]) ** 0.5).tolist() == [2.0, 3.0]
    assert (torch.tensor([4, 9]) ** 2.0).dtype is torch.float32
    assert (torch.tensor([4, 9]) ** 2).dtype is torch.int64
    assert (torch.tensor([True]) ** 2).dtype is torch.int64


# ---- nan, infinity, signed zero ---------------------------------------------------------------
def test_clamp_keeps_nan_and_prefers_the_upper_bound() -> None:
    x = torch.tensor([nan, -3.0, 3.0, inf])
    assert values(x.clamp(-1, 1)) == texts(nan, -1.0, 1.0, 1.0)
    assert values(x.clamp(min=0)) == texts(nan, 0.0, 3.0, inf)
    assert values(x.clamp(2, 1)) == texts(nan, 1.0, 1.0, 1.0)
    assert values(torch.tensor([1.0]).clamp(torch.tensor([nan]))) == texts(nan)
    with pytest.raises(RuntimeError, match="At least one of 'min' or 'max' must not be None"):
        x.clamp()


def test_clamp_passes_gradients_at_its_bounds_and_none_beyond() -> None:
    points = (-2.0, -1.0, 0.0, 1.0, 2.0, nan)
    assert gradient(lambda x: x.clamp(-1, 1), *points) == texts(0.0, 1.0, 1.0, 1.0, 0.0, 0.0)


def test_integers_clamped_by_a_float_become_floats() -> None:
    assert torch.tensor([0, 5]).clamp(min=0.5).tolist() == [0.5, 5.0]
    assert torch.tensor([True]).clamp(0, 3).dtype is torch.int64


def test_maximum_passes_nan_on_and_fmax_doesnt() -> None:
    a, b = torch.tensor([nan, 1.0, 2.0]), torch.tensor([1.0, nan, 3.0])
    assert values(torch.maximum(a, b)) == texts(nan, nan, 3.0)
    assert values(torch.fmax(a, b)) == texts(1.0, 1.0, 3.0)
    assert values(torch.fmin(a, b)) == texts(1.0, 1.0, 2.0)


def test_maximum_shares_the_gradient_of_a_tie() -> None:
    other = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)
    assert gradient(lambda x: torch.maximum(x, other), 2.0, 2.0, 2.0) == texts(1.0, 0.5, 0.0)


def test_relu_keeps_nan_and_stops_infinite_gradients_of_dead_units() -> None:
    x = torch.tensor([nan, -1.0, 2.0], requires_grad=True)
    y = torch.relu(x)
    assert values(y) == texts(nan, 0.0, 2.0)
    y.backward(torch.tensor([1.0, inf, inf]))
    assert values(x.grad) == texts(1.0, 0.0, inf)


def test_where_stops_what_isnt_chosen_even_if_it_is_infinite() -> None:
    y = torch.tensor([0.0, 4.0], requires_grad=True)
    chosen = torch.where(y > 0, y, torch.zeros(2))
    chosen.backward(torch.tensor([inf, 1.0]))
    assert values(y.grad) == texts(0.0, 1.0)


@pytest.mark.parametrize("count", [5, 5000])
def test_where_takes_each_element_from_its_side_whatever_it_is(count: int) -> None:
    a = torch.tensor([inf, -inf, nan, -0.0, 5e-324] * (count // 5), dtype=torch.float64)
    b = torch.tensor([1.0, nan, inf, 0.0, -inf] * (count // 5), dtype=torch.float64)
    mask = torch.tensor([True, False, True, False, True] * (count // 5))
    assert values(torch.where(mask, a, b))[:5] == texts(inf, nan, nan, 0.0, 5e-324)
    assert values(torch.where(~mask, a, b))[:5] == texts(1.0, -inf, inf, -0.0, -inf)
    assert values(torch.where(mask, a, 7))[:5] == texts(inf, 7.0, nan, 7.0, 5e-324)


def test_sigmoid_and_its_kin_reach_their_limits_without_nan() -> None:
    x = torch.tensor([-inf, -1000.0, 0.0, 1000.0, inf])
    assert values(x.sigmoid()) == texts(0.0, 0.0, 0.5, 1.0, 1.0)
    assert values(torch.logaddexp(x, x))[::4] == texts(-inf, inf)
    assert gradient(torch.sigmoid, -800.0, 0.0, 800.0) == texts(0.0, 0.25, 0.0)


def test_xlogy_is_zero_where_its_first_operand_is() -> None:
    y = torch.tensor([0.0, -1.0, nan, 1.0])
    assert values(torch.xlogy(torch.zeros(4), y)) == texts(0.0, 0.0, nan, 0.0)


def test_signs_of_zero_and_nan() -> None:
    x = torch.tensor([-2.0, -0.0, 0.0, nan])
    assert torch.signbit(x).tolist()[:3] == [True, True, False]
    assert torch.sign(x).tolist() == [-1.0, 0.0, 0.0, 0.0]
    assert values(torch.copysign(torch.tensor([1.0, 1.0]), torch.tensor([-0.0, 0.0]))) == texts(
        -1.0, 1.0
    )


def test_rounding_goes_to_even_and_takes_decimals() -> None:
    assert torch.tensor([0.5, 1.5, 2.5, -0.5]).round().tolist() == [0.0, 2.0, 2.0, -0.0]
    assert torch.tensor([1.25, 17.5]).double().round(decimals=1).tolist() == [1.2, 17.5]
    assert torch.tensor([12345.0]).round(decimals=-2).tolist() == [12300.0]


def test_nan_to_num_takes_the_limits_of_the_type() -> None:
    x = torch.tensor([nan, inf, -inf, 1.0])
    assert values(x.nan_to_num(posinf=2.0)) == texts(0.0, 2.0, -3.4028234663852886e38, 1.0)


# ---- bits and truth ---------------------------------------------------------------------------
def test_shifts_by_more_bits_than_there_are_leave_zero_or_the_sign() -> None:
    assert (torch.tensor([1, -8]) << 64).tolist() == [0, 0]
    assert (torch.tensor([8, -8]) >> 70).tolist() == [0, -1]


def test_bits_of_floats_are_refused() -> None:
    with pytest.raises(
        NotImplementedError, match="\"bitwise_and_cpu\" not implemented for 'Float'"
    ):
        torch.ones(2) & torch.ones(2)
    with pytest.raises(
        NotImplementedError, match="\"bitwise_not_cpu\" not implemented for 'Float'"
    ):
        torch.bitwise_not(torch.ones(2))
    with pytest.raises(TypeError, match="only implemented on integer and Boolean-type tensors"):
        ~torch.ones(2)


def test_bools_refuse_minus() -> None:
    yes = torch.tensor([True])
    with pytest.raises(RuntimeError, match="with two bool tensors is not supported"):
        yes - yes
    with pytest.raises(RuntimeError, match="with a bool tensor is not supported"):
        1.0 - yes
    with pytest.raises(RuntimeError, match=r"^Negation, the `-` operator, on a bool tensor"):
        _ = -yes


def test_comparing_with_what_isnt_a_number_is_false_and_ordering_raises() -> None:
    x = torch.tensor([1.0])
    assert (x == "one") is False
    assert (x != None) is True  # noqa: E711
    with pytest.raises(
        TypeError, match="'<' not supported between instances of 'Tensor' and 'str'"
    ):
        _ = x < "one"
    with pytest.raises(
        TypeError, match=r"unsupported operand type\(s\) for \+: 'Tensor' and 'NoneType'"
    ):
        _ = x + None


def test_tensors_are_hashed_by_identity() -> None:
    x, y = torch.ones(2), torch.ones(2)
    assert hash(x) == id(x)
    assert len({x, y, x}) == 2


# ---- in place ---------------------------------------------------------------------------------
def test_a_result_of_a_higher_category_cant_be_written_in_place() -> None:
    x = torch.tensor([1, 2])
    for write in (
        lambda: x.add_(1.5),
        lambda: x.div_(2),
        x.exp_,
        lambda: x.mul_(torch.tensor(0.5)),
    ):
        with pytest.raises(
            RuntimeError, match=r"^result type Float can't be cast to the desired output type Long$"
        ):
            write()
    with pytest.raises(
        RuntimeError, match="result type Long can't be cast to the desired output type Bool"
    ):
        torch.tensor([True]).add_(1)
    assert x.tolist() == [1, 2]
    assert x._version == 0


def test_a_smaller_float_keeps_its_type_in_place() -> None:
    x = torch.ones(2)
    x += torch.full((2,), 0.5, dtype=torch.float64)
    assert x.dtype is torch.float32
    assert x.tolist() == [1.5, 1.5]


def test_truths_are_written_in_place_as_numbers() -> None:
    x = torch.tensor([1, 2, 3])
    assert x.lt_(2.5) is x
    assert x.tolist() == [1, 1, 0]
    assert torch.tensor([1.5, 2.0]).eq_(2).tolist() == [0.0, 1.0]


def test_an_operand_that_would_grow_the_result_is_refused_in_place() -> None:
    with pytest.raises(
        RuntimeError, match=r"output with shape \[2\] doesn't match the broadcast shape"
    ):
        torch.ones(2).add_(torch.ones(3, 2))


def test_every_in_place_operator_writes_into_its_left_side() -> None:
    x = torch.tensor([7.0, 9.0])
    same = x
    x += 1
    x -= torch.tensor([2.0, 2.0])
    x *= 2
    x /= 4
    x **= 2
    x //= 2
    x %= 3
    assert x is same
    assert x.tolist() == [1.0, 2.0]
    bits = torch.tensor([6, 5])
    also = bits
    bits &= 3
    bits |= 8
    bits ^= 1
    bits <<= 2
    bits >>= 1
    assert bits is also
    assert bits.tolist() == [22, 16]


# ---- masks ------------------------------------------------------------------------------------
def test_masks_must_be_bool_and_values_fit() -> None:
    x = torch.zeros(2)
    with pytest.raises(
        RuntimeError, match="only supports boolean masks, but got mask with dtype long int"
    ):
        x.masked_fill(torch.tensor([1, 0]), 1.0)
    with pytest.raises(RuntimeError, match="only supports a 0-dimensional value tensor"):
        x.masked_fill(torch.tensor([True, False]), torch.ones(2))
    with pytest.raises(
        RuntimeError, match="value cannot be converted to type float without overflow"
    ):
        x.masked_fill(torch.tensor([True, False]), 1j)
    with pytest.raises(
        RuntimeError, match="condition to be a boolean tensor, but got a tensor with dtype"
    ):
        torch.where(torch.tensor([1.0]), x, x)
    assert x.masked_fill(torch.tensor([True, False]), -inf).tolist() == [-inf, 0.0]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_evenly_spaced_numbers_are_rounded_once(dtype):
    steps = 101
    found = torch.linspace(-3, 5, steps, dtype=dtype).tolist()
    step = (torch.tensor(8, dtype=dtype) / 100).item()
    for i, number in enumerate(found):
        low, high = -3 + i * Fraction(step), 5 - (steps - 1 - i) * Fraction(step)
        exact = low if i < steps // 2 else high
        assert number == torch.tensor(float(exact), dtype=dtype).item()


def test_bfloat16_knows_nan_and_infinity():
    pytest.importorskip("ml_dtypes")
    x = torch.tensor([nan, 1.0, inf, -inf, -0.0], dtype=torch.bfloat16)
    assert x.nan_to_num(5.0, 6.0, 7.0).tolist() == [5.0, 1.0, 6.0, 7.0, 0.0]
    assert x.nan_to_num().tolist()[2] == torch.finfo(torch.bfloat16).max
    assert torch.sign(x).tolist() == [0.0, 1.0, 1.0, -1.0, 0.0]
    assert torch.signbit(x).tolist()[1:] == [False, False, True, True]
    assert torch.allclose(x, x, equal_nan=True)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_products_of_halves_with_numbers_are_rounded_once(dtype):
    if dtype is torch.bfloat16:
        pytest.importorskip("ml_dtypes")
    x = torch.linspace(-3, 3, 200).to(dtype)
    wide = x.float()
    for found, exact in (
        (x * 0.9, wide * 0.9),
        (x / 0.3, wide / 0.3),
        (x.clone().mul_(0.9), wide * 0.9),
        (x * torch.tensor(0.9), wide * 0.9),
        (torch.addcmul(x, x, x, value=0.3), wide + 0.3 * (wide * wide)),
    ):
        assert found.dtype is dtype and torch.equal(found, exact.to(dtype))


def test_gradients_of_halves_keep_their_type():
    pytest.importorskip("ml_dtypes")
    x = torch.tensor([1.0, 2.0], dtype=torch.bfloat16, requires_grad=True)
    (x * 0.9 + x**2.5).sum().backward()
    assert x.grad.dtype is torch.bfloat16


def test_the_ends_of_logit_may_have_changed_places() -> None:
    x = torch.tensor([0.25, 0.5, 0.875])
    assert torch.logit(x, 1.0).tolist() == [float("inf")] * 3
    low, middle, high = torch.logit(x, 0.75).tolist()
    assert low == middle > 0 > high
    torch.testing.assert_close(torch.logit(x, float("nan")), torch.logit(x))


def test_logit_of_half_precision_rounds_at_every_step() -> None:
    x = torch.tensor([0.3, 0.9], dtype=torch.float16)
    assert torch.equal(torch.logit(x), torch.log(x / (1 - x)))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_logit_between_bounds_that_cross_goes_up_first(dtype: torch.dtype) -> None:
    x = torch.tensor([0.5, 2.0, -1.0], dtype=dtype)
    assert torch.logit(x, 1).tolist() == [torch.inf, -torch.inf, torch.inf]
    assert torch.special.logit(x, -1).isnan().tolist() == [False, True, True]


def test_the_bounds_of_logit_have_the_type_of_its_input() -> None:
    assert torch.logit(torch.tensor(2.0, dtype=torch.bfloat16), 1e-5).item() == torch.inf


def test_the_gradient_of_logit_passes_what_is_no_number() -> None:
    x = torch.tensor([float("nan"), 0.5], requires_grad=True)
    torch.logit(x, 0.1).sum().backward()
    assert x.grad[0].isnan() and x.grad[1] == 4


def test_powers_of_a_number_are_in_order() -> None:
    turned = torch.ones(3, 2).t()
    assert (2**turned).stride() == (3, 1)
    assert torch.ldexp(torch.tensor(1.5), turned).stride() == (3, 1)
    assert torch.ldexp(turned, turned).stride() == (1, 2)


def test_the_gradient_of_a_product_of_one_is_the_gradient() -> None:
    x = torch.tensor(3.0, requires_grad=True)
    (grad,) = torch.autograd.grad(x.prod(), x, create_graph=True)
    assert grad.item() == 1 and grad.grad_fn is None


def test_the_logarithm_of_one_and_little_keeps_complex_digits() -> None:
    for z in (1e-19 + 1e-18j, 1e-18 + 0.1j, 0j, 2 + 1j, complex(1e250, -1), complex(-1, 0)):
        found = torch.tensor([z], dtype=torch.complex128).log1p().item()
        real = 0.5 * math.log1p(z.real * (2 + z.real) + z.imag**2) if abs(z) < 0.5 else None
        if real is None:
            size = math.hypot(1 + z.real, z.imag)
            real = math.log(size) if size else -math.inf
        assert math.isclose(found.real, real, rel_tol=1e-15) or found.real == z.real
        assert found.imag == math.atan2(z.imag, 1 + z.real)


def test_a_third_argument_of_subtract_is_alpha_of_a_number() -> None:
    x = torch.ones(3, requires_grad=True)
    found = torch.subtract(x, 2, -1)
    assert found.tolist() == [3, 3, 3]
    assert found.grad_fn.name() == "SubBackward1"
    assert torch.subtract(x, torch.tensor(2), -1).grad_fn.name() == "SubBackward0"


def test_special_round_always_has_decimals() -> None:
    x = torch.tensor([1.55], requires_grad=True)
    assert torch.special.round(x).grad_fn.name() == "RoundBackward1"
    assert torch.round(x).grad_fn.name() == "RoundBackward0"
    assert torch.special.round(x, decimals=0).tolist() == [2]


def test_a_number_of_numpy_has_the_type_of_its_kind() -> None:
    numpy = pytest.importorskip("numpy")
    x = torch.ones(2)
    assert x.to(numpy.int32(1), True).dtype is torch.int64
    assert x.to(numpy.float32(1), True).dtype is torch.float64


def test_lerp_by_a_number_may_be_written_into_another_type() -> None:
    x, out = torch.ones(3), torch.zeros(3, dtype=torch.complex64)
    assert torch.lerp(x, x, 0.3, out=out) is out
    with pytest.raises(RuntimeError, match="Found dtype ComplexFloat but expected Float"):
        torch.lerp(x, x, x, out=out)
