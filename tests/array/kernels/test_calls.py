"""Steps of a layer listed and made by one call, against the same steps one by one."""

from itertools import product
from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite")

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
    run = thread_pool.run_listed
    with monkeypatch.context() as patch:
        patch.setattr(kernels, "LEAST", 1)
        patch.setattr(thread_pool, "run_listed", lambda *a: (lists.append(a[1]), run(*a))[1])
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


def test_what_isnt_a_plain_layer_goes_step_by_step(monkeypatch: pytest.MonkeyPatch) -> None:
    assert both(monkeypatch, 12, 6, 5, 32, "f4", False, "y", projected=20) == 0
    assert both(monkeypatch, 3, 6, 5, 32, "f4", False, "y", sizes=(6, 4, 1)) == 0
    assert both(monkeypatch, 3, 6, 5, 32, "f4", True, "y", sizes=(6, 6, 6)) == 1
    assert both(monkeypatch, 12, 6, 5, 8, "f4", False, "y") == 0  # most lanes would be empty


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
