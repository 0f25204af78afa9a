"""Forward mode: tangents agree with what backward gives, and die with their level."""

from collections.abc import Callable

import pytest

import rushlight as torch

fw = torch.autograd.forward_ad


def values(*shape: int) -> torch.Tensor:
    torch.manual_seed(3)
    return torch.rand(*shape, dtype=torch.float64) + 0.5


FUNCTIONS: list[Callable[[torch.Tensor], torch.Tensor]] = [
    lambda x: x.exp(),
    lambda x: x * x * 3 - x / 2,
    lambda x: 1 / x,
    lambda x: x.sum(),
    lambda x: x.sum(0),
    lambda x: x.t() @ x,
    lambda x: x.reshape(6) * 2,
    lambda x: torch.cat([x, x * x], 1),
    lambda x: x.softmax(1),
    lambda x: x.prod(),
    lambda x: x.amax(1),
    lambda x: x[0] * x[1],
    lambda x: x.expand(2, 2, 3),
    lambda x: torch.nn.functional.linear(x, x, x.sum(1)),
    lambda x: x.masked_fill(x > 1, 7.0),
    lambda x: torch.where(x > 1, x, x * x),
    lambda x: x.cumsum(1),
    lambda x: x.float().double() * x,
]


@pytest.mark.parametrize("number", range(len(FUNCTIONS)))
def test_a_tangent_is_the_jacobian_times_the_direction(number: int) -> None:
    f = FUNCTIONS[number]
    x, v = values(2, 3), values(2, 3) * 2 - 1
    with fw.dual_level():
        found = fw.unpack_dual(f(fw.make_dual(x, v)))
    # <u, J v> = <Jᵀ u, v> for a random u
    y = f(x.requires_grad_())
    u = torch.rand(y.shape, dtype=torch.float64)
    (g,) = torch.autograd.grad(y, x, u)
    assert found.primal.shape == found.tangent.shape == y.shape
    left, right = (u * found.tangent).sum().item(), (g * v).sum().item()
    assert left == pytest.approx(right, rel=1e-5)


def test_several_dual_operands_add_their_parts() -> None:
    a, b = values(3), values(3) + 1
    with fw.dual_level():
        x, y = fw.make_dual(a, torch.ones(3).double()), fw.make_dual(b, torch.ones(3).double() * 2)
        tangent = fw.unpack_dual(x * y).tangent
    assert (tangent - (b + 2 * a)).abs().max().item() < 1e-12


def test_tangents_are_gone_after_the_level() -> None:
    with fw.dual_level():
        d = fw.make_dual(torch.ones(1), torch.ones(1))
        assert fw.unpack_dual(d * 2).tangent.item() == 2.0
    with fw.dual_level():
        assert fw.unpack_dual(d * 2).tangent is None


def test_levels_are_needed_and_dont_nest() -> None:
    with pytest.raises(RuntimeError, match="no level exists, make sure to enter_dual_level"):
        fw.make_dual(torch.ones(1), torch.ones(1))
    with (
        fw.dual_level(),
        pytest.raises(RuntimeError, match="Nested forward mode AD is not supported"),
    ):
        fw.enter_dual_level()
    with pytest.raises(RuntimeError, match="Dual level must be a positive number"):
        fw.exit_dual_level()


def test_tangents_must_fit() -> None:
    with fw.dual_level():
        with pytest.raises(RuntimeError, match="a different size than that of the original Tensor"):
            fw.make_dual(torch.ones(2), torch.ones(3))
        with pytest.raises(ValueError, match="Expected primal to be floating point or complex"):
            fw.make_dual(torch.ones(2).long(), torch.ones(2).long())
        d = fw.make_dual(torch.ones(2), torch.ones(2))
        with pytest.raises(
            RuntimeError, match="already has a forward gradient at the same level 0"
        ):
            fw.make_dual(d, torch.ones(2))


def test_forward_over_reverse_gives_a_hessian_times_a_vector() -> None:
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    with fw.dual_level():
        d = fw.make_dual(x, torch.tensor([1.0, 0.5], dtype=torch.float64))
        (g,) = torch.autograd.grad((d * d * d.exp()).sum(), d, create_graph=True)
        tangent = fw.unpack_dual(g).tangent
    expected = (2 + 4 * x + x * x) * x.exp() * torch.tensor([1.0, 0.5], dtype=torch.float64)
    assert (tangent - expected).abs().max().item() < 1e-9


def test_reverse_over_forward_differentiates_the_tangent() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with fw.dual_level():
        d = fw.make_dual(x, torch.ones(2))
        fw.unpack_dual(d * d * d).tangent.sum().backward()
    assert x.grad.tolist() == [6.0, 12.0]


def test_in_place_writes_and_views_carry_tangents() -> None:
    with fw.dual_level():
        d = fw.make_dual(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 10.0]))
        y = d * 1
        y.mul_(3)
        assert fw.unpack_dual(y).tangent.tolist() == [3.0, 30.0]
        y[0] = 7.0
        assert fw.unpack_dual(y).tangent.tolist() == [0.0, 30.0]
        z = torch.zeros(2)
        z[1] = d[0]
        assert fw.unpack_dual(z).tangent.tolist() == [0.0, 1.0]
        assert fw.unpack_dual(d.detach()).tangent is None


def test_integers_have_no_tangent_and_the_switch_turns_forward_mode_off() -> None:
    with fw.dual_level():
        d = fw.make_dual(torch.tensor([1.0, 3.0]), torch.ones(2))
        assert fw.unpack_dual(d > 2).tangent is None
        with fw._set_fwd_grad_enabled(False):
            assert fw.unpack_dual(d * 2).tangent is None
        assert fw.unpack_dual(d * 2).tangent is not None
        assert repr(d) == "tensor([1., 3.], tangent=tensor([1., 1.]))"
