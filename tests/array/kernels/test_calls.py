"""Steps of a layer listed and made by one call, against the same steps one by one."""

import sys
from itertools import product
from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite")

import rushlight as torch
from rushlight._array import kernels
from rushlight._array.kernels.gemm import faster
from rushlight._array.memory import parallel
from rushlight._array.nn import recurrent
from rushlight._native.llvm import target
from rushlight._native.threads import thread_pool

if not target.available():
    pytest.skip("this machine can't run emitted code", allow_module_level=True)

SHAPES = [(32, 32, 32, 32), (1, 3, 5, 48), (7, 100, 5, 33), (2, 1, 3, 40), (9, 70, 20, 130)]


def layer(
    steps: int, batch: int, inputs: int, size: int, dtype: str, reverse: bool, given: str,
    projected: int = 0, sizes: tuple[int, ...] | None = None,
) -> list[Any]:  # fmt: skip
    """All results of an LSTM and all its gradients; `given` says which outputs have one."""
    rng = np.random.default_rng(0)

    def drawn(*shape: int) -> Any:
        return (rng.standard_normal(shape) / 3).astype(dtype)

    out = projected or size
    x = drawn(sum(sizes), inputs) if sizes else drawn(steps, batch, inputs)
    hx, cx = drawn(batch, out), drawn(batch, size)
    w_ih, w_hh = drawn(4 * size, inputs), drawn(4 * size, out)
    b_ih, b_hh, w_hr = drawn(4 * size), drawn(4 * size), drawn(out, size) if projected else None
    before = [a.copy() for a in (x, hx, cx)]
    found = recurrent.lstm(x, hx, cx, w_ih, w_hh, b_ih, b_hh, w_hr, sizes, reverse)
    y, h, c, gates, cells = found
    grads = [drawn(*a.shape) if letter in given else None for letter, a in zip("yhc", (y, h, c))]
    if "s" in given:  # a slice of something wider
        grads[0] = drawn(*y.shape[:-1], 2 * out)[..., ::2]
    back = recurrent.lstm_backward(
        *grads, x, hx, cx, w_ih, w_hh, b_ih, b_hh, w_hr, y, gates, cells, sizes, reverse,
        [True] * 8,
    )  # fmt: skip
    assert all(np.array_equal(a, b) for a, b in zip(before, (x, hx, cx)))
    return [*found, *back]


