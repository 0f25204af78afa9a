"""Factors of small matrices in C: the plain function's digits, and whatever isn't positive."""

import itertools
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight._array.elementwise import gated_linear
from rushlight._array.linalg import fft, lapack, linalg, triangular
from rushlight._table.linalg import decompose
from tests.native.loops import Plain, module, same


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    yield module("factors", tmp_path_factory.mktemp("factors"))


def _definite(n: int, kind: Any, seed: int = 0) -> Any:
    x = np.random.default_rng(seed).standard_normal((n, n)).astype(kind)
    return x @ x.T + np.eye(n, dtype=kind)


class Alike(np.ndarray):
    """An array of another class."""


def test_factors_are_those_of_the_plain_function(built: Any) -> None:
    plain = Plain(linalg.cholesky_ex)
    factor = built.Factor(plain, "Cuc")
    for kind in (np.float32, np.float64):
        for n in (1, 2, 3, 4, 16, 32):
            x = _definite(n, kind, n)
            wide = np.zeros((2 * n, 3 * n), kind)
            wide[::2, ::3] = x
            locked = x.copy()
            locked.setflags(write=False)
            for y in (x, x.T, x[::-1, ::-1], wide[::2, ::3], locked, np.asfortranarray(x)):
                before = y.copy()
                ours, theirs = factor(y, False, False), linalg.cholesky_ex(y, False, False)
                assert type(ours) is tuple and len(ours) == 2
                assert same(ours[0], theirs[0]) and same(ours[1], theirs[1])
                assert same(y.copy(), before) and ours[0].flags.writeable
    assert plain.calls == 0


def test_what_is_not_positive_and_what_is_odd_goes_to_the_plain_function(built: Any) -> None:
    plain = Plain(linalg.cholesky_ex)
    factor = built.Factor(plain, "Cuc")
    good = _definite(4, np.float32)
    bad = [-good, np.full((3, 3), np.nan, np.float32), np.zeros((2, 2)), np.diag([1.0, -1, 1]),
           np.diag([1, 1, np.inf]), np.diag([np.nan, 1, 1])]  # fmt: skip
    for x in bad:
        ours, theirs = factor(x, False, False), linalg.cholesky_ex(x, False, False)
        assert same(ours[0], theirs[0]) and same(ours[1], theirs[1])
    calls = plain.calls
    assert calls >= 4
    for args in (
        (good, True, False), (good, False, True), (np.stack([good, -good]), False, False),
        (_definite(33, np.float64), False, False), (good.astype(np.complex64), False, False),
        (np.zeros((0, 0), np.float32), False, False),
    ):  # fmt: skip
        ours, theirs = factor(*args), linalg.cholesky_ex(*args)
        assert same(ours[0], theirs[0]) and same(ours[1], theirs[1])
    memory = np.zeros(4 * 4 * 4 + 1, np.uint8)
    askew = memory[1:].view(np.float32).reshape(4, 4)
    askew[...] = good
    factor(askew, False, False)
    factor(good.view(Alike), False, False)
    assert plain.calls == calls + 8
    for args in ((good[:2], False, False), (good[0], False, False), (good.astype(int), 0, 0)):
        with pytest.raises(Exception) as ours_:
            factor(*args)
        with pytest.raises(type(ours_.value)) as theirs_:
            linalg.cholesky_ex(*args)
        assert str(ours_.value) == str(theirs_.value)


def test_factors_leave_no_references_and_no_warnings(built: Any) -> None:
    factor = built.Factor(linalg.cholesky_ex, "Cuc")
    x = _definite(4, np.float32)
    factor(x, False, False)
    before = sys.getrefcount(x), sys.getrefcount(False), sys.getrefcount(x.dtype)
    with np.errstate(all="raise"):
        for _ in range(100):
            factor(x, False, False)
    after = sys.getrefcount(x), sys.getrefcount(False), sys.getrefcount(x.dtype)
    assert all(abs(a - b) < 5 for a, b in zip(before, after))


def test_halves_of_few_elements_pass_as_those_of_many() -> None:
    rng = np.random.default_rng(0)
    for kind in (np.float32, np.float64):
        for shape, dim in (((4, 4), 1), ((4, 4), 0), ((2, 3, 6), -1), ((6, 2), -2), ((2,), 0)):
            x = (rng.standard_normal(shape) * 5).astype(kind)
            for y in (x, x.copy(order="F")):
                for _ in range(20):  # the first calls go to the plain function
                    found = gated_linear.glu(y, dim)
                a, b = gated_linear.halves(y, dim)
                wanted = gated_linear._gate(np.ascontiguousarray(a), np.ascontiguousarray(b))
                assert same(found.copy(), np.ascontiguousarray(wanted))
    odd = torch.tensor([float("inf"), -float("inf"), 0.0, -0.0, float("nan"), 1e38, -1e38, 100.0])
    assert torch.nn.functional.glu(odd).tolist()[:2] == pytest.approx(
        [float("nan"), -float("inf")], nan_ok=True
    )


