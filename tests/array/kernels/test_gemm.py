"""Large products of matrices by emitted code, against NumPy's."""

import contextlib
import os
import signal
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite")

from rushlight._array import kernels
from rushlight._array.kernels import gemm, openblas as openblas_of_numpy
from rushlight._array.linalg.matmul import matrix_product
from rushlight._array.memory import parallel
from rushlight._native.llvm import target

if not target.available():
    pytest.skip("this machine can't run emitted code", allow_module_level=True)

OFF = 1 << 60


@pytest.fixture(autouse=True)
def _always(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Emitted code for any size, also where BLAS would be faster."""
    monkeypatch.setattr(gemm, "faster", lambda: range(1, sys.maxsize))
    monkeypatch.setattr(kernels, "PRODUCT", 1)
    before = parallel.get_num_threads()
    yield
    parallel.set_num_threads(before)


def close(found: Any, exact: Any, terms: int) -> bool:
    tolerance = (1e-6 if found.dtype == np.float32 else 1e-14) * (terms + 8)
    return found.dtype == exact.dtype and bool((abs(found - exact) <= tolerance).all())


SHAPES = [
    ((64, 64), (64, 64)), ((300, 200), (200, 500)), ((7, 100, 33), (7, 33, 64)),
    ((2, 3, 40, 50), (2, 3, 50, 60)), ((50, 60), (5, 60, 70)), ((5, 50, 60), (60, 70)),
    ((1, 1, 20, 30), (4, 30, 40)), ((500, 3), (3, 600)), ((4, 1), (1, 8)), ((9, 600), (600, 9)),
]  # fmt: skip


@pytest.mark.parametrize("shapes", SHAPES)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_products_equal_numpys_in_every_layout(dtype: str, shapes: tuple[Any, Any]) -> None:
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal(shape).astype(dtype) for shape in shapes)
    turned = [np.ascontiguousarray(x.swapaxes(-1, -2)).swapaxes(-1, -2) for x in (a, b)]
    for left in (a, turned[0]):
        for right in (b, turned[1]):
            found = gemm.product(left, right)
            assert found is not None
            exact = left @ right
            assert found.shape == exact.shape
            assert close(found, exact, a.shape[-1])


def lay_out(x: Any, way: str) -> Any:
    """The same stacks in other memory."""
    if way == "heads":  # of one row, side by side
        made = np.ascontiguousarray(np.moveaxis(x, 1, -2))
        return np.moveaxis(made, -2, 1)
    if way == "parts":  # of wider rows
        made = np.full((*x.shape[:-1], 3 * x.shape[-1]), np.nan, x.dtype)
        made[..., x.shape[-1] : 2 * x.shape[-1]] = x
        return made[..., x.shape[-1] : 2 * x.shape[-1]]
    if way == "apart":  # every other stack, and every other matrix
        made = np.full((2 * x.shape[0], 2 * x.shape[1], *x.shape[2:]), np.nan, x.dtype)
        made[::2, 1::2] = x
        return made[::2, 1::2]
    if way == "back":
        return x[::-1, :, ::-1].copy()[::-1, :, ::-1]
    return x


WAYS = ["", "heads", "parts", "apart", "back"]


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_stacks_of_stacks_are_read_and_written_where_they_lie(dtype: str) -> None:
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((3, 4, 70, 33)), rng.standard_normal((3, 4, 33, 65))
    a, b = a.astype(dtype), b.astype(dtype)
    exact = a @ b
    plain = gemm.product(a, b)
    assert plain is not None and close(plain, exact, 33)
    for left, right, to in product(WAYS, WAYS, ["", "parts", "apart"]):
        out = lay_out(np.zeros(exact.shape, dtype), to)
        whole = out if out.base is None else out.base
        before = np.isnan(whole).sum()
        found = gemm.product(lay_out(a, left), lay_out(b, right), out)
        assert found is out and np.array_equal(out, plain)
        assert np.isnan(whole).sum() == before


@pytest.mark.parametrize("shapes", [
    ((3, 1, 20, 30), (3, 4, 30, 40)), ((1, 4, 20, 30), (3, 4, 30, 40)),
    ((3, 4, 20, 30), (4, 30, 40)), ((2, 1, 1, 20, 30), (2, 3, 4, 30, 40)),
    ((3, 1, 20, 30), (1, 4, 30, 40)),
])  # fmt: skip
def test_stacks_that_broadcast(shapes: tuple[Any, Any]) -> None:
    rng = np.random.default_rng(2)
    a, b = (rng.standard_normal(shape) for shape in shapes)
    found = gemm.product(a, b)
    assert found is not None and close(found, a @ b, 30)


def test_stacks_that_step_in_three_ways_are_left_to_numpy() -> None:
    x = np.ones((4, 6, 8, 20, 20))[::2, ::3, ::4]
    assert gemm.product(x, x) is None
    assert np.array_equal(matrix_product(x, x), x @ x)
    odd = np.zeros(3 * 20 * 20 * 8 + 4, np.uint8)[4:].view("f8").reshape(3, 20, 20)
    assert not odd.flags.aligned
    assert np.array_equal(matrix_product(odd, odd), odd @ odd)


def test_a_product_goes_into_an_array_that_is_given() -> None:
    rng = np.random.default_rng(1)
    a, b = rng.standard_normal((2, 40, 40))
    out = np.zeros((40, 80))
    assert gemm.product(a, b, out[:, 20:60]) is not None
    assert np.allclose(out[:, 20:60], a @ b)
    assert not out[:, :20].any() and not out[:, 60:].any()


def test_what_is_not_taken_is_left_to_numpy() -> None:
    x = np.ones((20, 20))
    assert gemm.product(x, x.astype("f4")) is None
    assert gemm.product(x.astype(int), x.astype(int)) is None
    assert gemm.product(x, x[0]) is None
    assert gemm.product(x, x[:, :3]) is None
    assert gemm.product(x, x, x) is None
    assert gemm.product(x, x.T, np.empty((20, 40))[:, ::2]) is None
    assert np.array_equal(matrix_product(x, x[0]), x @ x[0])


def test_special_values_go_through_a_product() -> None:
    x = np.ones((20, 20))
    x[3, 4], x[5, 6], x[7, 8] = np.nan, np.inf, -np.inf
    with np.errstate(invalid="ignore"):
        assert np.array_equal(gemm.product(x, x), x @ x, equal_nan=True)


@pytest.mark.parametrize("size", [40, 170, 400])
def test_the_digits_are_those_of_one_thread(size: int) -> None:
    rng = np.random.default_rng(2)
    a, b = rng.standard_normal((2, size, size)).astype("f4")
    results = []
    for threads in (1, 2, 3):
        parallel.set_num_threads(threads)
        results.append(gemm.product(a, b))
    assert np.array_equal(results[0], results[1]) and np.array_equal(results[0], results[2])


def test_products_stay_with_numpy_where_blas_is_as_good(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gemm, "faster", lambda: range(0))
    x = np.ones((40, 40))
    assert gemm.product(x, x) is None
    assert kernels.PRODUCT > OFF
    assert (matrix_product(x, x) == 40).all()


def test_products_shorter_or_longer_than_where_code_is_faster_are_left_to_numpy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(gemm, "faster", lambda: range(40**3, 80**3))
    for size, taken in ((39, False), (40, True), (79, True), (80, False)):
        x = np.ones((size, size))
        assert (gemm.product(x, x) is not None) == taken
        assert (matrix_product(x, x) == size).all()


@pytest.fixture
def openblas(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """OpenBLAS with three threads, of which short products take two away."""
    library = openblas_of_numpy.find()
    if library is None:
        pytest.skip("NumPy came without OpenBLAS")
    monkeypatch.setattr(gemm, "faster", lambda: range(1 << 20, sys.maxsize))
    count = library.scipy_openblas_get_num_threads64_()
    library.scipy_openblas_set_num_threads64_(3)
    yield library
    library.scipy_openblas_set_num_threads64_(count)


def test_short_products_leave_no_thread_of_blas_waiting(
    openblas: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    used: list[int] = []
    matmul = np.matmul

    def spy(*args: Any, **kwargs: Any) -> Any:
        used.append(openblas.scipy_openblas_get_num_threads64_())
        return matmul(*args, **kwargs)

    monkeypatch.setattr(np, "matmul", spy)
    x, bias = np.ones((90, 90)), np.arange(90.0)
    found = gemm.product(x, x, None, bias)
    assert found is not None and (found == 90 + bias).all()
    with pytest.raises(ValueError):
        gemm.product(x, np.ones((80, 90)))
    assert used == [1, 1]
    assert openblas.scipy_openblas_get_num_threads64_() == 3


@pytest.mark.parametrize("shape", [(96, 40, 800), (2000, 40, 420), (2100, 64, 70), (70, 64, 2100)])
def test_chunks_of_rows_and_of_columns_give_numpys_product(shape: tuple[int, int, int]) -> None:
    m, k, n = shape
    rng = np.random.default_rng(3)
    a, b = rng.standard_normal((m, k)).astype("f4"), rng.standard_normal((k, n)).astype("f4")
    exact = a.astype("f8") @ b.astype("f8")
    for left in (a, a.T.copy().T):
        for right in (b, b.T.copy().T):
            found = gemm.product(left, right)
            assert found is not None and close(found, exact.astype("f4"), k)


def test_threads_that_multiply_at_once_leave_blas_its_threads(openblas: Any) -> None:
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    x = np.ones((90, 90))
    try:
        with ThreadPoolExecutor(4) as threads:
            found = list(threads.map(lambda _: gemm.product(x, x), range(400)))
    finally:
        sys.setswitchinterval(interval)
    assert all(y is not None and (y == 90).all() for y in found)
    assert openblas.scipy_openblas_get_num_threads64_() == 3


def test_blas_gets_the_number_of_threads_that_is_set(
    openblas: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(openblas_of_numpy, "_most_threads", 0)
    found = []
    for number in (1, 2, 8):  # never more than there were at first
        openblas_of_numpy.set_num_threads(number)
        found.append(openblas.scipy_openblas_get_num_threads64_())
    assert found == [1, 2, 3]
    with openblas_of_numpy.one_thread:  # which will give back what is set meanwhile
        openblas_of_numpy.set_num_threads(2)
        assert openblas.scipy_openblas_get_num_threads64_() == 1
    assert openblas.scipy_openblas_get_num_threads64_() == 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_forked_within_a_product_has_all_threads_of_blas(openblas: Any) -> None:
    with openblas_of_numpy.one_thread:
        child = os.fork()
        if not child:
            os._exit(openblas.scipy_openblas_get_num_threads64_())
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no such timers")
def test_interrupts_leave_blas_its_threads_after_the_next_product(openblas: Any) -> None:
    x = np.ones((81, 81), np.float32)
    old = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        for k in range(300):
            with contextlib.suppress(KeyboardInterrupt):
                signal.setitimer(signal.ITIMER_REAL, 1e-5 + k * 1e-7)
                while True:
                    gemm.product(x, x)
        gemm.product(x, x)
        assert openblas.scipy_openblas_get_num_threads64_() == 3
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)


@pytest.mark.parametrize("lead", [(8,), (1, 8), (2, 4)])
@pytest.mark.parametrize("turned", [False, True])
def test_one_matrix_that_meets_a_stack_is_as_much_work_as_the_stack(
    monkeypatch: pytest.MonkeyPatch, lead: tuple[int, ...], turned: bool
) -> None:
    rng = np.random.default_rng(4)
    a = rng.standard_normal((32, 128)).astype("f4")
    b = rng.standard_normal((*lead, 128, 60)).astype("f4")
    exact = np.matmul(a, b)
    assert gemm.count_products(a, b) == 32 * 128 * 60 * 8
    assert a.size * b.shape[-1] < gemm.THREADED < gemm.count_products(a, b)
    taken: list[int] = []
    plain = gemm._run

    def note(a: Any, b: Any, out: Any, stacks: Any, bias: int) -> None:
        taken.append(stacks[0][0] * stacks[0][1])
        plain(a, b, out, stacks, bias)

    monkeypatch.setattr(gemm, "faster", lambda: range(gemm.THREADED, sys.maxsize))
    monkeypatch.setattr(gemm, "_run", note)
    monkeypatch.setattr(kernels, "PRODUCT", 1 << 19)
    found = (
        matrix_product(b.swapaxes(-1, -2), a.T).swapaxes(-1, -2) if turned else matrix_product(a, b)
    )
    assert np.allclose(found, exact, atol=1e-4)
    assert taken == [8]
