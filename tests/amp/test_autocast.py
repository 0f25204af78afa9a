"""Autocast and gradient scaling, without PyTorch beside it."""

import subprocess
import sys

import pytest

import rushlight as torch
from rushlight import amp, nn, optim
from rushlight.nn import functional as F


def test_products_get_the_lower_type_and_sums_do_not() -> None:
    a = torch.randn(3, 3)
    with torch.autocast("cpu"):
        assert (a @ a).dtype == torch.bfloat16
        assert (a + a).dtype == torch.float32
        assert a.double().mm(a.double()).dtype == torch.float64
    assert (a @ a).dtype == torch.float32


def test_a_lower_precision_product_is_the_product_of_rounded_operands() -> None:
    a, b = torch.randn(4, 5), torch.randn(5, 6)
    with torch.autocast("cpu", torch.bfloat16):
        found = a @ b
    exact = a.bfloat16().double() @ b.bfloat16().double()
    assert torch.equal(found, exact.bfloat16())


def test_products_of_vectors_come_as_they_are_and_matmul_converts_them() -> None:
    a, m = torch.ones(3), torch.ones(3, 3)
    with torch.autocast("cpu"):
        for function in (torch.dot, torch.inner, torch.vdot, torch.Tensor.dot, torch.Tensor.inner):
            assert function(a, a).dtype == torch.float32
            assert function(a.half(), a.half()).dtype == torch.float16
        assert torch.tensordot(a, a, 1).dtype == m.mv(a).dtype == torch.float32
        assert (a @ a).dtype == (m @ a).dtype == torch.bfloat16
        assert torch.inner(m, a).dtype == torch.vmap(torch.dot)(m, m).dtype == torch.bfloat16
        assert torch.einsum("i,i", a, a.half()).dtype == torch.bfloat16
    with pytest.raises(RuntimeError, match="expected scalar type Float but found Half"):
        torch.einsum("i,i", a, a.half())


def test_what_writes_into_out_is_not_converted() -> None:
    m, out = torch.ones(3, 3), torch.zeros(3, 3)
    with torch.autocast("cpu"):
        for function in (torch.mm, torch.matmul):
            assert function(m, m, out=out) is out and bool((out == 3).all())
        assert torch.linalg.multi_dot([m, m], out=out) is out
        vector = torch.zeros(3)
        assert torch.linalg.vecdot(m, m, out=vector) is vector and vector.tolist() == [3.0] * 3
        with pytest.raises(RuntimeError, match="tensordot: Expected the output"):
            torch.inner(m, m, out=out)
        assert (m @ m).dtype == torch.bfloat16


def test_losses_are_computed_in_float32() -> None:
    a = torch.rand(3, 4).bfloat16()
    with torch.autocast("cpu"):
        for loss in (F.mse_loss(a, a), F.l1_loss(a, a), F.kl_div(a, a, reduction="sum")):
            assert loss.dtype == torch.float32
        assert F.cross_entropy(a, torch.tensor([0, 1, 2])).dtype == torch.float32


def test_functions_that_ask_classes_first_are_converted_too() -> None:
    program = (
        "import rushlight as torch, rushlight.overrides\n"
        "from rushlight.nn import functional as F\n"
        "a = torch.rand(3, 4).half()\n"
        "with torch.autocast('cpu'):\n"
        "    assert F.l1_loss(a, a).dtype == F.kl_div(a, a).dtype == torch.float32\n"
    )
    subprocess.run([sys.executable, "-W", "ignore", "-c", program], check=True)


def test_gradients_of_weights_keep_the_weights_type() -> None:
    layer = nn.Linear(3, 2)
    with torch.autocast("cpu"):
        out = layer(torch.ones(4, 3))
    out.float().sum().backward()
    assert out.dtype == torch.bfloat16
    assert layer.weight.grad.dtype == torch.float32
    assert torch.equal(layer.weight.grad, torch.full((2, 3), 4.0))


def test_a_context_ends_with_the_switch_it_found_even_after_an_error() -> None:
    with pytest.raises(ZeroDivisionError), torch.autocast("cpu"):
        assert torch.is_autocast_enabled("cpu")
        raise ZeroDivisionError
    assert not torch.is_autocast_enabled("cpu")