def test_halves_of_few_elements_give_what_lies_as_they_do() -> None:
    x = torch.arange(192.0).view(4, 6, 8)
    for t in (x, x.transpose(0, 2), x.permute(1, 2, 0), x.permute(2, 0, 1)):
        for dim in range(3):
            order = sorted(range(3), key=t.stride, reverse=True)
            halves = torch.nn.functional.glu(t, dim)
            assert halves.permute(order).is_contiguous(), (t.stride(), dim)
    broadcast = torch.arange(24.0).view(4, 6).expand(4, 4, 6)
    assert torch.nn.functional.glu(broadcast, 2).stride() == (12, 3, 1)


def test_remainders_of_whole_numbers_by_numbers() -> None:
    x = torch.tensor([[-7, 3], [5, 1 << 62]])
    for number in (1, 3, -3, 1 << 40, -(1 << 62), (1 << 63) - 1):
        wanted = [[n % number for n in row] for row in x.tolist()]
        assert (x % number).tolist() == wanted == torch.remainder(x, number).tolist()
        assert (x % number).dtype is torch.int64
    assert (x % 2.5).dtype is torch.float32 and (x % True).tolist() == [[0, 0], [0, 0]]
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        x % 0
    with pytest.raises(Exception) as ours:
        x % (1 << 70)
    with pytest.raises(type(ours.value)) as theirs:
        torch.remainder(x, 1 << 70)
    assert str(ours.value) == str(theirs.value)


def test_q_and_r_are_those_of_the_plain_function(built: Any) -> None:
    plain = Plain(decompose._qr_checked)
    factor = built.Factor(plain, "Qm")
    rng = np.random.default_rng(0)
    for kind in (np.float32, np.float64):
        for rows, columns in itertools.product((1, 2, 3, 5, 8), repeat=2):
            wide = rng.standard_normal((2 * rows, 3 * columns)).astype(kind)
            x = np.ascontiguousarray(wide[:rows, :columns])
            for y in (x, np.asfortranarray(x), wide[::2, ::-3], np.zeros_like(x), x * 1e30):
                before = y.copy()
                ours, theirs = factor(y, "reduced"), decompose._qr_checked(y, "reduced")
                assert same(ours[0], theirs[0]) and same(ours[1], theirs[1])
                assert same(y.copy(), before) and ours[0].flags.writeable
                assert np.allclose(ours[0] @ ours[1], y, atol=1e-5)
    odd = np.array([[np.nan, 1], [np.inf, 0]], np.float32)
    assert all(map(same, factor(odd, "reduced"), decompose._qr_checked(odd, "reduced")))
    assert plain.calls == 0 or not lapack.has("qr_r_raw")
    for args in (
        (wide, "complete"), (wide, "r"), (wide, "none"), (wide, 3), (np.ones((3, 0)), "reduced"),
        (np.ones((9, 8)), "reduced"), (np.ones((2, 9, 8)), "reduced"), (np.ones(3), "reduced"),
        (np.ones((2, 2), np.float16), "reduced"), (np.ones((2, 2), int), "reduced"),
        (np.ones((2, 2), complex), "reduced"), (np.ones((2, 2)).view(Alike), "reduced"),
    ):  # fmt: skip
        calls = plain.calls
        said = []
        for function in (factor, decompose._qr_checked):
            try:
                said.append([one.tobytes() for one in function(*args)])
            except Exception as error:
                said.append([type(error), str(error)])  # type: ignore[list-item]
        assert said[0] == said[1] and plain.calls == calls + 1


def test_small_matrices_have_one_result_whatever_runs() -> None:
    x = torch.randn(4, 3, dtype=torch.float64)
    for given in (x, x.float(), x.t(), x.float().t()):
        q, r = torch.linalg.qr(given)
        assert torch.allclose(q @ r, given, atol=1e-6)
        raw, tau = torch.geqrf(given)
        assert torch.equal(raw.triu()[: r.shape[0]], r)
        product = torch.linalg.householder_product(raw[:, : len(tau)], tau)
        assert torch.equal(product, q)
    a = x.clone().requires_grad_()
    assert torch.autograd.gradcheck(torch.linalg.qr, (a,))


