"""Attention by emitted code against NumPy's way of it, over layouts, sizes, masks and threads."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

import rushlight as rl
from rushlight._array import kernels
from rushlight._array.kernels import attention as kernel
from rushlight._array.nn import attention
from rushlight._native.llvm import target

pytest.importorskip("llvmlite")
pytestmark = pytest.mark.skipif(not target.available(), reason="native code is turned off")

LENGTHS = [1, 2, 3, 7, 15, 16, 17, 33, 63, 64, 65, 100, 130]
WIDTHS = [1, 3, 8, 16, 17, 40, 64]


def draw(rng: Any, dtype: Any, *shape: int) -> Any:
    """Numbers in one of the layouts that programs make."""
    kind = rng.integers(5)
    if kind == 0 and len(shape) > 2:  # heads beside each other
        turned = rng.standard_normal((*shape[:-3], shape[-2], shape[-3], shape[-1]))
        return turned.astype(dtype).swapaxes(-2, -3)
    if kind == 1:  # a part of a projection
        wide = rng.standard_normal((*shape[:-1], 3 * shape[-1])).astype(dtype)
        return wide[..., shape[-1] : 2 * shape[-1]]
    if kind == 2:
        return rng.standard_normal((*shape[:-2], *shape[:-3:-1])).astype(dtype).swapaxes(-1, -2)
    if kind == 3:
        return rng.standard_normal(shape).astype(dtype)[..., ::-1, :]
    return rng.standard_normal(shape).astype(dtype)


def problem(rng: Any, dtype: Any) -> tuple[Any, ...]:
    """Gradient, queries, keys, values, a mask or none, whether it is causal."""
    rows = int(rng.choice(LENGTHS))
    keys = rows if rng.random() < 0.5 else int(rng.choice([*LENGTHS, 300]))
    size = int(rng.choice(WIDTHS))
    width = size if rng.random() < 0.7 else int(rng.choice(WIDTHS))
    lead = [(), (2,), (2, 3), (2, 1, 2)][rng.integers(4)]
    shared = int(rng.choice([1, 1, 2, 3]))
    more = (*lead[:-1], lead[-1] * shared) if lead else ()
    q, g = draw(rng, dtype, *more, rows, size), draw(rng, dtype, *more, rows, width)
    k, v = draw(rng, dtype, *lead, keys, size), draw(rng, dtype, *lead, keys, width)
    causal, mask = rng.random() < 0.5, None
    if not causal and rng.random() < 0.7:
        one = (1,) * len(more)
        shape = [(rows, keys), (1, keys), (*more, rows, keys), (*one, rows, keys), (rows, 1)]
        mask = rng.standard_normal(shape[rng.integers(5)]).astype(dtype)
        if rng.random() < 0.5:
            mask[mask > 1] = -np.inf
        if rng.random() < 0.5:
            mask = mask > 0
    return g, q, k, v, mask, bool(causal)


def all_of(g: Any, q: Any, k: Any, v: Any, mask: Any, causal: bool, scale: Any = None) -> list[Any]:
    out, logs = attention.attention(q, k, v, mask, causal, scale)
    grads = attention.attention_backward(g, q, k, v, out, logs, mask, causal, scale)
    return [out, logs, *grads]


def compare(monkeypatch: pytest.MonkeyPatch, *given: Any, forward: bool = False) -> list[Any]:
    with monkeypatch.context() as patch, np.errstate(all="ignore"):
        patch.setattr(kernels, "LEAST", sys.maxsize)
        plain = all_of(*given)
        patch.setattr(kernels, "LEAST", 0)
        asked: list[bool] = []
        launch = kernel._launch

        def listen(*arguments: Any) -> bool:
            asked.append(launch(*arguments))
            return asked[-1]

        patch.setattr(kernel, "_launch", listen)
        found = all_of(*given)
    assert asked == [True, True]
    bound = 2e-5 if found[0].dtype == np.float32 else 1e-12
    for one, other in list(zip(found, plain, strict=True))[: 2 if forward else None]:
        assert one.shape == other.shape and one.dtype == other.dtype
        finite = np.abs(other[np.isfinite(other)]).max(initial=1)
        np.testing.assert_allclose(one, other, rtol=bound, atol=bound * finite)
    return found


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("seed", range(40))
def test_it_agrees_with_numpy(monkeypatch: pytest.MonkeyPatch, seed: int, dtype: Any) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(4):
        given = problem(rng, dtype)
        before = [None if x is None else x.copy() for x in given[:5]]
        compare(monkeypatch, *given, float(rng.choice([0.3, -0.2, 0.0])))
        for one, other in zip(before, given[:5], strict=True):
            assert one is None or np.array_equal(one, other)  # nothing is written


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("rows", [100, 600, 1111])
@pytest.mark.parametrize("keys", [100, 600, 1111])
def test_parts_of_few_heads_don_t_depend_on_threads(
    monkeypatch: pytest.MonkeyPatch, rows: int, keys: int, causal: bool
) -> None:
    rng = np.random.default_rng(rows + keys)
    q, g = (rng.standard_normal((2, rows, 24)).astype("f") for _ in range(2))
    k, v = (rng.standard_normal((1, keys, 24)).astype("f") for _ in range(2))
    before = rl.get_num_threads()
    try:
        found = []
        for threads in (1, 2, 5):
            rl.set_num_threads(threads)
            found.append(compare(monkeypatch, g, q, k, v, None, causal))
    finally:
        rl.set_num_threads(before)
    for other in found[1:]:
        for one, two in zip(found[0], other, strict=True):
            assert np.array_equal(one, two)


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf, 1e38])
def test_what_isn_t_finite_stays_in_its_rows(
    monkeypatch: pytest.MonkeyPatch, number: float
) -> None:
    rng = np.random.default_rng(3)
    g, q, k, v = (rng.standard_normal((2, 2, 70, 8)).astype("f") for _ in range(4))
    exact = all_of(g, q, k, v, None, True)
    q[0, 1, 20, 3] = number
    out, logs, dq, dk, dv = compare(monkeypatch, g, q, k, v, None, True, forward=True)
    others = np.ones(logs.shape, bool)
    others[0, 1, 20] = False
    assert np.array_equal(out[others], exact[0][others])
    assert np.array_equal(logs[others], exact[1][others])
    assert np.array_equal(dq[others], exact[2][others])
    for one, other in ((dk, exact[3]), (dv, exact[4])):  # of keys whose rows are all later
        np.testing.assert_allclose(one[:, :, 32:], other[:, :, 32:], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("kind", ["bools", "numbers"])
def test_rows_that_see_nothing_are_zeros(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    rng = np.random.default_rng(4)
    g, q, k, v = (rng.standard_normal((3, 40, 16)).astype("f") for _ in range(4))
    mask: Any = rng.random((40, 40)) < 0.5
    mask[5] = mask[39] = False
    if kind == "numbers":
        mask = np.where(mask, np.float32(0.5), -np.inf).astype("f")
    out, logs, dq, _, _ = compare(monkeypatch, g, q, k, v, mask, False)
    for row in (5, 39):
        assert not out[:, row].any() and not dq[:, row].any() and np.all(logs[:, row] == np.inf)
