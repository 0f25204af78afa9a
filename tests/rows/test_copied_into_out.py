"""`out=` of functions that are made of others: which type it may have, and whether it records."""

from __future__ import annotations

import pytest

import rushlight as torch

SQUARE = [[2.0, 1.0], [1.0, 3.0]]


def square(grad=False, dtype=torch.float32):
    return torch.tensor(SQUARE, dtype=dtype, requires_grad=grad)


COPIED = {
    "norm": lambda x, out: torch.linalg.norm(x, out=out),
    "norm of a matrix": lambda x, out: torch.linalg.norm(x, 2, (0, 1), out=out),
    "matrix_norm": lambda x, out: torch.linalg.matrix_norm(x, "nuc", out=out),
    "torch.norm": lambda x, out: torch.norm(x, "nuc", out=out),
    "cond": lambda x, out: torch.linalg.cond(x, 1, out=out),
    "tensorinv": lambda x, out: torch.linalg.tensorinv(x, 1, out=out),
    "tensorsolve": lambda x, out: torch.linalg.tensorsolve(x, x[0], out=out),
    "matrix_power": lambda x, out: torch.linalg.matrix_power(x, 1, out=out),
    "tensordot": lambda x, out: torch.tensordot(x, x, 1, out=out),
    "inner": lambda x, out: torch.inner(x, x, out=out),
    "quantile": lambda x, out: torch.quantile(x, 0.5, out=out),
    "diff": lambda x, out: torch.diff(x, 0, out=out),
}


@pytest.mark.parametrize("name", COPIED)
def test_what_is_copied_into_out_has_its_history(name):
    x = square(grad=True)
    plain = COPIED[name](x, None)
    (expected,) = torch.autograd.grad(plain.sum(), x)
    out = torch.zeros(plain.shape)
    assert COPIED[name](x, out) is out
    assert type(out.grad_fn).__name__ == "CopyBackwards"
    (got,) = torch.autograd.grad(out.sum(), x)
    assert torch.allclose(out, plain) and torch.allclose(got, expected)


@pytest.mark.parametrize("name", COPIED)
def test_a_leaf_that_requires_grad_is_no_out_of_them(name):
    plain = COPIED[name](square(), None)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used"):
        COPIED[name](square(), torch.zeros(plain.shape, requires_grad=True))


def test_a_power_of_zero_has_no_history():
    out = torch.zeros(2, 2)
    assert torch.linalg.matrix_power(square(grad=True), 0, out=out).grad_fn is None


@pytest.mark.parametrize("grad", [False, True])
@pytest.mark.parametrize("name", ["norm", "matrix_norm"])
def test_norms_have_an_out_of_their_own_type(name, grad):
    call = getattr(torch.linalg, name)
    text = f"linalg.{name} expected out tensor dtype Double but got: "
    for wrong, shown in ((torch.float32, "Float"), (torch.complex128, "ComplexDouble")):
        with pytest.raises(RuntimeError, match=text + shown):
            call(square(grad, torch.float64), out=torch.zeros((), dtype=wrong))


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda x, out: torch.linalg.cond(x, out=out), "linalg.cond"),
        (lambda x, out: torch.linalg.tensorinv(x, 1, out=out), "tensorinv"),
        (lambda x, out: torch.linalg.tensorsolve(x, x[0], out=out), "tensorsolve"),
        (lambda x, out: torch.linalg.matrix_power(x, 1, out=out), "matrix_power"),
    ],
)
def test_others_say_that_no_cast_is_safe(call, said):
    with pytest.raises(RuntimeError, match=f"^{said}: Expected result to be safely castable"):
        call(square(), torch.zeros(2, 2, dtype=torch.int64))


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda x: torch.linalg.multi_dot([x, x], out=torch.zeros(2, 2)), "mm"),
        (lambda x: torch.chain_matmul(x, x, out=torch.zeros(2, 2)), "mm"),
        (lambda x: torch.linalg.vecdot(x, x, out=torch.zeros(2)), "sum"),
        (lambda x: torch.linalg.vecdot(x[0], x[0], out=torch.zeros(())), "vdot"),
        (lambda x: torch.kron(x, x, out=torch.zeros(4, 4)), "mul"),
        (lambda x: torch.outer(x[0], x[0], out=torch.zeros(2, 2)), "mul"),
        (lambda x: torch.diff(x, out=torch.zeros(2, 1)), "sub"),
        (lambda x: torch.linalg.matrix_power(x, 2, out=torch.zeros(2, 2)), "matmul"),
        (lambda x: torch.linalg.matrix_power(x, -1, out=torch.zeros(2, 2)), "linalg_inv_ex"),
        (lambda x: torch.linalg.pinv(x, out=torch.zeros(2, 2)), "linalg_pinv"),
        (lambda x: torch.linalg.svdvals(x, out=torch.zeros(2)), "_linalg_svd"),
        (lambda x: torch.linalg.vector_norm(x, out=torch.zeros(())), "linalg_vector_norm"),
        (lambda x: torch.float_power(x, 2, out=torch.zeros(2, 2).double()), "pow"),
    ],
)
@pytest.mark.filterwarnings("ignore:torch.chain_matmul is deprecated")
def test_those_that_write_it_name_the_function_that_does(call, said):
    with pytest.raises(RuntimeError, match=rf"^{said}\(\): functions with out="):
        call(square(grad=True))


def test_some_look_at_the_type_of_out_before_gradients():
    x = square(grad=True)
    with pytest.raises(RuntimeError, match="the output given to float_power has dtype Float"):
        torch.float_power(x, 2, out=torch.zeros(2, 2))
    with pytest.raises(RuntimeError, match="heaviside is not yet implemented for tensors with"):
        torch.heaviside(x, x, out=torch.zeros(2, 2, dtype=torch.bool))
    with pytest.raises(RuntimeError, match=r"multi_dot.* expected out tensor to have dtype float"):
        torch.linalg.multi_dot([x, x], out=torch.zeros(2, 2).double())


def test_a_variance_is_computed_in_the_type_of_out():
    x = torch.tensor([[0.1, 0.2, 0.4], [1.1, 3.2, 0.3]]).half()
    for function in (torch.std, torch.var):
        out = function(x, 1, out=torch.zeros(2, dtype=torch.float64))
        assert torch.equal(out, function(x.double(), 1))


@pytest.mark.parametrize("dtype", [torch.complex64, torch.complex128])
def test_a_variance_of_real_numbers_is_not_written_as_complex_ones(dtype):
    kind = {torch.complex64: "Float", torch.complex128: "Double"}[dtype]
    x = square(dtype=torch.float64)
    with pytest.raises(NotImplementedError, match=f'"std_cpu" not implemented for .Complex{kind}'):
        torch.var(x, 1, out=torch.zeros(2, dtype=dtype))
    assert torch.allclose(
        torch.var(x, out=torch.zeros((), dtype=dtype)).real.double(), torch.var(x)
    )


def test_a_variance_of_half_precision_has_no_other_type_in_one_element():
    with pytest.raises(RuntimeError, match=r"^std_var_all: Unsupported dtype Half$"):
        torch.std(square().half(), out=torch.zeros(()))