def test_transforms_are_those_of_the_plain_function(built: Any) -> None:
    plain = Plain(fft.r2c)
    transform = built.Factor(plain, "Fdno")
    rng = np.random.default_rng(0)
    for kind in (np.float32, np.float64):
        for shape in ((2,), (3,), (4, 4), (2, 5), (3, 4, 5), (33,), (1024,)):
            x = rng.standard_normal(shape).astype(kind)
            for y in (x, x * 0, x * np.inf, np.where(x > 1, np.nan, x)):
                with np.errstate(all="ignore"):
                    ours = transform(y, (y.ndim - 1,), 0, True)
                    theirs = fft.r2c(y, (y.ndim - 1,), 0, True)
                assert ours.dtype == theirs.dtype and ours.strides == theirs.strides
                assert same(ours.real, theirs.real) and same(ours.imag, theirs.imag)
    assert plain.calls == 0
    x = rng.standard_normal((4, 4))
    for args in (
        (x, (0,), 0, True), (x, (0, 1), 0, True), (x, (1,), 1, True), (x, (1,), 2, True),
        (x, (1,), 0, False), (x.T, (1,), 0, True), (x[:1], (1,), 0, True),
        (x[:, :1], (1,), 0, True),
        (np.ones((40, 40)), (1,), 0, True), (x.view(Alike), (1,), 0, True), (x, (1,), False, True),
    ):  # fmt: skip
        calls = plain.calls
        assert transform(*args).tobytes() == fft.r2c(*args).tobytes()
        assert plain.calls == calls + 1
    before = sys.getrefcount(x), sys.getrefcount(np.dtype(np.complex128))
    for _ in range(100):
        transform(x, (1,), 0, True)
    after = sys.getrefcount(x), sys.getrefcount(np.dtype(np.complex128))
    assert all(abs(a - b) < 5 for a, b in zip(before, after))


def _layouts(x: Any) -> list[Any]:
    """The same matrices as they may lie in memory, those of some stacks at several distances."""
    wide = np.zeros((*x.shape[:-2], 2 * x.shape[-2], 3 * x.shape[-1]), x.dtype)
    wide[..., ::2, ::3] = x
    turned = np.ascontiguousarray(x.swapaxes(-1, -2)).swapaxes(-1, -2)
    return [x, turned, wide[..., ::2, ::3], x[..., ::-1, ::-1].copy()[..., ::-1, ::-1], x[None]]


def _stacks(kind: Any, most: int) -> Iterator[Any]:
    rng = np.random.default_rng(0)
    for shape in ((), (1,), (3,), (2, 3), (1, 2, 1)):
        for rows, columns in itertools.product((1, 2, 4, most), repeat=2):
            yield rng.standard_normal((*shape, rows, columns)).astype(kind)


def test_stacks_of_factors_are_those_of_one_after_another(built: Any) -> None:
    plain = Plain(linalg.cholesky_ex)
    factor = built.Factor(plain, "Cuc")
    for kind in (np.float32, np.float64):
        for shape in ((3,), (2, 3), (2, 1), (1, 1, 2)):
            flat = [_definite(5, kind, seed) for seed in range(int(np.prod(shape)))]
            for x in _layouts(np.array(flat).reshape(*shape, 5, 5)):
                found, codes = factor(x, False, False)
                assert codes.shape == x.shape[:-2] and not codes.any() and codes.dtype == np.int32
                for at in np.ndindex(x.shape[:-2]):
                    assert (found[at] == linalg.cholesky_ex(x[at], False, False)[0]).all()
                    assert found[at].flags.f_contiguous
    assert plain.calls == 0
    # Matrices at several distances are NumPy's.
    uneven = np.array([_definite(3, float, k) for k in range(12)]).reshape(4, 3, 3, 3)[::2]
    assert same(factor(uneven, False, False)[0], linalg.cholesky_ex(uneven, False, False)[0])
    assert plain.calls == 1


