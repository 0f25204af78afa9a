"""Numbers that activations take: infinite ones, and ones that the type of the tensor can't hold."""

import pytest

import rushlight as torch

F = torch.nn.functional


@pytest.mark.parametrize("alpha", [float("inf"), -float("inf")])
def test_an_infinite_alpha_leaves_what_is_positive(alpha):
    assert F.celu(torch.tensor([1.5]), alpha).item() == 1.5
    assert F.celu(torch.tensor(1.5), alpha).item() == 1.5
    assert F.elu(torch.tensor([1.5]), alpha).item() == 1.5


def test_elu_in_place_refuses_bools_with_any_factors():
    with pytest.raises(NotImplementedError, match="\"elu_cpu\" not implemented for 'Bool'"):
        F.elu_(torch.tensor([True]), 1.3, 1.1, 0.9)


def test_the_bounds_of_hardtanh_in_place_may_cross():
    assert F.hardtanh_(torch.arange(3.0), 2, 0.5).tolist() == [0.5, 0.5, 0.5]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_bounds_beside_sixteen_bit_floats_are_rounded_where_pytorch_rounds_them(dtype):
    x = torch.tensor([0.3], dtype=dtype, requires_grad=True)  # a little more than 0.3
    for function, arguments, inside, slope in (
        (F.hardshrink, (0.3,), True, 0.0),
        (F.softshrink, (0.3,), False, 0.0),
        (F.threshold, (0.3, 9.0), False, 1.0),
    ):
        found = function(x, *arguments)
        assert (found.item() == 0) is inside
        assert found.item() < 9
        assert torch.autograd.grad(found.sum(), x)[0].item() == slope


@pytest.mark.parametrize("number", [-1.0, float("nan"), float("inf"), 1e39])
def test_softshrink_refuses_what_is_no_size_of_the_type(number):
    with pytest.raises(RuntimeError, match=r"lambda must be in range \[0, 3.40282e\+38\]"):
        F.softshrink(torch.ones(2), number)


def test_a_threshold_wraps_in_unsigned_integers():
    x = torch.tensor([1, 2], dtype=torch.uint8)
    assert torch.threshold(x, -1, 7).tolist() == [7, 7]


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        (lambda: torch.threshold(torch.tensor([1], dtype=torch.uint8), 300, 7), "uint8_t"),
        (lambda: torch.threshold(torch.tensor([1], dtype=torch.int8), 0, 200), "int8_t"),
        (lambda: F.hardshrink(torch.ones(2), 1j), "float"),
        (lambda: F.softshrink(torch.ones(2), 1j), "double"),
    ],
)
def test_a_number_out_of_range_is_refused(call, kind):
    with pytest.raises(RuntimeError, match=f"converted to type {kind} without overflow"):
        call()


@pytest.mark.parametrize("count", [3, 20_000])
def test_a_complex_number_without_imaginary_part_is_a_real_one(count):
    x = torch.full((count,), -1.0)
    assert torch.equal(F.leaky_relu(x, 0.5 + 0j), torch.full((count,), -0.5))
    with pytest.raises(RuntimeError, match="converted to type float without overflow"):
        F.leaky_relu(x, 0.5 + 1j)


@pytest.mark.parametrize("name", ["elu", "hardsigmoid", "leaky_relu", "mish", "silu", "softplus"])
@pytest.mark.parametrize("number", [3, 2.5, True])
def test_an_activation_of_a_number_is_refused(name, number):
    with pytest.raises(TypeError, match="must be Tensor, not"):
        getattr(F, name)(number)
