"""The recursions of the CTC loss by a kernel, against NumPy's."""

import sys
from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite")

from rushlight._array import kernels
from rushlight._array.kernels import alignments
from rushlight._array.memory import parallel
from rushlight._array.nn import ctc
from rushlight._native.llvm import target

if not target.available():
    pytest.skip("this machine can't run emitted code", allow_module_level=True)

# times, samples, classes, lengths of the inputs, lengths of the targets
CASES: list[tuple[int, int, int, list[int], list[int]]] = [
    (20, 3, 5, [20, 20, 20], [4, 4, 4]),
    (20, 4, 5, [20, 7, 13, 7], [4, 0, 2, 6]),
    (30, 3, 4, [30, 0, 1], [10, 0, 1]),
    (12, 2, 3, [12, 3], [6, 5]),
    (9, 1, 30, [5], [2]),
    (16, 2, 3, [15, 16], [0, 0]),
    (1, 2, 3, [1, 1], [1, 0]),
    (40, 17, 6, [40 - k for k in range(17)], [k % 9 for k in range(17)]),
]


def run(log_probs: Any, inputs: list[int], lengths: list[int], zero: bool) -> list[Any]:
    rng = np.random.default_rng(1)
    classes = log_probs.shape[2]
    targets = rng.integers(1, classes, (len(inputs), max([*lengths, 1])))
    times, given = np.array(inputs), np.array(lengths)
    with np.errstate(all="ignore"):
        loss, alpha = ctc.ctc_loss(log_probs, targets, times, given, 0)
        g = rng.standard_normal(len(inputs)).astype(log_probs.dtype)
        grad = ctc.ctc_loss_backward(g, log_probs, targets, times, given, loss, alpha, 0, zero)
    return [loss, alpha, grad]


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("special", [None, -np.inf, np.nan, np.inf, -3e38])
@pytest.mark.parametrize("threads", [1, 2])
def test_losses_and_gradients_equal_numpys(
    monkeypatch: pytest.MonkeyPatch, threads: int, special: Any, dtype: str, case: Any
) -> None:
    times, samples, classes, inputs, lengths = case
    rng = np.random.default_rng(0)
    raw = rng.standard_normal((times, samples, classes)).astype(dtype)
    log_probs = raw - np.log(np.exp(raw).sum(2, keepdims=True))
    if special is not None:
        log_probs[rng.random(raw.shape) < 0.1] = special
    monkeypatch.setattr(kernels, "LEAST", sys.maxsize)
    exact = run(log_probs, inputs, lengths, True)
    monkeypatch.setattr(kernels, "LEAST", 1)
    monkeypatch.setattr(parallel, "_threads", threads)
    calls: list[int] = []
    plain = alignments.run

    def note(kinds: Any, turns: range) -> None:
        calls.append(len(kinds))
        plain(kinds, turns)

    monkeypatch.setattr(alignments, "run", note)
    found = run(log_probs, inputs, lengths, True)
    assert bool(calls) is (times > 1)
    bound = 1e-4 if dtype == "f4" else 1e-11
    for a, b in zip(found, exact, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a, b, rtol=bound, atol=bound)


def test_short_sequences_of_few_states_are_left_to_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: Any) -> Any:
        raise AssertionError("a kernel was asked")

    monkeypatch.setattr(alignments, "advance", refuse)
    run(np.full((8, 2, 3), -1.0), [8, 8], [2, 2], False)


def test_states_are_remembered_by_what_targets_hold() -> None:
    rng = np.random.default_rng(0)
    x = np.log(rng.dirichlet(np.ones(5), (6, 2)))
    targets, sizes = np.array([[1, 2], [3, 3]]), (np.array([6, 5]), np.array([2, 2]))

    def losses(blank: int = 0, lengths: Any = sizes[1], dtype: str = "f8") -> list[Any]:
        given = x.astype(dtype), targets, sizes[0], lengths
        loss, alpha = ctc.ctc_loss(*given, blank)
        g = np.ones(2, dtype)
        return [loss, ctc.ctc_loss_backward(g, *given, loss, alpha, blank, False)]

    first = losses()
    assert all(np.array_equal(a, b) for a, b in zip(first, losses(), strict=True))
    others = [losses(blank=4), losses(lengths=np.array([1, 2]))]
    assert losses(dtype="f4")[0].dtype == np.float32
    targets[0, 1] = 4  # the same array, with another label
    others.append(losses())
    for one in others:
        assert not np.array_equal(one[0], first[0]) and not np.array_equal(one[1], first[1])
    targets[0, 1] = 7
    with pytest.raises(IndexError):
        losses()
    targets[0, 1] = 2
    assert all(np.array_equal(a, b) for a, b in zip(first, losses(), strict=True))