def both(monkeypatch: pytest.MonkeyPatch, *given: Any, **more: Any) -> int:
    """Compares the two ways to the bit; how many lists were run."""
    lists: list[int] = []
    run = thread_pool.run_repeatedly
    with monkeypatch.context() as patch:
        patch.setattr(kernels, "LEAST", 1)
        patch.setattr(thread_pool, "run_repeatedly", lambda *a: (lists.append(a[1]), run(*a))[1])
        listed = layer(*given, **more)
        patch.setattr(recurrent, "_has_native_steps", lambda *_: False)
        count = len(lists)
        single = layer(*given, **more)
        assert len(lists) == count
    for a, b in zip(listed, single, strict=True):
        assert (a is None and b is None) or np.array_equal(a, b)
    return count


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("dtype", "reverse"), [*product(["f4", "f8"], [False, True])])
def test_listed_steps_have_the_digits_of_single_ones(
    shape: tuple[int, ...], dtype: str, reverse: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    count = both(monkeypatch, *shape, dtype, reverse, "yhc")
    # Where BLAS is as good, as with vectors narrower than 64 bytes, it makes the larger products.
    assert count == 2 or (count == 0 and not faster() and shape[1] >= 70)


@pytest.mark.parametrize("given", ["y", "h", "c", "hc", "s"])
def test_any_of_the_outputs_may_have_a_gradient(
    given: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert both(monkeypatch, 12, 6, 5, 32, "f4", False, given) == (1 if given == "s" else 2)


@pytest.mark.parametrize("kind", ["LSTM", "GRU"])
def test_gradients_of_a_half_of_each_row_are_listed(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernels, "LEAST", 1)
    lists: list[int] = []
    run = thread_pool.run_repeatedly
    monkeypatch.setattr(thread_pool, "run_repeatedly", lambda *a: (lists.append(a[1]), run(*a))[1])
    torch.manual_seed(0)
    layer = getattr(torch.nn, kind)(5, 32, bidirectional=True)
    x, weights = torch.randn(9, 2, 5), torch.randn(9, 2, 64)
    results = []
    for native in (True, False):
        if not native:
            monkeypatch.setattr(kernels, "LEAST", sys.maxsize)
        layer.zero_grad()
        (layer(x)[0] * weights).sum().backward()
        results.append([p.grad.clone() for p in layer.parameters()])
    assert lists == [2, 2, 3, 3]
    for a, b in zip(*results, strict=True):
        assert torch.allclose(a, b, rtol=1e-4, atol=1e-5)


def test_what_isnt_a_plain_layer_goes_step_by_step(monkeypatch: pytest.MonkeyPatch) -> None:
    assert both(monkeypatch, 12, 6, 5, 32, "f4", False, "y", projected=20) == 0
    assert both(monkeypatch, 3, 6, 5, 32, "f4", False, "y", sizes=(6, 4, 1)) == 0
    assert both(monkeypatch, 3, 6, 5, 32, "f4", True, "y", sizes=(6, 6, 6)) == 1
    assert both(monkeypatch, 12, 6, 5, 8, "f4", False, "y") == 0  # most lanes would be empty


def gru(
    steps: int, batch: int, size: int, dtype: str, reverse: bool, given: str, biased: bool = True
) -> list[Any]:
    """All results of a GRU and all its gradients; `given` says which outputs have one."""
    rng = np.random.default_rng(0)

    def drawn(*shape: int) -> Any:
        return (rng.standard_normal(shape) / 3).astype(dtype)

    x, hx = drawn(steps, batch, 5), drawn(batch, size)
    weights: list[Any] = [drawn(3 * size, 5), drawn(3 * size, size)]
    weights += [drawn(3 * size), drawn(3 * size)] if biased else [None, None]
    before = [a if a is None else a.copy() for a in (x, hx, *weights)]
    y, h, gates, inner = found = recurrent.gru(x, hx, *weights, None, reverse)
    grads = [drawn(*a.shape) if letter in given else None for letter, a in zip("yh", (y, h))]
    back = recurrent.gru_backward(
        *grads, x, hx, *weights, y, gates, inner, None, reverse, [True] * 6
    )
    for a, b in zip(before, (x, hx, *weights), strict=True):
        assert a is b or np.array_equal(a, b)
    return [*found, *back]


@pytest.mark.parametrize("shape", [(32, 32, 32), (1, 3, 48), (7, 99, 33), (2, 1, 40), (9, 70, 130)])
@pytest.mark.parametrize(("dtype", "reverse"), [*product(["f4", "f8"], [False, True])])
def test_the_steps_of_a_gru_are_listed(
    shape: tuple[int, ...], dtype: str, reverse: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernels, "LEAST", 1)
    for given, biased in (("yh", True), ("y", False), ("h", True)):
        listed = gru(*shape, dtype, reverse, given, biased)
        with monkeypatch.context() as patch:
            patch.setattr(recurrent, "_has_native_steps", lambda *_: False)
            single = gru(*shape, dtype, reverse, given, biased)
            patch.setattr(kernels, "LEAST", sys.maxsize)
            plain = gru(*shape, dtype, reverse, given, biased)
        bound = 2e-5 if dtype == "f4" else 1e-12
        for a, b, c in zip(listed, single, plain, strict=True):
            assert (a is None and b is None) or np.array_equal(a, b)
            assert c is None or np.allclose(a, c, rtol=bound, atol=10 * bound)


@pytest.mark.parametrize("kind", ["LSTM", "GRU"])
def test_a_layer_runs_on_its_weights_as_they_lie(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernels, "LEAST", 1)
    torch.manual_seed(0)
    layer = getattr(torch.nn, kind)(32, 32)
    x = torch.randn(9, 1, 32)
    exact = layer(x)[0]
    weights = dict(layer.named_parameters())
    for make in (lambda p: p.t().contiguous().t(), lambda p: torch.stack([p, p], -1)[..., 0]):
        odd = {k: make(p) if p.dim() == 2 else p for k, p in weights.items()}
        found = torch.func.functional_call(layer, odd, (x,))[0]
        assert torch.allclose(found, exact, rtol=1e-5, atol=1e-6)


def test_any_number_of_threads_gives_the_same_digits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "LEAST", 1)
    before = parallel.get_num_threads()
    found = []
    try:
        for threads in (1, 2, 3):
            parallel.set_num_threads(threads)
            found.append(layer(6, 200, 64, 256, "f4", False, "yhc"))
    finally:
        parallel.set_num_threads(before)
    for other in found[1:]:
        for a, b in zip(found[0], other, strict=True):
            assert (a is None and b is None) or np.array_equal(a, b)
