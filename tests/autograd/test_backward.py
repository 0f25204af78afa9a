"""`backward` and `grad`: inputs, seeds, batches, unused inputs."""

import pytest

import rushlight as torch

grad = torch.autograd.grad


def leaf(*values: float) -> torch.Tensor:
    return torch.tensor(values, requires_grad=True)


def test_inputs_limits_what_accumulates() -> None:
    x, y = leaf(1.0), leaf(2.0)
    (x * y).backward(inputs=[x])
    assert x.grad.item() == 2.0 and y.grad is None
    (x * y).backward(inputs=y)
    assert y.grad.item() == 1.0


def test_inputs_may_name_an_intermediate_which_then_retains() -> None:
    x = leaf(3.0)
    y = x * 2
    z = y * y
    z.backward(inputs=[y])
    assert y.grad.item() == 12.0 and x.grad is None and y.retains_grad


def test_grad_doesnt_run_the_node_of_an_intermediate_input_so_it_keeps_what_it_saved() -> None:
    x = leaf(3.0)
    y = x * x
    grad(y * 2, y)
    y.backward()
    assert x.grad.item() == 6.0


def test_branches_that_lead_to_no_input_arent_run() -> None:
    x, w = leaf(1.0), leaf(2.0)
    ran: list[str] = []
    a, b = x * 2, w * 2
    a.register_hook(lambda g: ran.append("a"))
    b.register_hook(lambda g: ran.append("b"))
    grad((a * b).sum(), w)
    assert ran == ["b"]


def test_grad_leaves_the_grad_field_alone_and_gives_a_tuple() -> None:
    x, y = leaf(1.0, 2.0), leaf(3.0, 4.0)
    got = grad((x * y).sum(), (x, y, x))
    assert isinstance(got, tuple) and [g.tolist() for g in got] == [
        [3.0, 4.0],
        [1.0, 2.0],
        [3.0, 4.0],
    ]
    assert x.grad is None


def test_an_output_may_be_its_own_input() -> None:
    z = leaf(2.0) * 3
    assert grad(z, z)[0].item() == 1.0


def test_unused_inputs_are_an_error_none_or_zeros() -> None:
    x, y = leaf(1.0), leaf(2.0)
    with pytest.raises(
        RuntimeError, match="The differentiated Tensor at index 1 appears to not have been"
    ):
        grad(x * 2, (x, y))
    assert grad(x * 2, (x, y), allow_unused=True)[1] is None
    zeros = grad(x * 2, (x, y), materialize_grads=True)[1]
    assert zeros.item() == 0.0 and not zeros.requires_grad
    with pytest.raises(ValueError, match="Expected allow_unused to be True or not passed"):
        grad(x * 2, (x, y), materialize_grads=True, allow_unused=False)


def test_batched_gradients_are_stacked() -> None:
    x = leaf(1.0, 2.0, 3.0)
    seeds = torch.tensor([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    (j,) = grad(x * x, x, seeds, is_grads_batched=True)
    assert j.tolist() == [[2.0, 0.0, 0.0], [0.0, 4.0, 0.0], [0.0, 0.0, 6.0]]
    with pytest.raises(RuntimeError, match="we interpret the first dimension of each grad_output"):
        grad(x * x, x, torch.ones(3), is_grads_batched=True)


def test_several_roots_add_up_and_one_root_twice_counts_twice() -> None:
    x = leaf(1.0, 2.0)
    torch.autograd.backward([x * 2, x * 3], [torch.ones(2), torch.tensor([10.0, 20.0])])
    assert x.grad.tolist() == [32.0, 62.0]
    y = (x * 2).sum()
    x.grad = None
    torch.autograd.backward([y, y])
    assert x.grad.tolist() == [4.0, 4.0]


def test_a_seed_of_another_float_type_is_cast() -> None:
    x = leaf(1.0, 2.0)
    (x * 2).backward(torch.ones(2, dtype=torch.float64))
    assert x.grad.dtype == torch.float32


def test_hooks_run_for_grad_too() -> None:
    x = leaf(1.0)
    x.register_hook(lambda g: g * 10)
    y = x * 2
    y.register_hook(lambda g: g * 3)
    assert grad(y, x)[0].item() == 60.0 and x.grad is None


def test_post_accumulate_hooks_dont_run_for_grad() -> None:
    x = leaf(1.0)
    x.register_post_accumulate_grad_hook(lambda t: pytest.fail("nothing was accumulated"))
    grad(x * 2, x)


@pytest.mark.parametrize("name", ["zero_", "exp_", "neg_"])
def test_the_gradient_of_one_element_may_be_written(name: str) -> None:
    a = torch.tensor(2.0, requires_grad=True)
    b = a.view(1, 1) * 1
    b.register_hook(lambda g: getattr(g, name)())
    b.sum().backward()
    assert a.grad == getattr(torch.ones(()), name)()