def test_eliminations_are_those_of_all_matrices_at_once(built: Any) -> None:
    plain, split = Plain(triangular._factor), Plain(triangular._lu)
    factor, spread = built.Factor(plain, "L"), built.Factor(split, "P")
    special = np.array([0, 1, -1, -0.0, np.nan, np.inf, 1e-30, 3e38])
    rng = np.random.default_rng(1)
    for kind in (np.float32, np.float64):
        given = list(_stacks(kind, 16))
        given += [rng.choice(special, (4, n, n)).astype(kind) for n in (1, 2, 3, 5) * 8]
        given += [rng.integers(-1, 2, (6, n, 4)).astype(kind) for n in (2, 4, 5) * 3]
        for one in given:
            for x in _layouts(one):
                before = x.copy()
                with np.errstate(all="ignore"):
                    theirs = triangular.factor_again(x)
                ours = factor(x)
                assert len(ours) == 3 and all(map(same, ours, theirs))
                parts = spread(x)
                wanted = (triangular.permutation_matrix(ours[1], x.shape[-2], x.dtype),
                          *triangular.triangles(ours[0]))  # fmt: skip
                assert len(parts) == 3 and all(map(same, parts, wanted))
                assert same(x.copy(), before)
    assert plain.calls == split.calls == 0
    good = np.ones((3, 3))
    for odd in (np.ones((17, 2)), np.ones((2, 17)), np.ones((0, 3)), np.ones((2, 0, 2)),
                good.astype(complex), good.view(Alike)):  # fmt: skip
        calls = plain.calls
        factor(odd)
        assert plain.calls == calls + 1


def test_systems_with_triangles_are_solved_like_plain_ones(built: Any) -> None:
    plain = Plain(triangular._solve)
    solve = built.Factor(plain, "Tbulu")
    rng = np.random.default_rng(2)
    for kind, close in ((np.float32, 2e-5), (np.float64, 1e-13)):
        for b in _stacks(kind, 32):
            for left, upper, unit in itertools.product((True, False), repeat=3):
                n = b.shape[-2 if left else -1]
                a = rng.standard_normal((*b.shape[:-2], n, n)).astype(kind) / n + np.eye(n)
                a = a.astype(kind)
                at = int(rng.integers(5))
                x, y = _layouts(a)[at], _layouts(b)[at if at == 4 else int(rng.integers(4))]
                # What lies in the other triangle, or under a unit diagonal, isn't read.
                hidden = np.tril(np.ones((n, n), bool), -1 if not unit else 0)
                x = np.where(hidden if upper else hidden.T, np.nan, x).astype(kind)
                ours, theirs = (
                    solve(x, y, upper, left, unit),
                    triangular._solve(x, y, upper, left, unit),
                )
                assert (ours.shape, ours.strides, ours.dtype) == (
                    theirs.shape, theirs.strides, theirs.dtype
                )  # fmt: skip
                np.testing.assert_allclose(ours, theirs, close, close * np.abs(theirs).max())
    assert plain.calls == 0
    a, b = np.triu(np.ones((3, 3))), np.ones((3, 2))
    singular = np.array([[1.0, 2.0], [0.0, 0.0]])
    with np.errstate(all="ignore"):
        found = solve(singular, np.ones((2, 1)), True, True, False)
    assert found.tolist() == [[-np.inf], [np.inf]]
    for odd in (
        (a[None], b), (np.stack([a, a]), b[None]), (np.ones((33, 33)), np.ones((33, 1))),
        (a.astype(np.complex128), b.astype(np.complex128)), (a, b[:, :0]), (a[:0, :0], b[:0]),
    ):  # fmt: skip
        calls = plain.calls
        solve(*odd, True, True, False)
        assert plain.calls == calls + 1
    for args in ((a, b, 1, True, False), (a, b.astype(np.float32), True, True, False)):
        calls = plain.calls
        solve(*args)
        assert plain.calls == calls + 1


def test_stacks_of_q_and_r_are_those_of_one_after_another(built: Any) -> None:
    plain = Plain(decompose._qr_checked)
    factor = built.Factor(plain, "Qm")
    for kind in (np.float32, np.float64):
        for one in _stacks(kind, 8):
            for x in _layouts(one):
                q, r = factor(x, "reduced")
                for at in np.ndindex(x.shape[:-2]):
                    ours, theirs = (q[at], r[at]), factor(x[at], "reduced")
                    assert all(map(np.array_equal, ours, theirs))
                    assert all(part.flags.f_contiguous for part in ours)
    assert plain.calls == 0 or not lapack.has("qr_r_raw")


def test_factors_of_stacks_leave_no_references(built: Any) -> None:
    a = np.stack([_definite(3, np.float32, k) for k in range(4)])
    kept = [a, a.dtype, np.dtype(np.int32), True, False]
    ways = [
        built.Factor(lambda *args: None, letters) for letters in ("Cuc", "L", "P", "Tbulu", "Qm")
    ]
    before = [sys.getrefcount(one) for one in kept]
    for _ in range(3000):
        ways[0](a, False, False), ways[0](-a, False, False), ways[1](a), ways[2](a)
        ways[3](a, a, True, True, False), ways[3](a, a, True, 1, False), ways[4](a, "reduced")
    assert all(abs(sys.getrefcount(one) - n) < 50 for one, n in zip(kept, before))
