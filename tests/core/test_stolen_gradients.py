"""Large gradients of joint formulas become `.grad` without a copy, and nobody else sees them."""

import rushlight as rl
import rushlight.nn.functional as F


def test_the_gradients_of_a_norm_are_not_those_of_the_next_step() -> None:
    x = rl.randn(64, 128, requires_grad=True)
    weight = rl.ones(128, requires_grad=True)
    g = rl.randn(64, 128)
    before = g.clone()
    F.layer_norm(x, (128,), weight).backward(g)
    first = x.grad
    assert first is not None
    kept = first.clone()
    x.grad = None
    F.layer_norm(x, (128,), weight).backward(g)
    second = x.grad
    assert second is not None and second.data_ptr() != first.data_ptr()
    assert bool((first == kept).all()) and bool((g == before).all())
    second.zero_()
    assert bool((first == kept).all())


def test_an_array_that_two_inputs_get_is_nobodys_own() -> None:
    x, y = (rl.randn(100, 100, requires_grad=True) for _ in range(2))
    g = rl.ones(100, 200)
    rl.cat([x, y], 1).backward(g)
    assert x.grad is not None and y.grad is not None
    x.grad.add_(1)
    assert bool((y.grad == 1).all()) and bool((g == 1).all())


def test_a_gradient_passed_on_as_it_is_stays_the_callers() -> None:
    q, k, v = (rl.randn(2, 4, 64, 32, requires_grad=True) for _ in range(3))
    g = rl.randn(2, 4, 64, 32)
    before = g.clone()
    F.scaled_dot_product_attention(q, k, v).backward(g)
    for leaf in (q, k, v):
        assert leaf.grad is not None
        leaf.grad.zero_()
    assert bool((g == before).all())


def test_a_hook_that_keeps_a_gradient_keeps_its_numbers() -> None:
    x = rl.randn(64, 128, requires_grad=True)
    seen = []
    out = F.layer_norm(x, (128,))
    assert out.grad_fn is not None
    out.grad_fn.register_hook(lambda given, taken: seen.append(given[0]))
    out.sum().backward()
    assert x.grad is not None
    kept = seen[0].clone()
    x.grad.zero_()
    assert bool((seen[0] == kept).all())
