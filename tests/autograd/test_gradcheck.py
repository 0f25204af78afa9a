"""`gradcheck` accepts right gradients and finds wrong ones, in every mode."""

from typing import Any

import pytest

import rushlight as torch

check = torch.autograd.gradcheck
check2 = torch.autograd.gradgradcheck


def point(*values: float) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


def function(forward: Any, backward: Any, materialize: bool = True) -> Any:
    class Made(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(materialize)
            ctx.save_for_backward(x)
            return forward(x)

        @staticmethod
        def backward(ctx, g):
            return backward(g, *ctx.saved_tensors)

    return Made.apply


WRONG = function(lambda x: x * 2, lambda g, x: g * 3)
# Right in the first order, wrong in the second: backward hides how it depends on x.
HIDDEN = function(lambda x: x * x, lambda g, x: g * 2 * x.detach())


@pytest.mark.parametrize("fast", [False, True])
def test_right_gradients_pass(fast: bool) -> None:
    x, y = point(0.5, -1.5, 2.0), point(1.0, 2.0, 3.0)
    assert check(lambda a, b: (a.exp() * b, a / b), (x, y), fast_mode=fast)
    assert check2(lambda a, b: a * a * b, (x, y), fast_mode=fast)


@pytest.mark.parametrize("fast", [False, True])
def test_a_wrong_gradient_is_found_and_shown(fast: bool) -> None:
    x = point(1.0, 2.0)
    assert check(WRONG, (x,), raise_exception=False, fast_mode=fast) is False
    with pytest.raises(torch.autograd.GradcheckError) as caught:
        check(WRONG, (x,), fast_mode=fast)
    text = str(caught.value)
    assert text.startswith("Jacobian mismatch for output 0 with respect to input 0,\nnumerical:")
    assert "[[3., 0.],\n        [0., 3.]], dtype=torch.float64)" in text


def test_a_wrong_second_derivative_is_found() -> None:
    x = point(1.0, 2.0)
    assert check(HIDDEN, (x,))
    assert check2(HIDDEN, (x,), raise_exception=False) is False
    assert check2(lambda t: t * t * t, (x,), gen_non_contig_grad_outputs=True)


def test_forward_mode_is_checked_when_asked_for() -> None:
    x = point(0.5, 1.5)
    assert check(lambda t: (t * t).exp(), (x,), check_forward_ad=True)
    assert check(lambda t: (t * t).exp(), (x,), check_forward_ad=True, fast_mode=True)
    assert check2(lambda t: t * t * t, (x,), check_fwd_over_rev=True)


def test_a_backward_that_gives_other_numbers_each_time_is_found() -> None:
    noisy = function(lambda x: x * 2, lambda g, x: g * 2 + torch.rand(()).double() * 1e-7)
    x = point(1.0, 2.0)
    with pytest.raises(torch.autograd.GradcheckError, match="Backward is not reentrant"):
        check(noisy, (x,))
    assert (
        check(noisy, (x,), nondet_tol=1e-6, check_undefined_grad=False, raise_exception=False)
        is False
    )
    steady = function(lambda x: x * 2, lambda g, x: g * (2 + torch.rand(()).double() * 1e-7))
    assert check(steady, (x,), nondet_tol=1e-6)


def test_a_function_without_differentiable_output_must_be_constant() -> None:
    x = point(1.0, 2.0)
    with pytest.raises(torch.autograd.GradcheckError, match="expected to be zero"):
        check(lambda t: t.detach() * 1, (x,))
    assert check(lambda t: t.detach() * 0, (x,))


def test_a_backward_that_ignores_undefined_gradients_is_found() -> None:
    careless = function(lambda x: x * 2, lambda g, x: g * 2, materialize=False)
    with pytest.raises(TypeError):
        check(careless, (point(1.0),))
    assert check(careless, (point(1.0),), check_undefined_grad=False)


def test_batched_gradients_are_compared_when_asked_for() -> None:
    assert check(lambda t: t * t, (point(1.0, 2.0),), check_batched_grad=True)


def test_wrong_uses_are_told() -> None:
    with pytest.raises(ValueError, match="expects at least one input tensor to require gradient"):
        check(lambda t: t * 2, (torch.ones(1, dtype=torch.float64),))
    with pytest.raises(AssertionError, match="Expected at least one of check_forward_ad or"):
        check(lambda t: t * 2, (point(1.0),), check_backward_ad=False)
    with pytest.raises(RuntimeError, match="The 0th input has a dimension with stride 0"):
        wide = torch.ones(1, dtype=torch.float64).expand(3).requires_grad_()
        check(lambda t: t * 2, (wide,))
    with pytest.warns(
        UserWarning, match="Input #0 requires gradient and is not a double precision"
    ):
        check(lambda t: t * 2, (torch.ones(1, requires_grad=True),), eps=1e-2, atol=1e-1)


def test_inputs_keep_their_values_and_their_gradients() -> None:
    x = point(1.0, 2.0)
    check(lambda t: t * t, (x,))
    assert x.tolist() == [1.0, 2.0] and x.grad is None


def test_a_wrong_jvp_is_found_and_named() -> None:
    class Wrong(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

        @staticmethod
        def jvp(ctx, t):
            return t * 3

    for fast in (False, True):
        assert check(Wrong.apply, point(1.0, 2.0), fast_mode=fast)
        with pytest.raises(RuntimeError, match="Jacobian computed with forward mode mismatch"):
            check(Wrong.apply, point(1.0, 2.0), fast_mode=fast, check_forward_ad=True)


def test_inputs_that_are_one_tensor_move_together() -> None:
    x = point(1.0, 2.0)
    assert check(lambda a, b: a * b, (x, x))
    assert x.tolist() == [1.0, 2.0]


def test_batches_are_checked_in_both_modes() -> None:
    assert check(torch.mul, (point(1.0, 2.0), point(3.0, 4.0)), check_forward_ad=True,
                 check_batched_grad=True, check_batched_forward_grad=True)  # fmt: skip


def test_options_that_need_a_backward_are_refused_without_one() -> None:
    with pytest.raises(AssertionError, match="Setting check_undefined_grad=True requires"):
        check2(torch.sin, point(1.0), check_fwd_over_rev=True, check_rev_over_rev=False)


@pytest.mark.parametrize("fast", [True, False])
@pytest.mark.parametrize("layout", [torch.sparse_coo, torch.sparse_csr])
def test_sparse_inputs_are_checked_at_their_places(layout, fast) -> None:
    x = torch.rand(2, 3, dtype=torch.double).to_sparse(layout=layout).requires_grad_()
    a = torch.rand(2, 3, dtype=torch.double, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: x.sum(), x, masked=True, fast_mode=fast)
    assert torch.autograd.gradcheck(
        lambda a, x: a * x.to_dense(), (a, x), masked=True, fast_mode=fast
    )

    class Wrong(torch.autograd.Function):
        @staticmethod
        def forward(ctx, v):
            return v * 2

        @staticmethod
        def backward(ctx, g):
            return g

    assert not torch.autograd.gradcheck(
        lambda x: Wrong.apply(x.to_dense()), x, masked=True, fast_mode=fast, raise_exception=False
    )


def test_an_empty_input_has_no_stride_of_zero() -> None:
    x = torch.rand(5, 1, 0, 2, dtype=torch.double, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: x * 2, x)


def test_elements_that_a_class_keeps_are_moved_through_it() -> None:
    class Kept(torch.Tensor):
        @staticmethod
        def __new__(cls, inner, requires_grad=False):
            made = torch.Tensor._make_wrapper_subclass(
                cls, inner.size(), dtype=inner.dtype, requires_grad=requires_grad
            )
            made.inner = inner.detach()
            return made

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            inner = [a.inner if isinstance(a, Kept) else a for a in args]
            found = func(*inner, **(kwargs or {}))
            return Kept(found) if isinstance(found, torch.Tensor) else found

    x = Kept(torch.rand(2, 2, dtype=torch.double), requires_grad=True)
    for fast in (True, False):
        assert torch.autograd.gradcheck(lambda y: (x * y).sum(0), (x,), fast_mode=fast)
        assert not torch.autograd.gradcheck(
            lambda y: (x.detach() * y).sum(0), (x,), fast_mode=fast, raise_exception=False
        )


def test_sparse_inputs_have_no_batched_gradients_and_sparse_outputs_no_check() -> None:
    x = torch.rand(4, dtype=torch.double).to_sparse().requires_grad_()
    assert torch.autograd.gradcheck(lambda x: x.to_dense(), (x,), masked=True)
    with pytest.raises(RuntimeError, match="Could not run 'aten::view' with arguments from the 'S"):
        torch.autograd.gradcheck(lambda x: x.to_dense(), (x,), check_batched_grad=True)
    with pytest.raises(ValueError, match="Sparse output is not supported at gradcheck yet"):
        torch.autograd.gradcheck(lambda x: x * x, (x,))


def test_fast_mode_takes_numbers_of_its_own() -> None:
    torch.manual_seed(0)
    expected = torch.rand(3)
    torch.manual_seed(0)
    x = torch.ones(3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(torch.sin, (x,), fast_mode=True, check_batched_grad=False)
    assert torch.equal(torch.rand(3), expected)