def test_a_weight_used_twice_is_converted_once_and_let_go_at_the_end() -> None:
    w = torch.randn(2, 2, requires_grad=True)
    with torch.autocast("cpu"):
        first, second = w @ w, w @ w
        kept = first.grad_fn.next_functions[0][0]
        assert kept is second.grad_fn.next_functions[0][0]
    with torch.autocast("cpu"):
        assert (w @ w).grad_fn.next_functions[0][0] is not kept


def test_there_is_no_autocast_on_cuda_and_it_says_so() -> None:
    with pytest.warns(UserWarning, match="CUDA is not available"), torch.autocast("cuda"):
        assert (torch.ones(2, 2) @ torch.ones(2, 2)).dtype == torch.float32


def test_products_of_bfloat16_have_bfloat16_gradients() -> None:
    w = torch.ones(2, 2, dtype=torch.bfloat16, requires_grad=True)
    (w @ w).sum().backward()
    assert w.grad is not None and w.grad.dtype == torch.bfloat16


def test_a_scaler_takes_its_factor_out_again_and_skips_infinite_steps() -> None:
    w = torch.ones(2, requires_grad=True)
    rule, scaler = optim.SGD([w], lr=1.0), amp.GradScaler("cpu", init_scale=8.0)
    scaler.scale((w * torch.tensor([1.0, 2.0])).sum()).backward()
    assert torch.equal(w.grad, torch.tensor([8.0, 16.0]))
    scaler.step(rule)
    scaler.update()
    assert torch.equal(w.detach(), torch.tensor([0.0, -1.0]))
    rule.zero_grad()
    scaler.scale((w * float("inf")).sum()).backward()
    scaler.step(rule)
    scaler.update()
    assert torch.equal(w.detach(), torch.tensor([0.0, -1.0]))
    assert scaler.get_scale() == 4.0


def test_a_scaler_that_is_off_is_the_plain_step() -> None:
    w = torch.ones(1, requires_grad=True)
    rule, scaler = optim.SGD([w], lr=1.0), amp.GradScaler("cpu", enabled=False)
    loss = w.sum()
    assert scaler.scale(loss) is loss
    loss.backward()
    scaler.step(rule)
    scaler.update()
    assert w.item() == 0.0


@pytest.mark.parametrize("hermitian", [False, True])
def test_a_pseudo_inverse_is_a_product_of_the_lower_type(hermitian: bool) -> None:
    a = torch.tensor([[2.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 0.0]])
    exact = torch.linalg.pinv(a, hermitian=hermitian)
    assert exact.dtype is torch.float32
    with torch.autocast("cpu"):
        found = torch.linalg.pinv(a, hermitian=hermitian)
        assert torch.linalg.pinv(a.double()).dtype is torch.float64
        assert torch.linalg.pinv(a.cfloat()).dtype is torch.complex64
        assert torch.linalg.pinv(a, out=torch.empty(3, 3)).dtype is torch.float32
        assert torch.pinverse(a.bfloat16()).dtype is torch.float32
        with pytest.raises(RuntimeError, match=r"linalg.pinv\(BFloat16\{\[3, 3\]\}\)"):
            torch.linalg.pinv(a.bfloat16())
    assert found.dtype is torch.bfloat16
    torch.testing.assert_close(found.float(), exact, atol=0.01, rtol=0.01)


def test_limits_of_a_pseudo_inverse_hold_under_autocast() -> None:
    a = torch.diag(torch.tensor([1.0, 1e-3, 0.0]))
    with torch.autocast("cpu"):
        for limits in ({"atol": 1e-2}, {"atol": torch.tensor(1e-2)}, {"rtol": 0.5}):
            assert torch.linalg.pinv(a, **limits).sum() == 1
        assert torch.linalg.pinv(a, rcond=1e-4).sum() == 1001
        with pytest.raises(RuntimeError, match="expected a tensor with 2 or more dimensions"):
            torch.linalg.pinv(torch.ones(3))
