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


def dual_of(primal: torch.Tensor, tangent: torch.Tensor) -> torch.Tensor:
    return fw.make_dual(primal, tangent)


def tangent_of(t: torch.Tensor) -> torch.Tensor | None:
    return fw.unpack_dual(t).tangent


def test_a_write_to_a_dual_goes_into_the_tangent_that_was_given() -> None:
    x, t = values(3), values(3)
    before = t.clone()
    with fw.dual_level():
        d = dual_of(x, t)
        d.mul_(2)
        assert tangent_of(d) is t
        assert torch.equal(t, before * 2)
        assert tangent_of(x) is None


def test_a_write_through_a_view_reaches_the_tangents_of_its_base_and_of_other_views() -> None:
    with fw.dual_level():
        base = torch.ones(2, 2)
        row, column = base[0], base[:, 1]
        row.mul_(dual_of(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.0])))
        assert tangent_of(base).tolist() == [[1.0, 2.0], [0.0, 0.0]]
        assert tangent_of(column).tolist() == [2.0, 0.0]
        assert (column * 3)._is_view() is False
        assert tangent_of(column * 3).tolist() == [6.0, 0.0]


def test_detach_and_unpacking_cut_a_tensor_off_from_the_tangent() -> None:
    with fw.dual_level():
        d = dual_of(values(2), torch.ones(2, dtype=torch.float64))
        primal = fw.unpack_dual(d).primal
        primal.mul_(3)
        assert tangent_of(d).tolist() == [1.0, 1.0]
        assert tangent_of(primal) is None
        assert tangent_of(d.detach()) is None
        assert tangent_of(d.data) is None


def test_a_tangent_is_laid_out_like_its_primal() -> None:
    x = values(3, 2).t()
    t = values(2, 3)
    with fw.dual_level():
        d = dual_of(x, t)
        assert tangent_of(d).stride() == x.stride()
        assert torch.equal(tangent_of(d), t)
        assert tangent_of(dual_of(values(2, 3), t)) is t


def test_a_copy_has_a_tangent_of_its_own() -> None:
    with fw.dual_level():
        d = dual_of(values(2), torch.ones(2, dtype=torch.float64))
        d.clone().mul_(5)
        assert tangent_of(d).tolist() == [1.0, 1.0]


def test_grad_carries_tangents_without_recording_a_graph() -> None:
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    with fw.dual_level():
        d = dual_of(x, torch.ones(2, dtype=torch.float64))
        (g,) = torch.autograd.grad((d**3).sum(), d)
        assert not g.requires_grad
        assert tangent_of(g).tolist() == [6.0, 12.0]
        assert not tangent_of(g).requires_grad


def test_a_value_saved_before_a_write_keeps_its_tangent() -> None:
    x = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64, requires_grad=True)
    with fw.dual_level():
        d = dual_of(x, torch.ones(3, dtype=torch.float64))
        (g,) = torch.autograd.grad(d.clone().mul_(d).sum(), d)
        assert tangent_of(g).tolist() == [2.0, 2.0, 2.0]


def test_out_arguments_and_tangents_with_tangents_are_refused() -> None:
    with fw.dual_level():
        d = dual_of(torch.ones(2), torch.ones(2))
        with pytest.raises(NotImplementedError, match="because it is an out= function"):
            torch.add(d, 1, out=torch.ones(2))
        with pytest.raises(RuntimeError, match="that itself has a forward gradient"):
            dual_of(torch.ones(2), d)
        with pytest.raises(RuntimeError, match="already has a forward gradient at the same level"):
            dual_of(d, torch.ones(2))


def test_switched_off_forward_mode_shows_no_tangents() -> None:
    with fw.dual_level():
        d = dual_of(torch.ones(2), torch.ones(2))
        with fw._set_fwd_grad_enabled(False):
            assert tangent_of(d) is None
            assert "tangent" not in repr(d)
            e = d * 2
        assert tangent_of(e) is None
        assert "tangent" in repr(d)


def test_a_rows_own_rule_is_used_for_tangents() -> None:
    from rushlight._core.apply import apply_n
    from rushlight._table.elementwise.arithmetic import square

    seen: list[float] = []

    def rule(self: torch.Tensor, self_t: torch.Tensor) -> torch.Tensor:
        seen.append(self_t.item())
        return self_t * self * 2

    square.jvp = rule
    try:
        with fw.dual_level():
            d = dual_of(torch.tensor([3.0]), torch.tensor([5.0]))
            assert tangent_of(apply_n(square.op, [d])).item() == 30.0
    finally:
        square.jvp = None
    assert seen == [5.0]


def test_a_batch_of_tangents_is_laid_out_like_the_primal() -> None:
    base, t = torch.zeros(2, 2), torch.rand(3, 2, 2)
    turned = torch.zeros(2, 2).t()

    def along(t):
        with fw.dual_level():
            dual = fw.make_dual(base, t)
            turned.copy_(dual)
            return tuple(fw.unpack_dual(x).tangent for x in (dual, turned, turned._base))

    same, view, whole = torch._vmap_internals._vmap(along)(t)
    assert same is t and view._base is whole and view.equal(t) and whole.equal(t.mT)


def test_a_view_of_all_of_its_base_shares_the_tangent() -> None:
    base, t = torch.zeros(2, 2), torch.rand(2, 2)
    view = base.view_as(base)
    with fw.dual_level():
        view.copy_(fw.make_dual(torch.zeros(2, 2), t))
        parts = [fw.unpack_dual(x).tangent for x in (view, base)]
        assert parts[0] is parts[1] and parts[0].equal(t) and not parts[0]._is_view()


def test_a_window_under_vmap_stays_inside_of_its_example() -> None:
    x = torch.arange(12.0).view(3, 4)
    assert torch.vmap(lambda x: x.as_strided((2,), (1,), 2))(x).equal(x[:, 2:])
    with pytest.raises(RuntimeError, match=r"can access some memory in range \[0, 5\]"):
        torch.vmap(lambda x: x.as_strided((5,), (1,), 0))(x)


@pytest.mark.parametrize("kind", [torch.float16, torch.float64, torch.complex128])
def test_tangents_of_joined_tensors_are_joined_in_their_own_type(kind: torch.dtype) -> None:
    x = torch.tensor([[1.0, 2.0]])
    t = torch.tensor([[1.25, -2.5]], dtype=kind)
    third = 1 / torch.tensor(3.0, dtype=kind)
    with fw.dual_level():
        dual = fw.make_dual(x, t * third)
        for join in (torch.cat, torch.stack, torch.hstack, lambda xs: torch.block_diag(*xs)):
            tangent = fw.unpack_dual(join([dual, dual])).tangent
            assert tangent.dtype is kind and torch.equal(tangent, join([t * third, t * third]))
        mixed = fw.unpack_dual(torch.cat([torch.zeros(0), dual, x])).tangent
        assert torch.equal(mixed, torch.cat([t * third, torch.zeros(1, 2)]))


def test_the_tangent_of_a_joined_tensor_has_a_history() -> None:
    x, t = torch.tensor([2.0], requires_grad=True), torch.tensor([3.0])
    with fw.dual_level():
        dual = fw.make_dual(x, t)
        tangent = fw.unpack_dual(torch.stack([dual * dual, dual])).tangent
        (g,) = torch.autograd.grad(tangent.sum(), x)
    assert tangent.tolist() == [[12.0], [3.0]] and g.tolist() == [6.0]
