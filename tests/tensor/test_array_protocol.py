"""Tensors in NumPy's functions, in DLPack, under the array API, and in SciPy's minimizers."""

import numpy as np
import pytest
from rushlight.optimize import flattened, hessian_product, unflattened, value_and_grad

import rushlight as rl
from rushlight.utils.dlpack import from_dlpack, to_dlpack


def test_a_universal_function_of_a_tensor_that_requires_grad_has_a_gradient() -> None:
    t = rl.tensor([1.0, 2.0], requires_grad=True)
    y = np.maximum(np.sin(t) * 2, 1.9) + np.subtract(np.ones(2, np.float32), t)
    y.sum().backward()
    assert rl.allclose(t.grad, rl.tensor([-1.0, -1.0]))
    assert (np.float64(2) * t).dtype is rl.float32
    assert np.equal(t, t.detach()).tolist() == [True, True]


def test_without_gradients_numpy_computes() -> None:
    d = rl.tensor([1.0, 4.0])
    assert isinstance(np.sqrt(d), rl.Tensor) and np.add.reduce(d).item() == 5.0
    out = np.zeros(2)
    assert np.add(d, 1, out=out) is out and out.tolist() == [2.0, 5.0]
    out += d
    assert type(out) is np.ndarray and out.tolist() == [3.0, 9.0]
    assert np.modf(d)[1].tolist() == [1.0, 4.0]
    with pytest.raises(RuntimeError, match="Can't call numpy"):
        np.add.reduce(d.requires_grad_())


def test_dlpack_shares_memory_both_ways() -> None:
    d = rl.arange(3.0)
    seen = np.from_dlpack(d)  # not to be written to with NumPy 2.0
    d[0] = 7
    assert seen[0] == 7 and d.__dlpack_device__() == (1, 0)
    array = np.zeros(2)
    rl.from_dlpack(array)[1] = 5
    assert array[1] == 5
    assert from_dlpack(to_dlpack(d)).data_ptr() == d.data_ptr()
    with pytest.raises(BufferError, match="require gradient"):
        d.requires_grad_().__dlpack__()


def test_the_array_namespace_takes_axes() -> None:
    t = rl.tensor([[1.0, 5.0], [3.0, 2.0]], requires_grad=True)
    xp = t.__array_namespace__()
    assert xp.sum(t, axis=1, keepdims=True).shape == (2, 1)
    assert xp.max(t).item() == 5 and xp.argmax(t, axis=0).tolist() == [1, 0]
    assert xp.prod(t).item() == 30 and xp.sort(t, axis=0, descending=True)[0, 0].item() == 3
    assert xp.concat([t, t], axis=None).shape == (8,) and xp.permute_dims(t, (1, 0)).shape == (2, 2)
    assert xp.isdtype(xp.float32, ("integral", "real floating"))
    assert not xp.isdtype(xp.int8, "unsigned integer")
    assert xp.astype(t, xp.int64).dtype is rl.int64
    assert round(xp.std(t, axis=(0, 1)).item(), 4) == 1.4790
    with pytest.raises(ValueError, match="no version"):
        t.__array_namespace__(api_version="1999")


def test_scipy_minimizes_functions_of_tensors() -> None:
    optimize = pytest.importorskip("scipy.optimize")

    def f(x: rl.Tensor) -> rl.Tensor:
        return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()

    x = np.array([0.3, -0.2, 0.5])
    value, slope = value_and_grad(f)(x)
    assert value == pytest.approx(optimize.rosen(x))
    assert slope == pytest.approx(optimize.rosen_der(x))
    p = np.array([1.0, 2.0, -1.0])
    assert hessian_product(f)(x, p) == pytest.approx(optimize.rosen_hess(x) @ p)
    found = optimize.minimize(value_and_grad(f), x, jac=True, method="BFGS")
    assert found.x == pytest.approx(np.ones(3), abs=1e-4)


def test_several_tensors_are_minimized_as_one_vector() -> None:
    optimize = pytest.importorskip("scipy.optimize")
    like = [rl.zeros(2, 2), rl.zeros(3)]

    def f(a: rl.Tensor, b: rl.Tensor, shift: float) -> rl.Tensor:
        return ((a - 1) ** 2).sum() + ((b + shift) ** 2).sum()

    found = optimize.minimize(value_and_grad(f, like), flattened(like), args=(2.0,), jac=True)
    a, b = unflattened(rl.tensor(found.x), like)
    assert rl.allclose(a, rl.ones(2, 2)) and rl.allclose(b, rl.full((3,), -2.0))
    assert a.dtype is rl.float32
    with pytest.raises(ValueError, match="one element"):
        value_and_grad(lambda x: x)(np.ones(2))


def test_a_number_of_numpy_leaves_operators_to_the_tensor() -> None:
    whole, half = rl.ones(2, dtype=rl.int16), rl.ones(2, dtype=rl.bfloat16)
    assert (np.int64(2) + whole).dtype is rl.int16
    assert (np.bool_(True) + whole).dtype is rl.float32  # as `whole + np.bool_(True)`
    assert (np.float32(1.5) > half).tolist() == [True, True]
    with pytest.raises(NotImplementedError, match="le_cpu"):
        _ = np.float32(1.5) >= rl.ones(2, dtype=rl.complex64)
    x = rl.ones(2, requires_grad=True)
    assert (np.float32(2) * x).grad_fn.next_functions[1][0] is None
