"""Recurrent layers whose steps are many and small, by kernels and by NumPy."""

import sys
from typing import Any

import pytest

pytest.importorskip("llvmlite")

import rushlight as torch
from rushlight._array import kernels
from rushlight._array.kernels import lstm_gru
from rushlight._native.llvm import target

if not target.available():
    pytest.skip("this machine can't run emitted code", allow_module_level=True)

nn = torch.nn


def _run(kind: str, sizes: tuple[int, int, int, int], dtype: Any, packed: bool) -> list[Any]:
    steps, batch, inputs, units = sizes
    torch.manual_seed(0)
    layer = getattr(nn, kind)(inputs, units, bidirectional=True).to(dtype)
    x: Any = torch.randn(steps, batch, inputs, dtype=dtype, requires_grad=True)
    given = x
    if packed:
        lengths = torch.arange(steps, steps - batch, -1)
        given = nn.utils.rnn.pack_padded_sequence(x, lengths)
    found, last = layer(given)
    rows = found.data if packed else found
    states = last if isinstance(last, tuple) else (last,)
    (rows.square().sum() + sum(s.sum() for s in states)).backward()
    return [rows, *states, x.grad, *[p.grad for p in layer.parameters()]]


@pytest.mark.parametrize("kind", ["LSTM", "GRU"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("sizes", [(20, 1, 5, 16), (9, 3, 4, 17), (40, 2, 8, 32), (12, 1, 3, 5)])
def test_many_small_steps_give_numpys_values(
    monkeypatch: pytest.MonkeyPatch,
    sizes: tuple[int, int, int, int],
    packed: bool,
    dtype: Any,
    kind: str,
) -> None:
    found = _run(kind, sizes, dtype, packed)
    monkeypatch.setattr(kernels, "LEAST", sys.maxsize)
    exact = _run(kind, sizes, dtype, packed)
    bound = 2e-5 if dtype is torch.float32 else 1e-12
    for a, b in zip(found, exact, strict=True):
        assert torch.allclose(a, b, rtol=bound, atol=bound)


@pytest.mark.parametrize(("steps", "asked"), [(8, True), (7, False), (0, False)])
def test_a_layer_of_eight_steps_asks_for_a_kernel_however_small_it_is(
    monkeypatch: pytest.MonkeyPatch, steps: int, asked: bool
) -> None:
    calls: list[str] = []

    def note(*args: Any) -> None:
        calls.append("lstm")

    monkeypatch.setattr(lstm_gru, "lstm", note)
    layer = nn.LSTM(3, 16)
    if steps:
        layer(torch.ones(steps, 1, 3))
    else:
        with pytest.raises(RuntimeError):
            layer(torch.ones(0, 1, 3))
    assert bool(calls) is asked
